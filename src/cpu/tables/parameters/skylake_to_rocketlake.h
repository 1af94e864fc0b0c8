// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_PARAMETERS_SKYLAKE_TO_ROCKETLAKE_H
#define PMUSIM_SRC_CPU_TABLES_PARAMETERS_SKYLAKE_TO_ROCKETLAKE_H

#include <string_view>

/// P cores from Skylake to Rocket Lake: what the timing model knows of them, and from where.
namespace pmusim::tables::parameters {

inline constexpr std::string_view skylake_to_rocketlake = R"(
                                       skylake      cannonlake       skylake-x     cascadelake         icelake  icelake-server       tigerlake      rocketlake
# width and buffers
issue_width                                4 p             4 p             4 p             4 p             5 p             5 p             5 p             5 p
retire_width                               4 m             4 m             4 m             4 m             8 p             8 p             8 p             8 p
issue_order                     out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order
reorder_buffer_uops                      224 m           224 m           224 m           224 m           352 m           352 m           352 m           352 m
scheduler_uops                            97 m            97 m            97 m            97 m           160 m           160 m           160 m           160 m
load_buffer_entries                       72 m            72 m            72 i            72 i           128 m           128 m           128 m           128 m
store_buffer_entries                      56 m            56 m            56 i            56 i            72 m            72 m            72 m            72 m
outstanding_misses                        12 r            12 r            12 r            12 r            12 p            12 p            12 p            12 p
# prefetchers
l1_stride_loads                          256 r           256 r           256 r           256 r           256 i           256 i           256 i           256 i
l2_stream_pages                           32 r            32 r            32 r            32 r            32 i            32 i            32 i            32 i
l2_stream_gap_lines                        2 m             4 m             2 m             2 m             4 i             4 i             4 m             4 m
l2_stream_burst_lines                      2 p             2 p             2 p             2 p             2 i             2 i             2 i             2 i
l2_stream_ahead_lines                     20 p            20 p            20 p            20 p            20 i            20 i            20 i            20 i
l2_prefetches_outstanding                 16 r            32 i            16 r            16 r            32 i            32 i            32 i            32 i
next_page_prefetch                         1 r             1 r             1 r             1 r             1 i             1 i             1 i             1 i
adjacent_line_level                        0 m             3 m             0 m             0 m             3 i             3 i             3 m             3 m
# loads and older stores
blocked_forward_cycles                    13 p            13 p            13 p            13 p            13 i            13 i            13 i            13 i
disambiguation_loads                     256 r           256 r           256 r           256 r           256 i           256 i           256 i           256 i
address_alias_cycles                       5 r             5 r             5 r             5 r             5 r             5 r             5 r             5 r
one_physical_page                          0               0               0               0               0               0               0               0
machine_clear_cycles                      20 r            20 r            20 r            20 r            20 r            20 r            20 r            20 r
# branches that go wrong, and where uops come from
mispredict_penalty                        17 r            17 r            17 r            17 r            17 r            17 r            17 r            17 r
resteer_cycles                             9 p             9 p             9 p             9 p            10 p            10 p            10 p            10 p
l1i_miss_penalty                           8               8               8               8               8               8               8               8
uop_queue_entries                         64 m            64 m            64 m            64 m            70 m            70 m            70 m            70 m
uop_cache_lines                          256 m           256 m           256 m           256 m           384 p           384 p           384 p           384 p
uop_cache_ways                             8 m             8 m             8 m             8 m             8 p             8 p             8 p             8 p
uop_cache_line_uops                        6 m             6 m             6 m             6 m             6 p             6 p             6 p             6 p
uop_cache_window_bytes                    32 m            32 m            32 m            32 m            32 p            32 p            32 p            32 p
uop_cache_window_lines                     3 m             3 m             3 m             3 m             3 p             3 p             3 p             3 p
uop_cache_uops_per_cycle                   6 m             6 m             6 p             6 p             6 m             6 m             6 m             6 m
decoder_switch_cycles                      2 p             2 p             2 p             2 p             2 p             2 p             2 p             2 p
loop_buffer_uops                           0 m            64 m             0 m            28 m            70 m            70 m            70 m            70 m
loop_buffer_unrolls                        0 m             1 i             0 m             1 m             1 m             1 m             1 m             1 m
decoders                                   4 m             4 m             4 m             4 m             4 p             4 p             4 p             4 p
fetch_bytes                               16 m            16 m            16 m            16 m            16 m            16 m            16 m            16 m
microcode_switch_cycles                    2 p             2 p             2 p             2 p             3 p             3 p             3 p             3 p
length_change_cycles                       3 r             3 r             3 r             3 r             3 r             3 r             3 r             3 r
macro_fusion                    sandy_bridge    sandy_bridge    sandy_bridge    sandy_bridge        ice_lake        ice_lake        ice_lake        ice_lake
move_elimination                         all             all             all             all          vector          vector          vector             all
move_slots                                 4 m             4 i             4 m             4 m             0 m             0 i             0 m             0 m
move_slot_cycles                           2 m             2 i             2 m             2 m             2               2               2               2
last_name_keeps_slot                       1 m             1 i             1 m             1 m             0               0               0               0
forwarding_cycles                          4 m             4 m             4 m             4 m             4 m             4 m             4 m             4 m
system_call_cycles                        90 r            90 r            90 r            90 r            90 r            90 r            90 r            90 r
# predictors
btb_entries                             4096 r          4096 r          4096 r          4096 r          5120 p          5120 p          5120 p          5120 p
return_stack_entries                      16 m            16 m            16 m            16 m            16 m            16 m            16 m            16 m
predictor                               tage            tage            tage            tage            tage            tage            tage            tage
predictor_tables                           4               4               4               4               4               4               4               4
predictor_entries                        512             512             512             512             512             512             512             512
predictor_history                         32              32              32              32              32              32              32              32
# latencies and page walks
memory_latency_cycles                    173 m           253 m           291 m           291 i           250 i           250 i           316 m           272 m
snoop_cycles                              30              30              30              30              30              30              30              30
modified_snoop_cycles                     36              36              36              36              36              36              36              36
remote_cycles                            190             190             190             190             190             190             190             190
stlb_latency_cycles                        6 m             7 m             6 m             6 m             5 m             5 m             5 m             5 m
page_walk_cycles                          15 i            15 i            15 i            15 i            15 i            15 i            15 i            15 i
page_walk_loads                            1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i
# TLBs
itlb_entries                             128 c           128 c           128 c           128 c           128 c           128 c           128 c           128 c
itlb_ways                                  8 c             8 c             8 c             8 c             8 c             8 c             8 c             8 c
dtlb_entries                              64 c            64 c            64 c            64 c            64 c            64 c            64 c            64 c
dtlb_ways                                  4 c             4 c             4 c             4 c             4 c             4 c             4 c             4 c
stlb_entries                            1536 c          1536 c          1536 c          1536 c          2048 c          2048 c          2048 c          2048 c
stlb_ways                                 12 c            12 c            12 c            12 c            16 c            16 c            16 c            16 c
# caches: bytes/ways/cycles
l1i                                  32K/8/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c
l1d                                  32K/8/4 m       32K/8/4 m       32K/8/4 m       32K/8/4 m      48K/12/5 m      48K/12/5 m      48K/12/5 m      48K/12/5 m
l2                                 256K/4/12 m     256K/4/12 m      1M/16/14 m      1M/16/14 i     512K/8/13 m   1280K/20/14 r   1280K/20/14 m     512K/8/13 m
l3                                  8M/16/45 m      4M/16/45 m  25344K/11/76 m  25344K/11/74 i      8M/16/50 i     48M/12/65 p     12M/12/72 m     16M/16/57 m
line_bytes                                64              64              64              64              64              64              64              64
l2_cores                                   1               1               1               1               1               1               1               1
l2_transfers                               0               0               0               0               0               0               0               0
# clocks
tsc_hz                                 2207M m         2207M m         3503M m         3503M i         1498M c            2G c         2419M m         3503M m
bus_hz                                  100M            100M            100M            100M            100M            100M            100M            100M
tsc_per_core_cycle_numerator               1               1               1               1               1               1               1               1
tsc_per_core_cycle_denominator             1               1               1               1               1               1               1               1
# rules of decoders and renamers: A. Abel and J. Reineke, "uiCA" (ICS 2022), and what uops.info measured; Intel's
# optimization manual; Intel, "Mitigations for Jump Conditional Code Erratum": jumps at borders, since the microcode of
# November 2019
predecode_instructions                     5 m             5 m             5 m             5 m             5 m             5 m             5 m             5 m
last_decoder_leaves_pairs                  0 m             0 m             0 m             0 m             0 m             0 m             0 m             0 m
pop_r12_decoding                           1 m             1 i             1 m             1 m             1 m             1 i             1 m             1 m
stack_sync_uops                            1 p             1 p             1 p             1 p             1 p             1 p             1 p             1 p
merges_partial_registers                   8 m             8 m             8 m             8 m             8 m             8 m             8 m             8 m
waits_for_old_destination                  5 m             5 m             5 m             5 m             4 m             4 m             4 m             4 m
splits_indexed_operands                    2 m             2 m             2 m             2 m             2 m             2 m             2 m             2 m
splits_constants_at_rip                    1 p             1 p             1 p             1 p             1 p             1 p             1 p             1 p
jump_border_erratum                        1 p             1 p             1 p             1 p             0 p             0 p             0 p             0 p
slow_address_cycles                        1 m             1 m             1 m             1 m             0 m             0 m             0 m             0 m
high_byte_merge_uops                       1 m             1 m             1 m             1 m             1 m             1 m             1 m             1 m
l1d_bank_bytes                             0 p             0 p             0 p             0 p             0 p             0 p             0 p             0 p
)";

}  // namespace pmusim::tables::parameters

#endif
