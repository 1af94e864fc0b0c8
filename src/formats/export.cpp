// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/mman.h>

#include <map>

#include "base/output_file.h"
#include "formats/champsim.h"
#include "formats/pt_export.h"
#include "pmusim/formats/formats.h"
#include "pmusim/trace/reader.h"

namespace pmusim::formats {
namespace {

/// One instruction of a run.
struct Executed {
  const x86::Instruction& instruction;
  std::span<const std::byte> code;
  u64 next_ip = 0;
  std::span<const u64> addresses;
  std::optional<u32> iterations;  ///< of a REP instruction
};

/// Makes the bytes of a format.
class Exporter {
 public:
  Exporter() = default;
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
  virtual ~Exporter() = default;
  virtual void add(const Executed& executed, std::string& out) = 0;
  virtual void add(const trace::Happening&, std::string&) {}
};

class ChampSimExporter final : public Exporter {
 public:
  using Exporter::add;
  void add(const Executed& executed, std::string& out) override {
    const auto addresses = executed.iterations == 0u ? std::span<const u64>() : executed.addresses;
    const ChampSimRecord record = champsim_record(executed.instruction, executed.next_ip, addresses);
    out.append(reinterpret_cast<const char*>(&record), sizeof record);
  }
};

class LackeyExporter final : public Exporter {
 public:
  using Exporter::add;
  void add(const Executed& executed, std::string& out) override {
    const x86::Instruction& i = executed.instruction;
    fmt::format_to(std::back_inserter(out), "I  {:08x},{}\n", i.ip, i.length);
    if (executed.iterations == 0u) return;
    for (std::size_t n = 0; n < executed.addresses.size(); ++n) {
      const x86::MemoryOperand& operand = i.memory[n];
      const char kind = operand.load && operand.store ? 'M' : operand.load ? 'L' : 'S';
      fmt::format_to(std::back_inserter(out), " {} {:08x},{}\n", kind, executed.addresses[n], operand.bytes);
    }
  }
};

/// As perf prints, with the ordinal in place of the nanosecond.
class InsnTraceExporter final : public Exporter {
 public:
  void add(const Executed& executed, std::string& out) override {
    line_begin(out, current_.pid, current_.tid);
    fmt::format_to(std::back_inserter(out), "{:16x} [unknown] ({}) insn: ", executed.instruction.ip,
                   module_at(executed.instruction.ip));
    for (const std::byte byte : executed.code)
      fmt::format_to(std::back_inserter(out), "{:02x} ", static_cast<unsigned>(byte));
    out.back() = '\n';
    ++ordinal_;
  }
  void add(const trace::Happening& happening, std::string& out) override {
    if (const auto* start = std::get_if<trace::ProcessStart>(&happening)) {
      commands_[start->pid] = start->command;
      modules_[start->pid].clear();
    }
    if (const auto* start = std::get_if<trace::ThreadStart>(&happening);
        start != nullptr && start->pid != start->parent_pid) {
      commands_[start->pid] = commands_[start->parent_pid];
      modules_[start->pid] = modules_[start->parent_pid];
    }
    if (const auto* change = std::get_if<trace::ThreadSwitch>(&happening)) current_ = *change;
    const auto* const map = std::get_if<trace::Map>(&happening);
    if (map == nullptr || (map->mapping.protection & PROT_EXEC) == 0) return;
    const trace::Mapping& m = map->mapping;
    modules_[map->pid][m.start] = m;
    line_begin(out, map->pid, map->pid);
    fmt::format_to(std::back_inserter(out),
                   "PERF_RECORD_MMAP2 {}/{}: [{:#x}({:#x}) @ {:#x} 00:00 0 0]: {}{}xp {}\n", map->pid,
                   map->pid, m.start, m.bytes, m.file_offset, (m.protection & PROT_READ) != 0 ? 'r' : '-',
                   (m.protection & PROT_WRITE) != 0 ? 'w' : '-', m.path);
  }

