// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cassert>

#include "pmusim/driver/drivers.h"

namespace pmusim::driver {

bool SharedRegisters::acquire(u32 address, u64 value) {
  const auto claim = std::ranges::find(claims_, address, &Claim::address);
  if (claim == claims_.end()) {
    claims_.push_back({address, value, 1});
    return true;
  }
  if (claim->value != value) return false;
  ++claim->users;
  return true;
}

void SharedRegisters::release(u32 address) {
  const auto claim = std::ranges::find(claims_, address, &Claim::address);
  assert(claim != claims_.end());
  if (--claim->users == 0) claims_.erase(claim);
}

}  // namespace pmusim::driver
