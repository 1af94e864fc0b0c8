// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_REGISTER_INSTRUCTIONS_H
#define PMUSIM_TESTS_SUPPORT_REGISTER_INSTRUCTIONS_H

#include "pmusim/base/types.h"

/// The instructions themselves, for code that executes them under a Trap.
namespace pmusim::test {

inline u64 rdmsr(u32 address) {
  u32 low = 0, high = 0;
  asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(address));
  return u64{high} << 32 | low;
}

inline void wrmsr(u32 address, u64 value) {
  asm volatile("wrmsr"
               :
               : "c"(address), "a"(static_cast<u32>(value)), "d"(static_cast<u32>(value >> 32))
               : "memory");
}

inline u64 rdpmc(u32 ecx) {
  u32 low = 0, high = 0;
  asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(ecx));
  return u64{high} << 32 | low;
}

}  // namespace pmusim::test

#endif
