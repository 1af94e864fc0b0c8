// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_PARAMETERS_YONAH_TO_BROADWELL_H
#define PMUSIM_SRC_CPU_TABLES_PARAMETERS_YONAH_TO_BROADWELL_H

#include <string_view>

/// P cores from Yonah to Broadwell: what the timing model knows of them, and from where.
namespace pmusim::tables::parameters {

inline constexpr std::string_view yonah_to_broadwell = R"(
                                         yonah           core2          penryn         nehalem        westmere     sandybridge       ivybridge         haswell       broadwell
# width and buffers
issue_width                                3 r             4 r             4 r             4 r             4 r             4 p             4 p             4 p             4 p
retire_width                               3 r             4 r             4 r             4 r             4 r             4 m             4 m             4 m             4 m
issue_order                     out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order
reorder_buffer_uops                       80 r            96 p            96 p           128 p           128 p           168 m           168 m           192 m           192 m
scheduler_uops                            24 r            32 p            32 p            36 r            36 r            54 m            54 m            60 m            64 m
load_buffer_entries                       16 r            32 r            32 r            48 r            48 r            64 m            64 m            72 m            72 m
store_buffer_entries                      16 r            20 r            20 r            32 r            32 r            36 m            36 m            42 m            42 m
outstanding_misses                         8 r             8 r             8 r            10 r            10 r            10 r            10 r            10 r            10 r
# prefetchers
l1_stride_loads                            0 r           256 r           256 r           256 r           256 i           256 r           256 r           256 r           256 r
l2_stream_pages                           16 p            32 r            32 r            32 r            32 i            32 r            32 r            32 r            32 r
l2_stream_gap_lines                        1 i             1 m             1 m             2 m             2 i             2 m             2 m             2 m             2 m
l2_stream_burst_lines                      2 i             2 i             2 i             2 i             2 i             2 p             2 p             2 p             2 p
l2_stream_ahead_lines                     20 i            20 i            20 i            20 i            20 i            20 p            20 p            20 p            20 p
l2_prefetches_outstanding                  8 i             8 i             8 i            16 r            16 i            16 r            16 r            16 r            16 r
next_page_prefetch                         0 i             0 r             0 r             0 r             0 r             0 r             1 r             1 r             1 r
adjacent_line_level                        0 i             2 m             2 m             0 m             0 i             0 m             0 m             0 m             3 m
# loads and older stores
blocked_forward_cycles                    13 i            13 i            13 i            13 i            13 i            13 i            13 p            13 p            13 p
disambiguation_loads                       0 r           256 r           256 r           256 r           256 i           256 r           256 r           256 r           256 r
address_alias_cycles                       5 r             5 r             5 r             5 r             5 r             5 r             5 r             5 r             5 r
one_physical_page                          0               0               0               0               0               0               0               0               0
machine_clear_cycles                      20 r            20 r            20 r            20 r            20 r            20 r            20 r            20 r            20 r
# branches that go wrong, and where uops come from
mispredict_penalty                        13 r            15 r            15 r            17 r            17 r            16 r            16 r            17 r            17 r
resteer_cycles                             6 r             7 r             7 r             8 r             8 r            12 p            12 p            12 p            12 p
l1i_miss_penalty                           8               8               8               8               8               8               8               8               8
uop_queue_entries                         12 i             7 r             7 r            28 r            28 r            28 m            56 m            56 m            56 m
uop_cache_lines                            0 r             0 r             0 r             0 r             0 r           256 m           256 m           256 m           256 m
uop_cache_ways                             -               -               -               -               -               8 m             8 m             8 m             8 m
uop_cache_line_uops                        -               -               -               -               -               6 m             6 m             6 m             6 m
uop_cache_window_bytes                     -               -               -               -               -              32 m            32 m            32 m            32 m
uop_cache_window_lines                     -               -               -               -               -               3 m             3 m             3 m             3 m
uop_cache_uops_per_cycle                   -               -               -               -               -               4 m             4 m             4 m             4 m
decoder_switch_cycles                      -               -               -               -               -               2 p             2 p             2 p             2 p
loop_buffer_uops                           0 r            18 r            18 r            28 r            28 r            28 m            28 m            56 m            56 m
loop_buffer_unrolls                        0 r             0 r             0 r             0 r             0 r             0 m             0 m             1 m             1 m
decoders                                   3 r             4 r             4 r             4 r             4 r             4 m             4 m             4 m             4 m
fetch_bytes                               16 r            16 r            16 r            16 r            16 r            16 m            16 m            16 m            16 m
microcode_switch_cycles                    3 i             3 i             3 i             3 i             3 i             3 p             3 p             2 p             2 p
length_change_cycles                       6 r             6 r             6 r             6 r             6 r             3 r             3 r             3 r             3 r
macro_fusion                            none            none            none         nehalem         nehalem    sandy_bridge    sandy_bridge    sandy_bridge    sandy_bridge
move_elimination                        none            none            none            none            none            none             all             all             all
move_slots                                 0               0               0               0               0               0               4 m             4 m             4 m
move_slot_cycles                           2               2               2               2               2               2               3 m             2 m             2 m
last_name_keeps_slot                       0               0               0               0               0               0               0 m             1 m             1 m
forwarding_cycles                          5 m             5 m             5 m             4 m             4 m             5 m             5 m             5 m             5 m
system_call_cycles                       150 r           150 r           150 r           100 r           100 r            90 r            90 r            90 r            90 r
# predictors
btb_entries                             2048 r          2048 r          2048 r          4096 i          4096 i          4096 r          4096 r          4096 r          4096 r
return_stack_entries                      16 r            16 r            16 r            16 r            16 r            16 m            16 m            16 m            16 m
predictor                               tage            tage            tage            tage            tage            tage            tage            tage            tage
predictor_tables                           2 i             2 i             2 i             3 i             3 i             4 i             4               4               4
predictor_entries                        512 i           512 i           512 i           512 i           512 i           512 i           512             512             512
predictor_history                          8 r             8 r             8 r            18 r            18 r            32 i            32              32              32
# latencies and page walks
memory_latency_cycles                    170 r           236 m           271 m           185 m           185 i           229 m           240 m           247 m           235 m
snoop_cycles                              30              30              30              30              30              30              30              30              30
modified_snoop_cycles                     36              36              36              36              36              36              36              36              36
remote_cycles                            190             190             190             190             190             190             190             190             190
stlb_latency_cycles                        0 i             0 c             0 c             5 m             5 m             5 m             5 m             4 m             5 m
page_walk_cycles                          10 i             7 m             7 m             9 m             9 m            10 m            10 m            10 i            10 i
page_walk_loads                            1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i
# TLBs
itlb_entries                             128 r           128 c           128 c           128 c           128 c           128 c           128 c           128 c           128 c
itlb_ways                                  4 r             4 c             4 c             4 c             4 c             4 c             4 c             8 c             8 c
dtlb_entries                             128 r           256 c           256 c            64 c            64 c            64 c            64 c            64 c            64 c
dtlb_ways                                  4 r             4 c             4 c             4 c             4 c             4 c             4 c             4 c             4 c
stlb_entries                               0 c             0 c             0 c           512 c           512 c           512 c           512 c          1024 c          1536 c
stlb_ways                                  1 c             1 c             1 c             4 c             4 c             4 c             4 c             8 c             6 c
# caches: bytes/ways/cycles
l1i                                  32K/8/3 c       32K/8/3 c       32K/8/3 c       32K/4/4 c       32K/4/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c
l1d                                  32K/8/3 m       32K/8/3 m       32K/8/3 m       32K/8/4 m       32K/8/4 m       32K/8/4 m       32K/8/4 m       32K/8/4 m       32K/8/4 m
l2                                   2M/8/14 r      4M/16/14 m      6M/24/15 m     256K/8/10 m     256K/8/10 i     256K/8/12 m     256K/8/12 m     256K/8/12 m     256K/8/12 m
l3                                     0/0/0 c         0/0/0 c         0/0/0 c      8M/16/42 m     12M/16/48 r      8M/16/34 m      8M/16/35 m      8M/16/40 m      6M/12/44 m
line_bytes                                64              64              64              64              64              64              64              64              64
l2_cores                                   1               1               1               1               1               1               1               1               1
l2_transfers                               0               0               0               0               0               0               0               0               0
# clocks
tsc_hz                                 1660M r         2936M m         2999M m         2800M m         2800M m         3400M m         3500M m         3400M m         3300M m
bus_hz                             166666667       266666667       266666667       133333333       133333333            100M            100M            100M            100M
tsc_per_core_cycle_numerator               1               1               1               1               1               1               1               1               1
tsc_per_core_cycle_denominator             1               1               1               1               1               1               1               1               1
# rules of decoders and renamers: A. Abel and J. Reineke, "uiCA" (ICS 2022), and what uops.info measured; Intel's
# optimization manual: six instructions found per cycle on Nehalem, a stack pointer tracker, constants relative to RIP
predecode_instructions                     0               0               0               6 p             6 p             5 m             5 m             5 m             5 m
last_decoder_leaves_pairs                  0               0               0               0 i             0 i             1 m             1 m             1 m             1 m
pop_r12_decoding                           0               0               0               0 i             0 i             2 m             2 m             2 m             2 m
stack_sync_uops                            0               0               0               1 p             1 p             1 p             1 p             1 p             1 p
merges_partial_registers                   0               0               0               0 r             0 r            16 r             8 r             8 m             8 m
waits_for_old_destination                  0               0               0               4 i             4 i             5 m             5 m             7 m             7 m
splits_indexed_operands                    0               0               0               0 r             0 r             1 p             1 p             2 m             2 m
splits_constants_at_rip                    0               0               0               1 p             1 p             1 p             1 p             1 p             1 p
jump_border_erratum                        0               0               0               0 p             0 p             0 p             0 p             0 p             0 p
slow_address_cycles                        0               0               0               0 m             0 m             1 p             1 p             1 p             1 p
high_byte_merge_uops                       0               0               0               1 r             1 r             1 m             1 m             1 m             1 m
l1d_bank_bytes                             0               0               0               0 r             0 r             8 p             8 p             0 p             0 p
)";

}  // namespace pmusim::tables::parameters

#endif
