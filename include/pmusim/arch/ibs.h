// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_IBS_H
#define PMUSIM_ARCH_IBS_H

#include "pmusim/base/bits.h"

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
inline constexpr u64 SOURCE = bits(2, 0), HIT_OWNED = bit(5);
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
