// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_MSR_H
#define PMUSIM_ARCH_MSR_H

#include "pmusim/base/bits.h"

/// MSR addresses and bits as the SDM (vol. 4, vol. 3 performance monitoring) spells them. Hardware and driver
/// both speak these words; neither defines its own.
namespace pmusim::msr {

inline constexpr u32 TSC = 0x10;
inline constexpr u32 TSC_ADJUST = 0x3B;
inline constexpr u32 SPEC_CTRL = 0x48;
inline constexpr u32 PRED_CMD = 0x49;
inline constexpr u32 BIOS_SIGN_ID = 0x8B;  // microcode revision in 63:32
inline constexpr u32 PMC0 = 0xC1;          // + n; writes sign-extend bit 31
inline constexpr u32 MPERF = 0xE7;
inline constexpr u32 APERF = 0xE8;
inline constexpr u32 TSX_FORCE_ABORT = 0x10F;
inline constexpr u32 PERFEVTSEL0 = 0x186;  // + n
inline constexpr u32 MISC_ENABLE = 0x1A0;
inline constexpr u32 OFFCORE_RSP_0 = 0x1A6;
inline constexpr u32 OFFCORE_RSP_1 = 0x1A7;
inline constexpr u32 XFD = 0x1C4;
inline constexpr u32 XFD_ERR = 0x1C5;
inline constexpr u32 LBR_SELECT = 0x1C8;
inline constexpr u32 LBR_TOS = 0x1C9;
inline constexpr u32 DEBUGCTL = 0x1D9;
inline constexpr u32 LER_FROM_IP = 0x1DD;
inline constexpr u32 LER_TO_IP = 0x1DE;
inline constexpr u32 LER_INFO = 0x1E0;
inline constexpr u32 FIXED_CTR0 = 0x309;  // + m
inline constexpr u32 PERF_METRICS = 0x329;
inline constexpr u32 PERF_CAPABILITIES = 0x345;
inline constexpr u32 FIXED_CTR_CTRL = 0x38D;
inline constexpr u32 PERF_GLOBAL_STATUS = 0x38E;
inline constexpr u32 PERF_GLOBAL_CTRL = 0x38F;
inline constexpr u32 PERF_GLOBAL_STATUS_RESET = 0x390;  // PERF_GLOBAL_OVF_CTRL before version 4
inline constexpr u32 PERF_GLOBAL_STATUS_SET = 0x391;
inline constexpr u32 PERF_GLOBAL_INUSE = 0x392;
inline constexpr u32 OMR_0 = 0x3E0;  // + 0..3
inline constexpr u32 PEBS_ENABLE = 0x3F1;
inline constexpr u32 PEBS_DATA_CFG = 0x3F2;
inline constexpr u32 PEBS_BASE = 0x3F4;   // architectural PEBS
inline constexpr u32 PEBS_INDEX = 0x3F5;  // architectural PEBS
inline constexpr u32 PEBS_LD_LAT_THRESHOLD = 0x3F6;
inline constexpr u32 PEBS_FRONTEND = 0x3F7;
inline constexpr u32 A_PMC0 = 0x4C1;  // + n; full-width alias of PMC0 + n
inline constexpr u32 DS_AREA = 0x600;
inline constexpr u32 U_CET = 0x6A0;
inline constexpr u32 S_CET = 0x6A2;
inline constexpr u32 PL0_SSP = 0x6A4;  // + privilege level
inline constexpr u32 PL3_SSP = 0x6A7;
inline constexpr u32 INTERRUPT_SSP_TABLE_ADDR = 0x6A8;
inline constexpr u32 PPERF = 0x64E;
inline constexpr u32 X2APIC_LVTPC = 0x834;
inline constexpr u32 XSS = 0xDA0;
inline constexpr u32 RELOAD_FIXED_CTR0 = 0x1309;  // + m; PEBS via PT
inline constexpr u32 RELOAD_PMC0 = 0x14C1;        // + n; PEBS via PT
inline constexpr u32 SNOOP_RSP_0 = 0x1328;
inline constexpr u32 SNOOP_RSP_1 = 0x1329;
inline constexpr u32 V6_STRIDE = 4;
inline constexpr u32 V6_GP0_CTR = 0x1900;
inline constexpr u32 V6_GP0_CFG_A = 0x1901;
inline constexpr u32 V6_GP0_CFG_B = 0x1902;
inline constexpr u32 V6_GP0_CFG_C = 0x1903;
inline constexpr u32 V6_FX0_CTR = 0x1980;
inline constexpr u32 V6_FX0_CFG_B = 0x1982;
inline constexpr u32 V6_FX0_CFG_C = 0x1983;
inline constexpr u32 TSC_AUX = 0xC0000103;

// Last branch records, legacy: N entries of FROM, TO and, from Skylake on, INFO.
inline constexpr u32 LBR_CORE_FROM_IP = 0x40;
inline constexpr u32 LBR_CORE_TO_IP = 0x60;
inline constexpr u32 LBR_NHM_FROM_IP = 0x680;
inline constexpr u32 LBR_NHM_TO_IP = 0x6C0;
inline constexpr u32 LBR_INFO_0 = 0xDC0;
// Last branch records, architectural.
inline constexpr u32 ARCH_LBR_CTL = 0x14CE;
inline constexpr u32 ARCH_LBR_DEPTH = 0x14CF;
inline constexpr u32 ARCH_LBR_INFO_0 = 0x1200;
inline constexpr u32 ARCH_LBR_FROM_0 = 0x1500;
inline constexpr u32 ARCH_LBR_TO_0 = 0x1600;

namespace evtsel {  // IA32_PERFEVTSELx
inline constexpr u64 EVENT = bits(7, 0);
inline constexpr u64 UMASK = bits(15, 8);
inline constexpr u64 USR = bit(16);
inline constexpr u64 OS = bit(17);
inline constexpr u64 EDGE = bit(18);
inline constexpr u64 PC = bit(19);
inline constexpr u64 INT = bit(20);
inline constexpr u64 ANY = bit(21);
inline constexpr u64 EN = bit(22);
inline constexpr u64 INV = bit(23);
inline constexpr u64 CMASK = bits(31, 24);
inline constexpr u64 IN_TX = bit(32);
inline constexpr u64 IN_TXCP = bit(33);
inline constexpr u64 ADAPTIVE = bit(34);
inline constexpr u64 BR_CNTR = bit(35);
inline constexpr u64 EQ = bit(36);
inline constexpr u64 RDPMC_USR_DISABLE = bit(37);
inline constexpr u64 UMASK2 = bits(47, 40);
}  // namespace evtsel

namespace fixed_ctrl {  // one nibble of IA32_FIXED_CTR_CTRL: shift by 4 * m
inline constexpr u64 OS = bit(0);
inline constexpr u64 USR = bit(1);
inline constexpr u64 ANY = bit(2);
inline constexpr u64 PMI = bit(3);
inline constexpr u64 NIBBLE = bits(3, 0);
inline constexpr u64 METRICS_CLEAR = bit(14);  // not shifted: FIXED_CTR3's ANY bit, PERF_CAPABILITIES[19]
inline constexpr u64 ADAPTIVE = bit(32);
inline constexpr u64 RDPMC_USR_DISABLE = bit(33);
}  // namespace fixed_ctrl

namespace status {  // IA32_PERF_GLOBAL_STATUS, beside the counter bits n and 32 + m
inline constexpr u64 PERF_METRICS = bit(48);
inline constexpr u64 ARCH_PEBS = bit(54);
inline constexpr u64 TOPA_PMI = bit(55);
inline constexpr u64 LBR_FRZ = bit(58);
inline constexpr u64 CTR_FRZ = bit(59);
inline constexpr u64 ASCI = bit(60);
inline constexpr u64 OVF_UNCORE = bit(61);
inline constexpr u64 OVF_BUF = bit(62);  // DS buffer
inline constexpr u64 COND_CHGD = bit(63);
}  // namespace status

namespace debugctl {
inline constexpr u64 LBR = bit(0);
inline constexpr u64 BTF = bit(1);
inline constexpr u64 BUS_LOCK_DETECT = bit(2);
inline constexpr u64 TR = bit(6);
inline constexpr u64 BTS = bit(7);
inline constexpr u64 BTINT = bit(8);
inline constexpr u64 BTS_OFF_OS = bit(9);
inline constexpr u64 BTS_OFF_USR = bit(10);
inline constexpr u64 FREEZE_LBRS_ON_PMI = bit(11);
inline constexpr u64 FREEZE_PERFMON_ON_PMI = bit(12);
inline constexpr u64 UNCORE_PMI_EN = bit(13);
inline constexpr u64 FREEZE_WHILE_SMM = bit(14);
inline constexpr u64 RTM_DEBUG = bit(15);
}  // namespace debugctl

namespace perf_cap {  // IA32_PERF_CAPABILITIES
inline constexpr u64 LBR_FMT = bits(5, 0);
inline constexpr u64 PEBS_TRAP = bit(6);
inline constexpr u64 PEBS_ARCH_REGS = bit(7);
inline constexpr u64 PEBS_REC_FMT = bits(11, 8);
inline constexpr u64 SMM_FREEZE = bit(12);
inline constexpr u64 FW_WRITE = bit(13);
inline constexpr u64 PEBS_BASELINE = bit(14);
inline constexpr u64 PERF_METRICS = bit(15);
inline constexpr u64 PEBS_OUTPUT_PT_AVAIL = bit(16);
inline constexpr u64 PEBS_TIMING_INFO = bit(17);
inline constexpr u64 RDPMC_METRICS_CLEAR = bit(19);
}  // namespace perf_cap

namespace lvtpc {
inline constexpr u64 VECTOR = bits(7, 0);
inline constexpr u64 DELIVERY_MODE = bits(10, 8);
inline constexpr u64 FIXED = u64{0} << 8, SMI = u64{2} << 8, NMI = u64{4} << 8;
inline constexpr u64 DELIVERY_STATUS = bit(12);
inline constexpr u64 MASKED = bit(16);
// The same register in the memory-mapped page that the local APIC has where it is not in x2APIC mode.
inline constexpr u64 XAPIC_ADDRESS = 0xFEE00340;
}  // namespace lvtpc

}  // namespace pmusim::msr

#endif
