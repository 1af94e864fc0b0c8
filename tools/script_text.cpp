// SPDX-License-Identifier: MIT
#include "script_text.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "pmusim/perfdata/samples.h"

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
  std::string_view file_of(u64 address) const;
  void write_file(u64 address);
  void write_branch_end(u64 address);
  u64 place_in_file(u64 address) const;
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
    const std::string command = line_.processes.command_of(sample_.who.tid);
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
  if (shows(Field::event)) put("{:>{}}: ", line_.of.event.name, line_.name_width);
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

std::string_view Text::file_of(u64 address) const {
  const auto* const mapping = line_.processes.mapping_at(sample_.who.pid, address);
  return mapping != nullptr ? std::string_view(mapping->name) : "[unknown]";
}

void Text::write_file(u64 address) {
  if (shows(Field::dso)) put(" ({})", file_of(address));
}

/// Call chains show where in its file the code is.
u64 Text::place_in_file(u64 address) const {
  const auto* const mapping = line_.processes.mapping_at(sample_.who.pid, address);
  return mapping != nullptr ? address - mapping->start + mapping->page_offset : address;
}

void Text::write_place() {
  const std::vector<u64> chain = call_chain(line_.of);
  if (chain.empty()) {
    put(" {:16x}", sample_.ip);
    write_file(sample_.ip);
    return;
  }
  put("\n");
  for (const u64 address : chain) {
    put("\t{:16x}", place_in_file(address));
    write_file(address);
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

constexpr std::array<std::string_view, 15> branch_types = {
    "-",      "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",  "SYSCALL",
    "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX"};

std::string_view branch_type_name(const perf::BranchEntry& entry) {
  return entry.type < branch_types.size() ? branch_types[entry.type] : "UNKNOWN";
}

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
  if (shows(Field::dso)) put("({})", file_of(address));
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

std::vector<u64> call_chain(const perfdata::EventSample& of) {
  constexpr u64 first_marker = ~u64{4095};  // PERF_CONTEXT_*
  std::vector<u64> chain;
  if ((of.event.attr.sample_type & perf::sample::CALLCHAIN) == 0) return chain;
  const bool by_lbr = (of.event.attr.branch_sample_type & perf::branch::CALL_STACK) != 0;
  if (by_lbr && !of.sample.branches.empty()) {
    chain.push_back(of.sample.branches.front().to);
    for (const perf::BranchEntry& entry : of.sample.branches) chain.push_back(entry.from);
    return chain;
  }
  for (const u64 address : of.sample.callchain)
    if (address < first_marker) chain.push_back(address);
  return chain;
}

Weights weights_of(const perfdata::EventSample& of) {
  const u64 word = of.sample.weight;
  if ((of.event.attr.sample_type & perf::sample::WEIGHT_STRUCT) == 0) return {.weight = word};
  return {.weight = field(word, 31, 0),
          .instruction_latency = field(word, 47, 32),
          .retire_latency = field(word, 63, 48)};
}

}  // namespace pmusim::tools
