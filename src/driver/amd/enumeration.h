// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_AMD_ENUMERATION_H
#define PMUSIM_SRC_DRIVER_AMD_ENUMERATION_H

#include "pmusim/base/bus.h"
#include "pmusim/cpu/model.h"
#include "pmusim/perf/abi.h"

namespace pmusim::driver::amd {

/// Whether CPUID names AMD as the vendor of the CPU behind `bus`.
bool is_amd(Bus& bus);

/// What the driver learns of the PMU of one logical processor at start-up, from CPUID alone.
struct Enumeration {
  perf::Kernel kernel = perf::default_kernel;
  u32 family = 0, model = 0;
  /// Whose event tables perf takes; `unknown` below family 17H.
  Microarchitecture microarchitecture = Microarchitecture::unknown;
  bool core_extension = false;  ///< counters at C001_0200, else four at C001_0000
  bool perfmon_v2 = false;      ///< global control and status
  unsigned counters = 4;
  unsigned branch_entries = 0;   ///< of a branch stack; 0: no branch records
  bool branch_sampling = false;  ///< they are those of Zen 3's servers, and not of an LBR stack
  bool lbr_freezes = false;      ///< DebugCtl[11] works
  unsigned linear_bits = 48;

  /// No CPUID bit has it.
  bool merges_counters() const { return family >= 0x17; }
  static constexpr unsigned counter_width = 48;
  u64 counter_mask() const { return low_bits(counter_width); }
  /// A bit for each counter.
  u64 counter_set() const { return low_bits(counters); }
  /// A start value is negative: the top bit of a counter tells whether it has overflowed.
  u64 max_period() const { return low_bits(counter_width - 1); }
};

Enumeration enumerate(Bus& bus, perf::Kernel kernel);

}  // namespace pmusim::driver::amd

#endif