 private:
  void line_begin(std::string& out, u32 pid, u32 tid) {
    constexpr u64 ns_per_s = 1'000'000'000;
    fmt::format_to(std::back_inserter(out), "{:>16} {}/{} [000] {}.{:09}: ", commands_[pid], pid, tid,
                   ordinal_ / ns_per_s, ordinal_ % ns_per_s);
  }
  std::string_view module_at(u64 ip) {
    const auto& modules = modules_[current_.pid];
    const auto behind = modules.upper_bound(ip);
    if (behind == modules.begin()) return "[unknown]";
    const trace::Mapping& m = std::prev(behind)->second;
    return ip - m.start < m.bytes ? std::string_view(m.path) : "[unknown]";
  }

  std::map<u32, std::string> commands_;
  std::map<u32, std::map<u64, trace::Mapping>> modules_;  // of code, by process and start
  trace::ThreadSwitch current_;
  u64 ordinal_ = 0;
};

std::unique_ptr<Exporter> exporter_for(Format format) {
  if (format == Format::lackey) return std::make_unique<LackeyExporter>();
  if (format == Format::insn_trace) return std::make_unique<InsnTraceExporter>();
  return std::make_unique<ChampSimExporter>();
}

void add_run(const trace::BlockRun& run, Exporter& exporter, std::string& out) {
  const auto& instructions = run.block->instructions;
  std::span<const u64> addresses = run.addresses;
  auto iterations = run.rep_counts.begin();
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    const x86::Instruction& i = instructions[n];
    Executed executed{.instruction = i, .code = run.block->code_of(i)};
    executed.next_ip = n + 1 < instructions.size() ? instructions[n + 1].ip : run.next_ip;
    executed.addresses = addresses.first(std::min<std::size_t>(i.memory_operands, addresses.size()));
    addresses = addresses.subspan(executed.addresses.size());
    if (i.rep) executed.iterations = *iterations++;
    exporter.add(executed, out);
  }
}

Result<Done, Error> write(OutputFile& file, std::string& text) {
  auto written = file.write(std::as_bytes(std::span(text)));
  text.clear();
  return written;
}

std::vector<std::string> export_remarks(Format format, const trace::Contents& contents) {
  std::vector<std::string> remarks;
  if (format != Format::insn_trace)
    remarks.emplace_back(
        "the file has no threads, processes, modules, signals and system calls, and of string instructions "
        "the first iteration");
  else
    remarks.emplace_back("the file has no addresses of accesses; its times are ordinals of instructions");
  if (format == Format::champsim || format == Format::champsim_old) {
    remarks.emplace_back("far branches and system calls are no branches to ChampSim");
    if (!contents.addresses) remarks.emplace_back("no access has an address: the trace has none");
  }
  if (contents.stand_in_code) remarks.emplace_back("the code bytes are not the program's: they stand for it");
  return remarks;
}

}  // namespace

Result<Conversion, Error> export_trace(const ExportOptions& options) {
  if (options.format == Format::pt) return export_pt(options);
  auto reader = trace::Reader::open(options.input);
  if (!reader.ok()) return Failure(reader.error());
  if (options.format == Format::lackey && !reader->contents().addresses)
    return Failure(
        Error(fmt::format("{}: has no addresses of accesses, which lackey's text is about", options.input)));
  auto file = OutputFile::create(options.output);
  if (!file.ok()) return Failure(file.error());
  const std::unique_ptr<Exporter> exporter = exporter_for(options.format);
  constexpr std::size_t piece_bytes = 1 << 18;
  std::string text;
  for (;;) {
    const auto item = reader->next();
    if (!item.ok()) return Failure(item.error());
    if (!item->has_value()) break;
    if (const auto* run = std::get_if<trace::BlockRun>(&**item)) {
      add_run(*run, *exporter, text);
    } else {
      exporter->add(std::get<trace::Happening>(**item), text);
    }
    if (text.size() < piece_bytes) continue;
    if (const auto written = write(*file, text); !written.ok()) return Failure(written.error());
  }
  if (const auto written = write(*file, text); !written.ok()) return Failure(written.error());
  const u64 bytes = file->position();
  if (const auto done = file->commit(); !done.ok()) return Failure(done.error());
  return Conversion{reader->instruction_count(), bytes, export_remarks(options.format, reader->contents())};
}

}  // namespace pmusim::formats
