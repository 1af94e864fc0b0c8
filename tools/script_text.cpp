// SPDX-License-Identifier: MIT
#include "script_text.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/printable.h"
#include "pmusim/perfdata/reader.h"

/// The layout of each field is that of perf script 6.1, so that what reads one reads the other.
namespace pmusim::tools {

namespace {

using perf::RegisterSide;
using perfdata::SampleRecord;

class Text {
 public:
  Text(fmt::memory_buffer& out, const ScriptLine& line, std::size_t data_source_width)
      : out_(std::back_inserter(out)),
        line_(line),
        sample_(line.of.sample),
        data_source_width_(data_source_width) {}
  std::size_t data_source_width() const { return data_source_width_; }

  void write() {
    write_who();
    write_what();
    if (shows(Field::ip)) write_place();
    write_registers();
    write_branches();
    write_pages();
    put("\n");
  }

 private:
  template <class... Arguments>
  void put(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    fmt::format_to(out_, text, std::forward<Arguments>(arguments)...);
  }
  bool shows(Field field) const { return line_.fields.has(field); }

  void write_who();
  void write_what();
  void write_place();
  std::string shown_file(const ChainEntry& place) const;
  void write_file(const ChainEntry& place);
  void write_branch_end(u64 address);
  u64 place_in_file(const ChainEntry& place) const;
  void write_registers();
  void write_general(const perfdata::RegisterBlock& block, RegisterSide side);
  void write_simd(const perfdata::RegisterBlock& block, RegisterSide side);
  void write_branches();
  void write_pages();

