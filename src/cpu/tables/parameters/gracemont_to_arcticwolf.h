// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_PARAMETERS_GRACEMONT_TO_ARCTICWOLF_H
#define PMUSIM_SRC_CPU_TABLES_PARAMETERS_GRACEMONT_TO_ARCTICWOLF_H

#include <string_view>

/// Small cores from Gracemont to Arctic Wolf: what the timing model knows of them, and from where.
namespace pmusim::tables::parameters {

inline constexpr std::string_view gracemont_to_arcticwolf = R"(
                                     gracemont    sierraforest       crestmont         skymont  arrowlake-h-atom        darkmont  clearwaterforest      arcticwolf
# width and buffers
issue_width                                5 p             6 p             6 p             8 p               8 p             8 i               8 i             8 i
retire_width                               8 r             8 p             8 p            16 p              16 p            16 i              16 i            16 i
issue_order                     out_of_order    out_of_order    out_of_order    out_of_order      out_of_order    out_of_order      out_of_order    out_of_order
reorder_buffer_uops                      256 p           256 p           256 p           416 p             416 p           416 i             416 i           416 i
scheduler_uops                           140 i           140 i           140 i           240 i             240 i           240 i             240 i           240 i
load_buffer_entries                       80 r            80 i            80 i           114 r             114 r           114 r             114 r           114 i
store_buffer_entries                      50 r            50 i            50 i            56 r              56 r            56 r              56 r            56 i
outstanding_misses                        16 r            16 r            16 r            16 r              16 r            16 r              16 r            16 i
# prefetchers
l1_stride_loads                          256 r           256 r           256 r           256 r             256 r           256 i             256 i           256 i
l2_stream_pages                           16 i            16 i            16 i            16 i              16 i            16 i              16 i            16 i
l2_stream_gap_lines                        8 m             4 m             4 m             2 m               2 m             2 i               2 i             2 i
l2_stream_burst_lines                      8 i             4 i             4 i             4 i               4 i             4 i               4 i             4 i
l2_stream_ahead_lines                     20 p            20 p            20 p            20 p              20 p            20 i              20 i            20 i
l2_prefetches_outstanding                 16 m            16 m            16 m            16 m              16 m            16 i              16 i            16 i
next_page_prefetch                         0 i             0 i             0 i             0 i               0 i             0 i               0 i             0 i
adjacent_line_level                        2 m             2 m             2 m             2 m               2 m             2 i               2 i             2 i
# loads and older stores
blocked_forward_cycles                    13 i            13 i            13 i            13 i              13 i            13 i              13 i            13 i
disambiguation_loads                       0 r             0 r             0 r             0 r               0 r             0 i               0 i             0 i
address_alias_cycles                       5 r             5 r             5 r             5 r               5 r             5 r               5 r             5 r
one_physical_page                          0               0               0               0                 0               0                 0               0
machine_clear_cycles                      20 r            20 r            20 r            20 r              20 r            20 r              20 r            20 r
# branches that go wrong, and where uops come from
mispredict_penalty                        14 r            14 r            14 r            15 i              15 i            15 i              15 i            15 i
resteer_cycles                             5 i             5 i             5 i             5 i               5 i             5 i               5 i             5 i
l1i_miss_penalty                           8               8               8               8                 8               8                 8               8
uop_queue_entries                         64 p            64 p            64 p            96 p              96 p            96 i              96 i            96 i
uop_cache_lines                            0 r             0 r             0 r             0 r               0 r             0 r               0 r             0 r
uop_cache_ways                             -               -               -               -                 -               -                 -               -
uop_cache_line_uops                        -               -               -               -                 -               -                 -               -
uop_cache_window_bytes                     -               -               -               -                 -               -                 -               -
uop_cache_window_lines                     -               -               -               -                 -               -                 -               -
uop_cache_uops_per_cycle                   -               -               -               -                 -               -                 -               -
decoder_switch_cycles                      -               -               -               -                 -               -                 -               -
loop_buffer_uops                           0 r             0 r             0 r             0 r               0 r             0 r               0 r             0 r
loop_buffer_unrolls                        0 r             0 r             0 r             0 r               0 r             0 r               0 r             0 r
decoders                                   6 p             6 p             6 p             9 p               9 p             9 r               9 r             9 i
fetch_bytes                               32 p            32 p            32 p            48 i              48 i            48 i              48 i            48 i
microcode_switch_cycles                    3 i             3 i             3 i             3 i               3 i             3 i               3 i             3 i
length_change_cycles                       3 i             3 i             3 i             3 i               3 i             3 i               3 i             3 i
macro_fusion                            none            none            none            none              none            none              none            none
move_elimination                         all             all             all             all               all             all               all             all
move_slots                                 0 i             0 i             0 i             0 i               0 i             0 i               0 i             0 i
move_slot_cycles                           2               2               2               2                 2               2                 2               2
last_name_keeps_slot                       0               0               0               0                 0               0                 0               0
forwarding_cycles                          7 m             7 m             7 m             7 m               7 m             7 m               7 m             7 i
system_call_cycles                       100 r           100 r           100 r           100 r             100 r           100 r             100 r           100 i
# predictors
btb_entries                             5120 p          6144 r          6144 r          8192 r            8192 r          8192 r            8192 r          8192 i
return_stack_entries                      64 r            64 r            64 r           128 r             128 r           128 r             128 r           128 i
predictor                               tage            tage            tage            tage              tage            tage              tage            tage
predictor_tables                           4               4               4               4                 4               4                 4               4
predictor_entries                        512             512             512             512               512             512               512             512
predictor_history                         32              32              32              32                32              32                32              32
# latencies and page walks
memory_latency_cycles                    265 m           300 i           332 m           282 m             282 m           282 i             282 i           282 i
snoop_cycles                              30              30              30              30                30              30                30              30
modified_snoop_cycles                     36              36              36              36                36              36                36              36
remote_cycles                            190             190             190             190               190             190               190             190
stlb_latency_cycles                        6 m             6 m             6 m             6 m               6 m             6 m               6 m             6 i
page_walk_cycles                          17 m            17 m            17 m            17 m              17 m            17 m              17 m            17 i
page_walk_loads                            1 i             1 i             1 i             1 i               1 i             1 i               1 i             1 i
# TLBs
itlb_entries                              64 c            64 c            64 c           128 c             128 c           128 c             128 c           128 i
itlb_ways                                 64 c            64 c            64 c           128 c             128 c           128 c             128 c           128 i
dtlb_entries                              48 c            48 c            48 c            48 c              48 c            48 c              48 c            48 i
dtlb_ways                                 48 c            48 c            48 c            48 c              48 c            48 c              48 c            48 i
stlb_entries                            2048 c          3072 c          3072 c          4096 c            4096 c          4096 c            4096 c          4096 i
stlb_ways                                  4 c             6 c             6 c             4 c               4 c             4 c               4 c             4 i
# caches: bytes/ways/cycles
l1i                                  64K/8/3 c       64K/8/3 c       64K/8/3 c       64K/8/3 c         64K/8/3 c       64K/8/3 c         64K/8/3 c       64K/8/3 i
l1d                                  32K/8/3 m       32K/8/3 m       32K/8/3 m       32K/8/4 m         32K/8/4 m       32K/8/4 i         32K/8/4 i       32K/8/4 i
l2                                  2M/16/19 m      4M/16/19 i      2M/16/19 m      4M/16/19 m        4M/16/19 m      4M/16/19 i        4M/16/19 i      4M/16/19 i
l3                                  6M/12/55 m    108M/12/80 i     24M/12/56 m      8M/16/60 i       24M/12/58 i      8M/16/60 i      288M/18/90 i     36M/12/60 i
line_bytes                                64              64              64              64                64              64                64              64
l2_cores                                   4 p             4 r             4 r             4 p               4 p             4 r               4 r             4 i
l2_transfers                               0 i             0 r             0 r             1 r               1 r             1 i               1 i             1 i
# clocks
tsc_hz                                 1690M c         2200M i         2995M m         3302M c           3686M c         3302M c           2200M i         3302M i
bus_hz                                  100M            100M            100M            100M              100M            100M              100M            100M
tsc_per_core_cycle_numerator               1               1               1               1                 1               1                 1               1
tsc_per_core_cycle_denominator             1               1               1               1                 1               1                 1               1
# rules of decoders and renamers: A. Abel and J. Reineke, "uiCA" (ICS 2022), and what uops.info measured; Intel's
# optimization manual
predecode_instructions                     0               0               0               0                 0               0                 0               0
last_decoder_leaves_pairs                  0               0               0               0                 0               0                 0               0
pop_r12_decoding                           0               0               0               0                 0               0                 0               0
stack_sync_uops                            0               0               0               0                 0               0                 0               0
merges_partial_registers                   0               0               0               0                 0               0                 0               0
waits_for_old_destination                  0               0               0               0                 0               0                 0               0
splits_indexed_operands                    0               0               0               0                 0               0                 0               0
splits_constants_at_rip                    0               0               0               0                 0               0                 0               0
jump_border_erratum                        0               0               0               0                 0               0                 0               0
slow_address_cycles                        0               0               0               0                 0               0                 0               0
high_byte_merge_uops                       0               0               0               0                 0               0                 0               0
l1d_bank_bytes                             0               0               0               0                 0               0                 0               0
)";

}  // namespace pmusim::tables::parameters

#endif
