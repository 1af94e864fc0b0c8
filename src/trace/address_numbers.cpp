// SPDX-License-Identifier: MIT
#include "trace/address_numbers.h"

#include <bit>
#include <utility>

namespace pmusim::trace {

AddressNumbers::Number AddressNumbers::number(u64 address) {
  const u64 line = address / line_bytes;
  if (latest_.line == nullptr || latest_.number != line) latest_ = {line, &line_of(line)};
  u32& number_plus_1 = (*latest_.line)[address % line_bytes];
  const bool is_new = number_plus_1 == 0;
  if (is_new) number_plus_1 = static_cast<u32>(++size_);
  return {number_plus_1 - 1, is_new};
}

AddressNumbers::Line& AddressNumbers::line_of(u64 number) {
  if (2 * (lines_.size() + 1) > slots_.size()) grow();
  Line*& place = place_of(number);
  if (place == nullptr) place = &lines_.emplace_back();
  return *place;
}

AddressNumbers::Line*& AddressNumbers::place_of(u64 number) {
  constexpr u64 spread = 0x9E37'79B9'7F4A'7C15;  // 2^64 over the golden ratio
  const std::size_t last = slots_.size() - 1;
  const auto first = static_cast<std::size_t>(number * spread >> std::countl_zero(u64{last}));
  for (std::size_t n = 0; n < most_probes; ++n) {
    Slot& slot = slots_[(first + n) & last];
    if (slot.line == nullptr) slot.number = number;
    if (slot.number == number) return slot.line;
  }
  return others_[number];
}

void AddressNumbers::grow() {
  constexpr std::size_t at_first = 1024;
  const auto before = std::exchange(slots_, {});
  const auto others = std::exchange(others_, {});
  slots_.resize(before.empty() ? at_first : 2 * before.size());
  for (const Slot& slot : before)
    if (slot.line != nullptr) place_of(slot.number) = slot.line;
  for (const auto& [number, line] : others) place_of(number) = line;
}

}  // namespace pmusim::trace