  std::back_insert_iterator<fmt::memory_buffer> out_;
  const ScriptLine& line_;
  const SampleRecord& sample_;
  std::size_t data_source_width_;
};

void Text::write_who() {
  const bool has_chain = (line_.of.event.attr.sample_type & perf::sample::CALLCHAIN) != 0;
  const auto pid = static_cast<i32>(sample_.who.pid), tid = static_cast<i32>(sample_.who.tid);
  if (shows(Field::comm)) {
    const std::string command = printable(line_.processes.command_of(sample_.who.tid));
    put("{:>{}} ", command, shows(Field::ip) && has_chain ? 0 : 16);
  }
  if (shows(Field::pid) && shows(Field::tid))
    put("{:5}/{:<5} ", pid, tid);
  else if (shows(Field::pid) || shows(Field::tid))
    put("{:5} ", shows(Field::pid) ? pid : tid);
  if (shows(Field::cpu)) put("[{:03}] ", sample_.who.cpu);
  if (shows(Field::time)) {
    constexpr u64 ns_per_second = 1'000'000'000;
    const u64 time = sample_.who.time;
    put("{:>12}: ", fmt::format("{}.{:06}", time / ns_per_second, time % ns_per_second / 1000));
  }
}

void Text::write_what() {
  if (shows(Field::period)) put("{:10} ", sample_.period);
  if (shows(Field::event)) put("{:>{}}: ", printable(line_.of.event.name), line_.name_width);
  if (shows(Field::id)) put("{:16} ", sample_.who.id);
  if (shows(Field::addr)) put("{:16x}", sample_.address);
  if (shows(Field::data_src)) {
    const std::string source =
        fmt::format("{:16x} {}", sample_.data_source, data_source_text(sample_.data_source));
    data_source_width_ = std::max(data_source_width_, source.size());
    put("{:<{}}", source, data_source_width_);
  }
  const Weights weights = weights_of(line_.of);
  if (shows(Field::weight)) put("{:16}", weights.weight);
  if (shows(Field::ins_lat)) put("{:16}", weights.instruction_latency);
  if (shows(Field::retire_lat)) put("{:16}", weights.retire_latency);
  if (shows(Field::transaction)) put("{:16x}", sample_.transaction);
}

std::string Text::shown_file(const ChainEntry& place) const {
  const std::string file = file_of(line_, place);
  return file.empty() ? "[unknown]" : printable(file);
}

void Text::write_file(const ChainEntry& place) {
  if (shows(Field::dso)) put(" ({})", shown_file(place));
}

/// Call chains show where in its file the code is.
u64 Text::place_in_file(const ChainEntry& place) const {
  const auto* const mapping = mapping_at(line_, place);
  return mapping != nullptr ? place.address - mapping->start + mapping->page_offset : place.address;
}

void Text::write_place() {
  const std::vector<ChainEntry> chain = call_chain(line_.of);
  if (chain.empty()) {
    put(" {:16x}", sample_.ip);
    write_file({sample_.ip, perf::cpu_mode(sample_.misc)});
    return;
  }
  put("\n");
  for (const ChainEntry& place : chain) {
    put("\t{:16x}", place_in_file(place));
    write_file(place);
    put("\n");
  }
}

void Text::write_general(const perfdata::RegisterBlock& block, RegisterSide side) {
  if (block.abi == 0) return;
  put(" ABI:{} ", block.abi);
  for (const auto& r : perfdata::general_registers(block, line_.of.event.attr, side))
    put("{:>5}:0x{:x} ", r.name, r.words.front());
}

/// As the general ones; vector registers with all their digits.
void Text::write_simd(const perfdata::RegisterBlock& block, RegisterSide side) {
  for (const auto& r : perfdata::simd_registers(block, line_.of.event.attr, side)) {
    put(" {:>5}:0x", r.name);
    if (r.words.size() == 1)
      put("{:x}", r.words.front());
    else
      for (auto word = r.words.rbegin(); word != r.words.rend(); ++word) put("{:016x}", *word);
  }
}

void Text::write_registers() {
  if (shows(Field::iregs)) write_general(sample_.interrupt_registers, RegisterSide::interrupt);
  if (shows(Field::isimd)) write_simd(sample_.interrupt_registers, RegisterSide::interrupt);
  if (shows(Field::uregs)) write_general(sample_.user_registers, RegisterSide::user);
  if (shows(Field::usimd)) write_simd(sample_.user_registers, RegisterSide::user);
}

/// PERF_BR_* by number; unknown ones have no name.
constexpr std::array<std::string_view, 15> branch_types = {
    "",       "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",  "SYSCALL",
    "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX"};
/// PERF_BR_NEW_*: what an entry has whose type is 15, PERF_BR_EXTEND_ABI.
constexpr std::array<std::string_view, 8> new_branch_types = {
    "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5"};

std::string_view branch_type_name(const perf::BranchEntry& entry) {
  if (entry.type < branch_types.size()) return branch_types[entry.type];
  return entry.new_type < new_branch_types.size() ? new_branch_types[entry.new_type] : "UNKNOWN";
}

/// PERF_BR_SPEC_*, in the words of perf 6.2 and later: AMD's branch records have them.
constexpr std::array<std::string_view, 4> speculation = {"N/A", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH",
                                                         "SPEC_CORRECT_PATH"};

char prediction(const perf::BranchEntry& entry) {
  if (entry.mispred == 0 && entry.predicted == 0) return '-';
  return entry.mispred != 0 ? 'M' : 'P';
}

std::string_view page_size_name(u64 bytes, fmt::memory_buffer& storage) {
  if (bytes == 0) return "N/A";
  constexpr std::string_view units = "BKMGT";
  std::size_t unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < units.size()) bytes /= 1024, ++unit;
  fmt::format_to(std::back_inserter(storage), "{}{}", bytes, units[unit]);
  return {storage.data(), storage.size()};
}

void Text::write_branch_end(u64 address) {
  put("0x{:x}", address);
  if (shows(Field::dso)) put("({})", shown_file({address}));
}

void Text::write_branches() {
  if (shows(Field::brstack))
    for (const perf::BranchEntry& e : sample_.branches) {
      put(" ");
      write_branch_end(e.from);
      put("/");
      write_branch_end(e.to);
      put("/{}/{}/{}/{}/{} ", prediction(e), e.in_tx ? 'X' : '-', e.abort ? 'A' : '-',
          static_cast<u64>(e.cycles), branch_type_name(e));
    }
  if (shows(Field::brspec))
    for (const perf::BranchEntry& e : sample_.branches) put(" {}", speculation[e.spec]);
  if (shows(Field::brcntr))
    for (const u64 counters : sample_.branch_counters) put(" 0x{:x}", counters);
}

void Text::write_pages() {
  if (shows(Field::phys_addr)) put("{:16x}", sample_.physical_address);
  const auto put_size = [&](u64 bytes) {
    fmt::memory_buffer storage;
    put(" {}", page_size_name(bytes, storage));
  };
  if (shows(Field::data_page_size)) put_size(sample_.data_page_size);
  if (shows(Field::code_page_size)) put_size(sample_.code_page_size);
}

}  // namespace

