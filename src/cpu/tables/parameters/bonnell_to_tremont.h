// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_PARAMETERS_BONNELL_TO_TREMONT_H
#define PMUSIM_SRC_CPU_TABLES_PARAMETERS_BONNELL_TO_TREMONT_H

#include <string_view>

/// Small cores from Bonnell to Tremont: what the timing model knows of them, and from where.
namespace pmusim::tables::parameters {

inline constexpr std::string_view bonnell_to_tremont = R"(
                                    bonnell      silvermont  knightslanding        goldmont   goldmont-plus         tremont
# width and buffers
issue_width                             2 p             2 p             2 p             3 p             4 p             4 p
retire_width                            2 r             2 r             2 r             3 p             4 p             4 p
issue_order                      in_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order
reorder_buffer_uops                    32 p            32 l            72 p            78 r            95 r           208 p
scheduler_uops                         32 i            38 r            76 p            60 i            60 i           100 i
load_buffer_entries                    16 i            10 r            16 i            24 i            24 i            78 r
store_buffer_entries                    8 r            16 r            16 r            24 i            24 i            49 r
outstanding_misses                      8 r             8 r            12 r             8 i             8 i             8 i
# prefetchers
l1_stride_loads                         0 r             0 r             0 i           256 r           256 r           256 r
l2_stream_pages                        16 i            16 i            16 i            16 i            16 i            16 i
l2_stream_gap_lines                     4 m             4 m             4 i             4 m             4 m             4 m
l2_stream_burst_lines                   4 i             4 i             4 i             4 i             4 i             4 i
l2_stream_ahead_lines                  20 p            20 p            20 i            20 p            20 p            20 p
l2_prefetches_outstanding               6 m             8 m             8 i            10 m             8 m             8 m
next_page_prefetch                      0 i             0 i             0 i             0 i             0 i             0 i
adjacent_line_level                     2 m             2 m             2 i             2 m             2 m             2 m
# loads and older stores
blocked_forward_cycles                 13 i            13 i            13 i            13 i            13 i            13 i
disambiguation_loads                    0 r             0 r             0 i             0 r             0 r             0 r
address_alias_cycles                    0 i             5 r             5 r             5 r             5 r             5 r
one_physical_page                       0               0               0               0               0               0
machine_clear_cycles                   20 r            20 r            20 r            20 r            20 r            20 r
# branches that go wrong, and where uops come from
mispredict_penalty                     17 m            10 l            12 r            12 r            13 r            13 r
resteer_cycles                          7 r             5 p             5 p             5 i             5 i             5 i
l1i_miss_penalty                        8               8               8               8               8               8
uop_queue_entries                      32 p            32 r            32 i            32 i            32 i            64 i
uop_cache_lines                         0 r             0 r             0 r             0 r             0 r             0 r
uop_cache_ways                          -               -               -               -               -               -
uop_cache_line_uops                     -               -               -               -               -               -
uop_cache_window_bytes                  -               -               -               -               -               -
uop_cache_window_lines                  -               -               -               -               -               -
uop_cache_uops_per_cycle                -               -               -               -               -               -
decoder_switch_cycles                   -               -               -               -               -               -
loop_buffer_uops                        0 r            32 r             0 r             0 r             0 r             0 r
loop_buffer_unrolls                     0 r             0 r             0 r             0 r             0 r             0 r
decoders                                2 r             2 p             2 p             3 p             3 p             6 p
fetch_bytes                            16 r            16 r            16 p            16 r            16 r            32 p
microcode_switch_cycles                 3 i             3 i             3 i             3 i             3 i             3 i
length_change_cycles                    3 i             3 i             3 i             3 i             3 i             3 i
macro_fusion                         none            none            none            none            none            none
move_elimination                     none            none            none             all             all             all
move_slots                              0 i             0 i             0 i             0 i             0 i             0 i
move_slot_cycles                        2               2               2               2               2               2
last_name_keeps_slot                    0               0               0               0               0               0
forwarding_cycles                       1 m             7 m             9 m             6 m             6 m             6 m
system_call_cycles                    150 r           100 r           100 r           100 r           100 r           100 r
# predictors
btb_entries                           128 p          4096 i          4096 i          4096 i          4096 i          4096 i
return_stack_entries                    8 p            16 r            16 r            16 r            16 r            16 r
predictor                            tage            tage            tage            tage            tage            tage
predictor_tables                        2 i             4 i             4               4               4               4
predictor_entries                     512 i           512 i           512             512             512             512
predictor_history                      12 r            32 i            32              32              32              32
# latencies and page walks
memory_latency_cycles                 183 m           201 m           195 r           195 m           182 m           177 m
snoop_cycles                           30              30              30              30              30              30
modified_snoop_cycles                  36              36              36              36              36              36
remote_cycles                         190             190             190             190             190             190
stlb_latency_cycles                     0 c             0 c             0 c             0 c             5 m             6 m
page_walk_cycles                       18 m            18 m            18 i            17 i            17 m            17 m
page_walk_loads                         1 i             1 i             1 i             1 i             1 i             1 i
# TLBs
itlb_entries                           32 c            48 c            48 c            48 c            48 c            48 c
itlb_ways                              32 c            48 c            48 c            48 c            48 c            48 c
dtlb_entries                           64 c           128 c           256 c           512 c            32 c            48 c
dtlb_ways                               4 c             4 c             8 c             4 c            32 c            48 c
stlb_entries                            0 c             0 c             0 c             0 c           512 c          1024 c
stlb_ways                               1 c             1 c             1 c             1 c             4 c             4 c
# caches: bytes/ways/cycles
l1i                               32K/8/3 c       32K/8/3 c       32K/8/3 c       32K/8/3 c       32K/8/3 c       32K/8/3 c
l1d                               24K/6/3 m       24K/6/3 m       32K/8/4 m       24K/6/3 m       24K/6/3 m       32K/8/3 m
l2                              512K/8/16 m      1M/16/14 m      1M/16/17 r      1M/16/17 m      4M/16/19 m   4608K/18/20 r
l3                                  0/0/0 c         0/0/0 c         0/0/0 c         0/0/0 c         0/0/0 c      4M/16/53 m
line_bytes                             64              64              64              64              64              64
l2_cores                                1               2 r             2 r             2 p             4 p             4 p
l2_transfers                            0               1 i             1 i             1 i             1 i             0 i
# clocks
tsc_hz                              1595M m         1999M m         1300M r         1497M m         1497M m         1996M m
bus_hz                          133333333            100M            100M            100M            100M            100M
tsc_per_core_cycle_numerator            1               1               1               1               1               1
tsc_per_core_cycle_denominator          1               1               1               1               1               1
# rules of decoders and renamers: A. Abel and J. Reineke, "uiCA" (ICS 2022), and what uops.info measured; Intel's
# optimization manual
predecode_instructions                  0               0               0               0               0               0
last_decoder_leaves_pairs               0               0               0               0               0               0
pop_r12_decoding                        0               0               0               0               0               0
stack_sync_uops                         0               0               0               0               0               0
merges_partial_registers                0               0               0               0               0               0
waits_for_old_destination               0               0               0               0               0               0
splits_indexed_operands                 0               0               0               0               0               0
splits_constants_at_rip                 0               0               0               0               0               0
jump_border_erratum                     0               0               0               0               0               0
slow_address_cycles                     0               0               0               0               0               0
high_byte_merge_uops                    0               0               0               0               0               0
l1d_bank_bytes                          0               0               0               0               0               0
)";

}  // namespace pmusim::tables::parameters

#endif
