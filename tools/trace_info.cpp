// SPDX-License-Identifier: MIT
#include "trace_info.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_set>

#include "base/printable.h"
#include "truncation.h"

namespace pmusim::tools {
namespace {

/// Adds up what the items of a trace say: of blocks how often they ran, and in the end what that means.
class Counter {
 public:
  explicit Counter(TraceInfo& info) : info_(info) {}

  void operator()(const trace::BlockRun& run) {
    const u32 id = run.block->id;
    if (id >= blocks_.size()) blocks_.resize(id + 1);
    BlockCount& block = blocks_[id];
    block.block = run.block;
    ++block.runs;
    info_.cycles += run.cycles.value_or(0);
    block.left += run.next_ip != run.block->end() ? 1 : 0;
    if (thread_) info_.threads_that_ran[*thread_].instructions += run.block->instructions.size();
  }

  void finish() {
    for (const BlockCount& block : blocks_)
      if (block.runs != 0) add(block);
    info_.code_lines = lines_.size();
    info_.code_pages = pages_.size();
  }

  void operator()(const trace::SideBandRecord& record) { std::visit(*this, record); }
  void operator()(const trace::ProcessStart& start) { add_thread(start.pid, start.tid); }
  void operator()(const trace::ThreadStart& start) { add_thread(start.pid, start.tid); }
  void operator()(const trace::ThreadSwitch& to) {
    const auto [entry, is_new] = numbers_.try_emplace(to.tid, info_.threads_that_ran.size());
    if (is_new) info_.threads_that_ran.push_back({to.pid, to.tid, 0});
    thread_ = entry->second;
  }
  void operator()(const trace::Syscall&) { ++info_.system_calls; }
  void operator()(const trace::SignalDelivery&) { ++info_.signals; }
  void operator()(const trace::Interrupt&) { ++info_.interrupts; }
  void operator()(const trace::Map& map) {
    if ((map.mapping.protection & PROT_EXEC) == 0) return;
    if (std::ranges::find(info_.modules, map.mapping) == info_.modules.end())
      info_.modules.push_back(map.mapping);
  }
  void operator()(const auto&) {}

 private:
  struct BlockCount {
    const trace::Block* block = nullptr;
    u64 runs = 0, left = 0;  // for another place than the code behind it
  };

