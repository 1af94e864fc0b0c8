// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_X86_DATA_SOURCE_WORDS_H
#define PMUSIM_SRC_DRIVER_X86_DATA_SOURCE_WORDS_H

#include "pmusim/base/types.h"

/// The parts of PERF_SAMPLE_DATA_SRC (union perf_mem_data_src of Linux' ABI) that words are made of.
namespace pmusim::driver::mem {

inline constexpr u64 op_mask = bits(4, 0), op_load = 2, op_store = 4;
inline constexpr u64 level_na = bit(5), level_hit = bit(6), level_miss = bit(7), level_l1 = bit(8),
                     level_lfb = bit(9), level_l2 = bit(10), level_l3 = bit(11), level_ram = bit(12),
                     level_remote_ram1 = bit(13), level_remote_cache1 = bit(15),
                     level_remote_cache2 = bit(16), level_io = bit(17), level_uncached = bit(18);
inline constexpr u64 snoop_na = bit(19), snoop_none = bit(20), snoop_hit = bit(21), snoop_miss = bit(22),
                     snoop_modified = bit(23), snoop_forward = bit(38);
inline constexpr u64 lock_na = bit(24), lock_locked = bit(25);
inline constexpr u64 tlb_na = bit(26), tlb_hit = bit(27), tlb_miss = bit(28), tlb_l1 = bit(29),
                     tlb_l2 = bit(30);
/// mem_lvl_num: 1 to 4 are levels of cache.
constexpr u64 level_number(u64 number) { return number << 33; }
inline constexpr u64 number_uncached = level_number(8), number_cxl = level_number(9),
                     number_io = level_number(0xA), number_any_cache = level_number(0xB),
                     number_pmem = level_number(0xE), number_lfb = level_number(0xC),
                     number_ram = level_number(0xD), number_na = level_number(0xF);
inline constexpr u64 remote = bit(37);
/// mem_hops: 0 within a node, 1 beyond.
constexpr u64 hops(u64 number) { return (number + 1) << 43; }
inline constexpr u64 block_na = bit(40), block_data = bit(41), block_address = bit(42);

}  // namespace pmusim::driver::mem

#endif
