// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_SHARED_REGISTERS_H
#define PMUSIM_DRIVER_SHARED_REGISTERS_H

#include <array>
#include <vector>

#include "pmusim/base/bits.h"

namespace pmusim::driver {

/// Registers that several events use at once as long as they want the same value: OFFCORE_RSP, FRONTEND,
/// LD_LAT, the branch filter.
class SharedRegisters {
 public:
  /// False if the register is in use with another value.
  [[nodiscard]] bool acquire(u32 address, u64 value);
  /// Ends one successful `acquire`.
  void release(u32 address);

 private:
  struct Claim {
    u32 address;
    u64 value;
    unsigned users;
  };
  std::vector<Claim> claims_;
};

/// How one thread of a core uses a general counter, for the erratum that makes certain events corrupt the
/// sibling thread's counter of the same number (Sandy Bridge to Haswell).
enum class CounterUse : u8 { unused, shared, exclusive };

/// What the two hyper-threads of a core have in common. Give both drivers the same one.
struct CoreResources {
  SharedRegisters registers;
  std::array<std::array<CounterUse, 32>, 2> counter_use{};  ///< [thread][counter]
  unsigned exclusive_events = 0;                            ///< scheduled on either thread
};

}  // namespace pmusim::driver

#endif
