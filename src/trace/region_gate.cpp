// SPDX-License-Identifier: MIT
#include "trace/region_gate.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>

namespace pmusim::trace {
namespace {

constexpr u32 start_mark = 0x111, stop_mark = 0x222;
constexpr std::array mark_nop{std::byte{0x64}, std::byte{0x67}, std::byte{0x90}};
constexpr std::byte mov_to_ebx{0xBB};

/// Whether a mark with this number is in the code.
bool has_mark(std::span<const std::byte> code, u32 number) {
  std::array<std::byte, 1 + sizeof(u32) + mark_nop.size()> mark{mov_to_ebx};
  for (std::size_t n = 0; n < sizeof number; ++n) mark[1 + n] = static_cast<std::byte>(number >> 8 * n);
  std::ranges::copy(mark_nop, mark.end() - mark_nop.size());
  return std::search(code.begin(), code.end(), mark.begin(), mark.end()) != code.end();
}

bool holds(const std::vector<u64>& addresses, u64 address) {
  return std::ranges::find(addresses, address) != addresses.end();
}

void look_for(const std::string& function, const Mapping& mapping, std::vector<u64>& found) {
  if (function.empty()) return;
  const auto offset = file_offset_of_function(mapping.path, function);
  if (!offset) return;
  const u64 within = *offset - mapping.file_offset;  // much, where it stands before the mapping
  if (within >= mapping.bytes) return;
  const u64 address = mapping.start + within;
  if (!holds(found, address)) found.push_back(address);
}

}  // namespace

void RegionGate::mapped(const Mapping& mapping) {
  if ((mapping.protection & PROT_EXEC) == 0 || !mapping.path.starts_with('/')) return;
  if (state_ == State::before) look_for(region_.start_symbol, mapping, starts_);
  if (state_ != State::after) look_for(region_.stop_symbol, mapping, stops_);
}

void RegionGate::begin() { state_ = region_.skip == 0 ? State::inside : State::skipping; }

void RegionGate::reach(u64 address) {
  if (state_ == State::before && holds(starts_, address)) {
    begin();
  } else if (state_ == State::inside && holds(stops_, address)) {
    state_ = State::after;
  }
}

void RegionGate::obey_marks(std::span<const std::byte> code) {
  if (state_ == State::before && has_mark(code, start_mark)) begin();
  if (state_ == State::inside && has_mark(code, stop_mark)) state_ = State::after;
}

void RegionGate::executed(std::span<const std::byte> code, u64 instructions, u64 file_bytes) {
  const State during = state_;
  if (region_.marks) obey_marks(code);
  if (state_ != during) return;  // the block with the mark does not count
  if (state_ == State::skipping || state_ == State::inside) executed_ += instructions;
  if (state_ == State::skipping && executed_ >= region_.skip) {
    state_ = State::inside;
    executed_ = 0;
  } else if (state_ == State::inside && ((region_.count != 0 && executed_ >= region_.count) ||
                                         (region_.max_bytes != 0 && file_bytes >= region_.max_bytes))) {
    state_ = State::after;
  }
}

bool RegionGate::admits(const SideBandRecord& record) const {
  if (state_ == State::inside) return true;
  return state_ != State::after && !std::holds_alternative<Syscall>(record) && !flushes(record) &&
         !std::holds_alternative<ThreadSwitch>(record);
}

std::string RegionGate::why_not_begun() const {
  if (is_open()) return "";
  if (is_over()) return "the region ended where it began";
  if (state_ == State::skipping)
    return fmt::format("the program executed {} instructions, all of which --skip {} leaves out", executed_,
                       region_.skip);
  if (region_.start_symbol.empty()) return "the program reached no start mark";
  if (starts_.empty())
    return fmt::format("neither the program nor a library that it mapped has a function '{}'",
                       region_.start_symbol);
  return fmt::format("the program never reached '{}'", region_.start_symbol);
}

}  // namespace pmusim::trace