void ScriptText::append(fmt::memory_buffer& out, const ScriptLine& line) {
  Text text(out, line, data_source_width_);
  text.write();
  data_source_width_ = text.data_source_width();
}

std::vector<ChainEntry> call_chain(const perfdata::EventSample& of) {
  std::vector<ChainEntry> chain;
  if ((of.event.attr.sample_type & perf::sample::CALLCHAIN) == 0) return chain;
  const bool by_lbr = (of.event.attr.branch_sample_type & perf::branch::CALL_STACK) != 0;
  if (by_lbr && !of.sample.branches.empty()) {
    chain.push_back({of.sample.branches.front().to});
    for (const perf::BranchEntry& entry : of.sample.branches) chain.push_back({entry.from});
    return chain;
  }
  perf::CpuMode mode = perf::cpu_mode(of.sample.misc);
  for (const u64 address : of.sample.callchain) {
    if (address < perf::first_context_mark)
      chain.push_back({address, mode});
    else
      mode = perf::marked_mode(address).value_or(mode);
  }
  return chain;
}

const perfdata::Processes::Mapping* mapping_at(const ScriptLine& line, const ChainEntry& place) {
  constexpr u32 kernels_pid = ~u32{0};
  using perf::CpuMode;
  const bool is_of_process = place.mode == CpuMode::user || place.mode == CpuMode::unknown;
  const bool is_of_kernel = place.mode == CpuMode::kernel || place.mode == CpuMode::unknown;
  const perfdata::Processes::Mapping* found = nullptr;
  if (is_of_process) found = line.processes.mapping_at(line.of.sample.who.pid, place.address);
  if (found == nullptr && is_of_kernel) found = line.processes.mapping_at(kernels_pid, place.address);
  return found;
}

std::string file_of(const ScriptLine& line, const ChainEntry& place) {
  if (const auto* const mapping = mapping_at(line, place)) {
    // "[kernel.kallsyms]_text" says besides which symbol the kernel's text begins with.
    const std::size_t bracket =
        mapping->name.starts_with("[kernel") ? mapping->name.find(']') : std::string::npos;
    return mapping->name.substr(0, bracket == std::string::npos ? bracket : bracket + 1);
  }
  switch (place.mode) {
    case perf::CpuMode::kernel:
      return "[kernel]";
    case perf::CpuMode::hypervisor:
      return "[hypervisor]";
    case perf::CpuMode::guest_kernel:
      return "[guest kernel]";
    case perf::CpuMode::guest_user:
      return "[guest user]";
    default:
      return {};
  }
}

Weights weights_of(const perfdata::EventSample& of) {
  const u64 word = of.sample.weight;
  if ((of.event.attr.sample_type & perf::sample::WEIGHT_STRUCT) == 0) return {.weight = word};
  return {.weight = field(word, 31, 0),
          .instruction_latency = field(word, 47, 32),
          .retire_latency = field(word, 63, 48)};
}

}  // namespace pmusim::tools
