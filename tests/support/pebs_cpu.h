// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_PEBS_CPU_H
#define PMUSIM_TESTS_SUPPORT_PEBS_CPU_H

#include "driver/intel/enumeration.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

/// What a CPU tells of itself that has PEBS records of this format, and 32 branches in its LBR.
inline Enumeration pebs_cpu(unsigned format) {
  Enumeration cpu;
  cpu.pebs_format = format;
  cpu.microarchitecture = format >= 15  ? Microarchitecture::panther_cove
                          : format >= 4 ? Microarchitecture::ice_lake
                          : format == 3 ? Microarchitecture::skylake
                                        : Microarchitecture::sandy_bridge;
  cpu.perfmon_version = 5;
  cpu.counter_width = 48;
  cpu.pebs_baseline = pebs::is_adaptive(format);
  cpu.pebs_counters = 0xF;
  cpu.pebs_arch_capabilities = pebs::is_architectural(format) ? ~u32{0} : 0;
  cpu.perf_capabilities = 5;  // LBR format: with INFO
  cpu.lbr_format = 5;
  cpu.lbr_entries = 32;
  cpu.arch_lbr = pebs::is_architectural(format);
  if (cpu.arch_lbr) {
    cpu.lbr_leaf.ebx = lbr_leaf::EBX_CPL_FILTER | lbr_leaf::EBX_BRANCH_FILTER | lbr_leaf::EBX_CALL_STACK;
    cpu.lbr_leaf.ecx = lbr_leaf::ECX_MISPRED | lbr_leaf::ECX_TIMED | lbr_leaf::ECX_BRANCH_TYPE;
  }
  return cpu;
}

}  // namespace pmusim::driver

#endif