  void add(const BlockCount& counted) {
    for (const auto& i : counted.block->instructions) {
      info_.loads += i.signals.has(Signal::load) ? counted.runs : 0;
      info_.stores += i.signals.has(Signal::store) ? counted.runs : 0;
      info_.mix[static_cast<std::size_t>(i.execution)] += counted.runs;
      add_code(i);
    }
    const u64 instructions = counted.runs * counted.block->instructions.size();
    info_.instructions += instructions;
    if (counted.block->ring == Cpl::kernel) info_.kernel_instructions += instructions;
    const auto kind = static_cast<std::size_t>(counted.block->instructions.back().branch);
    if (kind == 0) return;
    info_.branches[kind] += counted.runs;
    info_.taken[kind] +=
        kind == static_cast<std::size_t>(BranchKind::conditional) ? counted.left : counted.runs;
  }
  void add_code(const x86::Instruction& i) {
    constexpr u64 line_bytes = 64, page_bytes = 4096;
    if (!seen_.insert(i.ip).second) return;
    ++info_.static_instructions;
    info_.code_bytes += i.length;
    for (const u64 byte : {i.ip, i.end() - 1}) {
      lines_.insert(byte / line_bytes);
      pages_.insert(byte / page_bytes);
    }
  }
  void add_thread(u32 pid, u32 tid) {
    info_.processes.insert(pid);
    info_.threads.insert(tid);
  }
  TraceInfo& info_;
  std::vector<BlockCount> blocks_;      // by id
  std::map<u32, std::size_t> numbers_;  // of threads, by tid
  std::optional<std::size_t> thread_;
  std::unordered_set<u64> seen_, lines_, pages_;
};

std::string hex_id(std::span<const u8> bytes) { return fmt::format("{:02x}", fmt::join(bytes, "")); }

}  // namespace

double per_instruction(u64 amount, const TraceInfo& info) {
  return info.instructions == 0 ? 0.0 : static_cast<double>(amount) / static_cast<double>(info.instructions);
}

std::string contents_name(const trace::Contents& contents) {
  std::string name = "control flow";
  if (contents.addresses || contents.registers || contents.extended) name += ", addresses";
  if (contents.extended)
    name += ", general and extended registers";
  else if (contents.registers)
    name += ", general registers";
  return contents.kernel ? name + ", ring 0" : name;
}

u64 TraceInfo::all_branches() const { return std::accumulate(branches.begin(), branches.end(), u64{0}); }
u64 TraceInfo::all_taken() const { return std::accumulate(taken.begin(), taken.end(), u64{0}); }

Result<TraceInfo, Error> read_trace_info(const std::string& path) {
  auto reader = trace::Reader::open(path);
  if (!reader.ok()) return Failure(reader.error());
  TraceInfo info;
  info.contents = reader->contents();
  info.truncation = reader->truncation();
  warn_if_truncated(*reader);
  info.file_bytes = reader->file_bytes();
  info.streams = reader->streams();
  Counter counter(info);
  for (;;) {
    const auto item = reader->next();
    if (!item.ok()) return Failure(item.error());
    if (!item->has_value()) break;
    std::visit(counter, **item);
  }
  counter.finish();
  return info;
}

std::string format_text(const TraceInfo& info) {
  std::string text;
  const auto line = [&](std::string_view name, u64 amount) {
    text += fmt::format("{:<24}{:>16}\n", name, fmt::group_digits(amount));
  };
  text += fmt::format("{:<24}{}\n", "holds", contents_name(info.contents));
  if (info.truncation) text += fmt::format("{:<24}{}\n", "truncated", "yes: recording was cut short");
  if (info.contents.timing)
    text += fmt::format("{:<24}{:>16} cycles, as recorded\n", "time", fmt::group_digits(info.cycles));
  if (info.contents.stand_in_code) text += fmt::format("{:<24}{}\n", "code", "stands for the program's own");
  line("instructions", info.instructions);
  line("  that load", info.loads);
  line("  that store", info.stores);
  line("branches", info.all_branches());
  line("  taken", info.all_taken());
  for (std::size_t kind = 1; kind < branch_kinds; ++kind) {
    if (info.branches[kind] != 0) {
      line(fmt::format("  {}", name_of(static_cast<BranchKind>(kind))), info.branches[kind]);
    }
  }
  line("  conditional taken", info.taken[static_cast<std::size_t>(BranchKind::conditional)]);
  line("distinct instructions", info.static_instructions);
  line("code bytes", info.code_bytes);
  line("code lines (64 B)", info.code_lines);
  line("code pages (4 KiB)", info.code_pages);
  line("processes", info.processes.size());
  line("threads", info.threads.size());
  line("system calls", info.system_calls);
  line("signals", info.signals);
  if (info.contents.kernel) line("instructions at ring 0", info.kernel_instructions);
  if (info.contents.kernel) line("interrupts", info.interrupts);
  line("file bytes", info.file_bytes);
  text += fmt::format("{:<24}{:>16.4f}\n", "  per instruction", per_instruction(info.file_bytes, info));

  text += "\ninstruction mix\n";
  for (std::size_t n = 0; n < execution_classes; ++n)
    if (info.mix[n] != 0)
      text += fmt::format("  {:<22}{:>16}{:>8.2f} %\n", execution_class_names[n],
                          fmt::group_digits(info.mix[n]), 100 * per_instruction(info.mix[n], info));

  text += "\nthreads that ran (process, thread, instructions)\n";
  for (const ThreadInfo& t : info.threads_that_ran)
    text += fmt::format("{:>10}{:>11}{:>19}\n", t.pid, t.tid, fmt::group_digits(t.instructions));

  text += "\nstream                       raw bytes    stored bytes  stored per instruction\n";
  for (const auto& s : info.streams) {
    text += fmt::format("{:<20}{:>18}{:>16}{:>24.4f}\n", s.name, fmt::group_digits(s.raw_bytes),
                        fmt::group_digits(s.stored_bytes), per_instruction(s.stored_bytes, info));
  }
  text += "\nexecutable mappings (start, bytes, file offset, path, build id)\n";
  for (const auto& m : info.modules) {
    text += fmt::format("{:#14x} {:#10x} {:#10x} {} {}\n", m.start, m.bytes, m.file_offset, printable(m.path),
                        hex_id(m.build_id));
  }
  return text;
}

std::string format_json(const TraceInfo& info) {
  nlohmann::ordered_json json;
  json["addresses"] = info.contents.addresses;
  json["registers"] = info.contents.registers;
  json["stand_in_code"] = info.contents.stand_in_code;
  json["timing"] = info.contents.timing;
  if (info.contents.timing) json["cycles"] = info.cycles;
  json["truncated"] = info.truncation.has_value();
  json["instructions"] = info.instructions;
  json["loads"] = info.loads;
  json["stores"] = info.stores;
  json["branches"] = info.all_branches();
  json["taken_branches"] = info.all_taken();
  for (std::size_t kind = 1; kind < branch_kinds; ++kind) {
    const std::string name(name_of(static_cast<BranchKind>(kind)));
    json["branch_kinds"][name] = {{"executed", info.branches[kind]}, {"taken", info.taken[kind]}};
  }
  json["distinct_instructions"] = info.static_instructions;
  json["code_bytes"] = info.code_bytes;
  json["code_lines"] = info.code_lines;
  json["code_pages"] = info.code_pages;
  for (std::size_t n = 0; n < execution_classes; ++n)
    json["mix"][std::string(execution_class_names[n])] = info.mix[n];
  json["processes"] = info.processes.size();
  json["threads"] = info.threads.size();
  json["system_calls"] = info.system_calls;
  json["signals"] = info.signals;
  if (info.contents.kernel) json["kernel_instructions"] = info.kernel_instructions;
  if (info.contents.kernel) json["interrupts"] = info.interrupts;
  json["file_bytes"] = info.file_bytes;
  json["bytes_per_instruction"] = per_instruction(info.file_bytes, info);
  for (const auto& s : info.streams) {
    json["streams"][std::string(s.name)] = {{"raw_bytes", s.raw_bytes}, {"stored_bytes", s.stored_bytes}};
  }
  json["threads_that_ran"] = nlohmann::ordered_json::array();
  for (const ThreadInfo& t : info.threads_that_ran)
    json["threads_that_ran"].push_back({{"pid", t.pid}, {"tid", t.tid}, {"instructions", t.instructions}});
  json["modules"] = nlohmann::ordered_json::array();
  for (const auto& m : info.modules) {
    json["modules"].push_back({{"start", m.start},
                               {"bytes", m.bytes},
                               {"file_offset", m.file_offset},
                               {"path", m.path},
                               {"build_id", hex_id(m.build_id)}});
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace pmusim::tools
