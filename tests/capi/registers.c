// SPDX-License-Identifier: MIT
// <pmusim/registers.h> against numbers of SDM vol. 4, table 2-2, and of vol. 3, "performance monitoring".
#include <pmusim/registers.h>

_Static_assert(PMUSIM_MSR_PMC0 == 0xC1 && PMUSIM_MSR_A_PMC0 == 0x4C1, "counters");
_Static_assert(PMUSIM_MSR_PERFEVTSEL0 == 390 && PMUSIM_MSR_FIXED_CTR0 == 777, "in decimal, as table 2-2 has them, too");
_Static_assert(PMUSIM_MSR_FIXED_CTR_CTRL == 909 && PMUSIM_MSR_PERF_GLOBAL_STATUS == 910, "control");
_Static_assert(PMUSIM_MSR_PERF_GLOBAL_CTRL == 911 && PMUSIM_MSR_PERF_GLOBAL_STATUS_RESET == 912, "control");
_Static_assert(PMUSIM_MSR_PEBS_ENABLE == 1009 && PMUSIM_MSR_DS_AREA == 1536, "debug store");
_Static_assert(PMUSIM_MSR_DEBUGCTL == 473 && PMUSIM_MSR_PERF_CAPABILITIES == 837, "control");
_Static_assert(PMUSIM_MSR_TSC_AUX == 0xC0000103, "the largest address");

// IA32_PERFEVTSELx, vol. 3, figure "layout of IA32_PERFEVTSELx MSRs".
_Static_assert(PMUSIM_EVTSEL_EVENT == 0xFF && PMUSIM_EVTSEL_UMASK == 0xFF00 && PMUSIM_EVTSEL_CMASK == 0xFF000000, "fields");
_Static_assert(PMUSIM_EVTSEL_USR == 1 << 16 && PMUSIM_EVTSEL_OS == 1 << 17 && PMUSIM_EVTSEL_EN == 1 << 22, "bits");
_Static_assert(PMUSIM_EVTSEL_UMASK2 == 0xFF0000000000, "a field above 32 bits");
_Static_assert(PMUSIM_STATUS_COND_CHGD == 0x8000000000000000, "the highest bit");
_Static_assert(PMUSIM_LVTPC_NMI == 0x400 && PMUSIM_LVTPC_MASKED == 0x10000, "local vector table");

int main(void) { return 0; }
