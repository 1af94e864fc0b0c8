// SPDX-License-Identifier: MIT
#include "msr/register_file.h"

#include <algorithm>
#include <cassert>

namespace pmusim {

std::string Register::name() const {
  std::string name(row);
  if (const std::size_t at = name.find("{}"); at != std::string::npos)
    name.replace(at, 2, std::to_string(number));
  return name;
}

void RegisterList::set(std::vector<Register> registers) {
  registers_ = std::move(registers);
  assert(registers_.size() < absent);
  assert(std::adjacent_find(registers_.begin(), registers_.end(), [](const Register& a, const Register& b) {
           return a.address >= b.address;
         }) == registers_.end());
  places_.fill(absent);
  for (std::size_t at = 0; at < registers_.size(); ++at)
    if (registers_[at].address < dense_addresses) places_[registers_[at].address] = static_cast<u16>(at);
}

unsigned RegisterList::place_high(u32 address) const {
  const auto at = std::lower_bound(registers_.begin(), registers_.end(), address,
                                   [](const Register& r, u32 wanted) { return r.address < wanted; });
  const bool found = at != registers_.end() && at->address == address;
  return found ? static_cast<unsigned>(at - registers_.begin()) : absent;
}

}  // namespace pmusim
