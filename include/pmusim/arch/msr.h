// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_MSR_H
#define PMUSIM_ARCH_MSR_H

#include "pmusim/base/types.h"

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

/// What a PMI needs of the local APIC beside its LVTPC (SDM vol. 3, advanced programmable interrupt
/// controller).
namespace pmusim::msr {

inline constexpr u32 APIC_BASE = 0x1B;
inline constexpr u32 X2APIC_EOI = 0x80B;
/// AMD: four further entries, which IBS and others are given by firmware (APM vol. 2, 16.4).
inline constexpr u32 X2APIC_EXTENDED_LVT0 = 0x850;
inline constexpr unsigned EXTENDED_LVTS = 4;

// IA32_APIC_BASE: the mode of the local APIC, and where its page is.
namespace apic_base {
inline constexpr u64 BSP = bit(8), X2APIC = bit(10), ENABLE = bit(11);
inline constexpr u64 PAGE = bits(51, 12), DEFAULT_PAGE = 0xFEE00000;
}  // namespace apic_base

/// Where that page has registers.
namespace xapic {
inline constexpr u64 EOI = 0xB0, LVTPC = 0x340, EXTENDED_LVT0 = 0x500, STRIDE = 0x10;
}

}  // namespace pmusim::msr

/// Registers of AMD's core PMU and of its branch records, by their addresses, with their bits (AMD64
/// Architecture Programmer's Manual vol. 2, 13.2 and appendix A). Those that both vendors have, with the same
/// bits, are those of pmusim::msr: DEBUGCTL with its bits 11 and 12, bits 58 and 59 of the global status.
namespace pmusim::msr::amd {

inline constexpr u32 EFER = 0xC0000080;
inline constexpr u32 IRPERF_COUNT = 0xC00000E9;  ///< instructions retired
inline constexpr u32 HWCR = 0xC0010015;
inline constexpr u32 LBR_SELECT = 0xC000010E;      ///< bits as lbr_select has them, without call-stack mode
inline constexpr u32 DEBUG_EXTN_CTL = 0xC000010F;  ///< where the LBR stack is enabled
inline constexpr u32 GLOBAL_STATUS = 0xC0000300, GLOBAL_CTL = 0xC0000301;
inline constexpr u32 GLOBAL_STATUS_CLR = 0xC0000302, GLOBAL_STATUS_SET = 0xC0000303;
/// The last branch, and the one before the last interrupt, while DebugCtl[0] is set.
inline constexpr u32 LAST_BRANCH_FROM = 0x1DB, LAST_BRANCH_TO = 0x1DC;
inline constexpr u32 LAST_EXCEPTION_FROM = 0x1DD, LAST_EXCEPTION_TO = 0x1DE;
/// Four of them, one beside the other; the same registers as the first of those below.
inline constexpr u32 LEGACY_CTL0 = 0xC0010000, LEGACY_CTR0 = 0xC0010004;
/// As many as there are counters; counter n is at CTR0 + 2n.
inline constexpr u32 CTL0 = 0xC0010200, CTR0 = 0xC0010201;
/// Record i, 0 the newest, is at LBR_FROM0 + 2i.
inline constexpr u32 LBR_FROM0 = 0xC0010300, LBR_TO0 = 0xC0010301;
/// Between one counter, or record, and the next.
inline constexpr u16 STRIDE = 2;
inline constexpr u16 LEGACY_COUNTERS = 4;

/// PERF_CTLn. What it shares with Intel's event select stands where that has it (msr::evtsel): umask, USR,
/// OS, EDGE, INT, EN, INV, CMASK.
namespace ctl {
inline constexpr u64 EVENT_LOW = bits(7, 0);
inline constexpr u64 EVENT_HIGH = bits(35, 32);  ///< bits 11:8 of the event's number
inline constexpr u64 GUEST_ONLY = bit(40), HOST_ONLY = bit(41);
inline constexpr u64 PREC_RET = bit(43);  ///< of PERF_CTL2
/// In an odd counter: the upper bits of the counter before it (event FFFH, Merge).
inline constexpr u64 MERGE = EVENT_HIGH | EVENT_LOW;
/// The number of the event that an event select names.
constexpr u16 event(u64 select) { return static_cast<u16>(field(select, 7, 0) | field(select, 35, 32) << 8); }
}  // namespace ctl

namespace efer {
inline constexpr u64 SVME = bit(12);
}

namespace hwcr {
inline constexpr u64 IRPERF_EN = bit(30);
}

namespace debug_extn {
inline constexpr u64 LBRSE = bit(6);  ///< records branches
}

/// The same register on Zen 3's servers, which have branch sampling (as Linux has it; no manual does).
namespace brs {
inline constexpr u64 ENABLE = bit(2), ONES = bits(4, 3), VALID = bit(5), OFFSET = bits(19, 16),
                     COUNTER = bits(26, 24);
}

/// Records of the LBR stack.
namespace lbr {
inline constexpr u64 FROM_MISPREDICTED = bit(63);
inline constexpr u64 TO_VALID = bit(63), TO_SPECULATIVE = bit(62);
inline constexpr u64 ADDRESS = bits(57, 0);
}  // namespace lbr

}  // namespace pmusim::msr::amd

