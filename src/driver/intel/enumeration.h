// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_ENUMERATION_H
#define PMUSIM_DRIVER_ENUMERATION_H

#include "pmusim/arch/msr.h"
#include "pmusim/base/bus.h"
#include "pmusim/cpu/model.h"
#include "pmusim/perf/abi.h"

namespace pmusim::driver {

using pmusim::Microarchitecture;

/// What a driver learns of the PMU of one logical processor at start-up, from CPUID and
/// IA32_PERF_CAPABILITIES alone. Counter masks: bit n GP, bit 32 + m fixed.
struct Enumeration {
  perf::Kernel kernel = perf::default_kernel;  ///< whose eyes these are
  u32 family = 0, model = 0, stepping = 0;
  Microarchitecture microarchitecture = Microarchitecture::unknown;
  bool hypervisor = false;  ///< CPUID.1:ECX[31]
  bool atom = false;        ///< leaf 1AH core type, or an Atom family
  bool low_power = false;   ///< the smaller of two Atoms of a hybrid
  bool hybrid = false;      ///< CPUID.7.0:EDX[15]

  unsigned perfmon_version = 0;
  u64 counters = 0;
  unsigned counter_width = 0;
  bool any_thread = false;  ///< event selects can count for the sibling thread too
  u32 arch_events = 0;      ///< present architectural events, positive polarity
  u32 perfmon_ext = 0;      ///< CPUID.23H.0:EBX
  u64 perf_capabilities = 0;
  bool rtm = false, hle = false;
  bool tsx_force_abort = false;  ///< CPUID.7.0:EDX[13]: microcode and PMU compete for GP 3

  bool has_ds = false;   ///< DS area and DTES64
  bool has_bts = false;  ///< branches can be stored there, by privilege level
  static constexpr unsigned no_pebs = ~0u, arch_pebs_format = 0xF;
  unsigned pebs_format = no_pebs;  ///< 0..6, arch_pebs_format or no_pebs
  bool pebs_baseline = false;
  u64 pebs_counters = 0;           ///< PEBS-capable counters
  u64 pebs_distribution = 0;       ///< CPUID.23H.5 EBX | EDX << 32
  u64 pebs_arch_capabilities = 0;  ///< CPUID.23H.4:EBX << 32, comparable with CFG_C

  bool arch_lbr = false;
  unsigned lbr_format = 0;  ///< PERF_CAPABILITIES[5:0]
  CpuidResult lbr_leaf{};   ///< CPUID.1CH
  unsigned lbr_entries = 0;

  u64 acr_reloadable = 0, acr_cause = 0;

  u32 gp_mask() const { return static_cast<u32>(counters); }
  u64 counter_mask() const { return low_bits(counter_width); }
  bool extended_pebs() const { return (pebs_counters >> 32) != 0; }
  /// Whether the driver has tables for the core; else it knows architectural events alone.
  bool has_tables() const { return microarchitecture != Microarchitecture::unknown; }
  bool arch_pebs() const { return pebs_format == arch_pebs_format; }
};

/// Asks the CPU behind `bus`. A core that `kernel` has no tables for is `unknown`.
Enumeration enumerate(Bus& bus, perf::Kernel kernel = perf::default_kernel);

}  // namespace pmusim::driver

#endif