/// AMD's instruction-based sampling: its registers and their bits (APM vol. 2, 13.3 and appendix A).
namespace pmusim::ibs {

inline constexpr u32 FETCH_CTL = 0xC0011030, FETCH_LIN_AD = 0xC0011031, FETCH_PHYS_AD = 0xC0011032;
inline constexpr u32 OP_CTL = 0xC0011033, OP_RIP = 0xC0011034, OP_DATA = 0xC0011035, OP_DATA2 = 0xC0011036,
                     OP_DATA3 = 0xC0011037, DC_LIN_AD = 0xC0011038, DC_PHYS_AD = 0xC0011039;
inline constexpr u32 CTL = 0xC001103A, BR_TARGET = 0xC001103B, EXTD_CTL = 0xC001103C;

/// CPUID.8000001BH:EAX.
namespace caps {
inline constexpr u32 AVAILABLE = 1u << 0, FETCH_SAMPLING = 1u << 1, OP_SAMPLING = 1u << 2,
                     READ_WRITE_OP_COUNT = 1u << 3, OP_COUNT = 1u << 4, BRANCH_TARGET = 1u << 5,
                     OP_COUNT_EXTENSION = 1u << 6, RIP_INVALID = 1u << 7, FUSED_BRANCH = 1u << 8,
                     FETCH_CTL_EXTENSION = 1u << 9, L3_MISS_FILTER = 1u << 11, LATENCY_FILTER = 1u << 12,
                     PAGE_SIZES = 1u << 19;
}  // namespace caps

namespace fetch {
inline constexpr u64 MAX_CNT = bits(15, 0), CNT = bits(31, 16), LATENCY = bits(47, 32);
inline constexpr u64 EN = bit(48), VAL = bit(49), COMPLETED = bit(50), IC_MISS = bit(51),
                     PHYSICAL_VALID = bit(52), L1_TLB_MISS = bit(55), L2_TLB_MISS = bit(56),
                     RAND_EN = bit(57), L2_MISS = bit(58), L3_MISS_ONLY = bit(59), OC_MISS = bit(60),
                     L3_MISS = bit(61);
}  // namespace fetch

namespace op {
inline constexpr u64 MAX_CNT = bits(15, 0), L3_MISS_ONLY = bit(16), EN = bit(17), VAL = bit(18),
                     CNT_CTL = bit(19), MAX_CNT_EXTENSION = bits(26, 20), CUR_CNT = bits(58, 32),
                     LATENCY_THRESHOLD = bits(62, 59), LATENCY_FILTER = bit(63);
}  // namespace op

/// IbsOpData.
namespace data {
inline constexpr u64 COMPLETION_TO_RETIREMENT = bits(15, 0), TAG_TO_RETIREMENT = bits(31, 16);
inline constexpr u64 RETURN = bit(34), TAKEN = bit(35), MISPREDICTED = bit(36), BRANCH = bit(37),
                     FUSED = bit(39), MICROCODE = bit(40);
}  // namespace data

/// IbsOpData2: where data came from.
namespace data2 {
inline constexpr u64 SOURCE = bits(2, 0), REMOTE_NODE = bit(4), HIT_OWNED = bit(5);
inline constexpr u64 SOURCE_NONE = 0, SOURCE_CCX = 1, SOURCE_NODE_CACHE = 2, SOURCE_DRAM = 3;
}  // namespace data2

/// IbsOpData3: what a load or store met.
namespace data3 {
inline constexpr u64 LOAD = bit(0), STORE = bit(1), L1_TLB_MISS = bit(2), L2_TLB_MISS = bit(3),
                     DC_MISS = bit(7), MISALIGNED = bit(8), LOCKED = bit(15), JOINED_MISS = bit(16),
                     LINEAR_VALID = bit(17), PHYSICAL_VALID = bit(18), L2_MISS = bit(20),
                     SOFTWARE_PREFETCH = bit(21), WIDTH = bits(25, 22), MISS_LATENCY = bits(47, 32),
                     TLB_LATENCY = bits(63, 48);
}  // namespace data3

}  // namespace pmusim::ibs

#endif
