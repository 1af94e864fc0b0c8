// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_PARAMETERS_GENOA_TO_STRIX_H
#define PMUSIM_SRC_CPU_TABLES_PARAMETERS_GENOA_TO_STRIX_H

#include <string_view>

/// AMD's Zen 4 and Zen 5: what the timing model knows of them, and from where.
namespace pmusim::tables::parameters {

inline constexpr std::string_view genoa_to_strix = R"(
# The TSC has the clock of P0, and memory takes so many cycles of it: measured nanoseconds, recalled. There are no
# delays for prefixes that change lengths, and one thread has four decoders on Zen 5 as well. Of pairs they
# fuse what the nearest of Intel's does: nehalem comparisons alone, sandy_bridge all that compute.
                                         genoa         raphael   raphael-early         phoenix         bergamo           turin   granite-ridge           strix
issue_width                                6 p             6 p             6 p             6 p             6 p             8 p             8 p             8 p
reorder_buffer_uops                      320 p           320 p           320 p           320 p           320 p           448 p           448 p           448 p
scheduler_uops                           224 p           224 p           224 p           224 p           224 p           354 r           354 r           354 r
load_buffer_entries                      136 m           136 m           136 m           136 m           136 m           202 r           202 r           202 r
store_buffer_entries                      64 p            64 p            64 p            64 p            64 p           104 r           104 r           104 r
outstanding_misses                        24 r            24 r            24 r            24 r            24 r            24 i            24 i            24 i
mispredict_penalty                        13 r            13 r            13 r            13 r            13 r            15 r            15 r            15 r
uop_queue_entries                        144 r           144 r           144 r           144 r           144 r           144 i           144 i           144 i
uop_cache_lines                          768 p           768 p           768 p           768 p           768 p          1024 p          1024 p          1024 p
uop_cache_ways                            12 r            12 r            12 r            12 r            12 r            16 r            16 r            16 r
uop_cache_line_uops                        9 p             9 p             9 p             9 p             9 p             6 p             6 p             6 p
uop_cache_window_bytes                    64 r            64 r            64 r            64 r            64 r            64 r            64 r            64 r
uop_cache_window_lines                     8 i             8 i             8 i             8 i             8 i             8 i             8 i             8 i
uop_cache_uops_per_cycle                   9 p             9 p             9 p             9 p             9 p            12 p            12 p            12 p
forwarding_cycles                          7 m             7 m             7 m             7 m             7 m             7 i             7 i             7 i
btb_entries                             7168 p          7168 p          7168 p          7168 p          7168 p         24576 r         24576 r         24576 r
return_stack_entries                      32 r            32 r            32 r            32 r            32 r            52 r            52 r            52 r
predictor                               tage            tage            tage            tage            tage            tage            tage            tage
predictor_tables                           4               4               4               4               4               4               4               4
predictor_entries                        512             512             512             512             512             512             512             512
predictor_history                         32              32              32              32              32              32              32              32
itlb_entries                              64 r            64 r            64 r            64 r            64 r            64 p            64 p            64 p
itlb_ways                                 64 r            64 r            64 r            64 r            64 r            64 r            64 r            64 r
dtlb_entries                              72 r            72 r            72 r            72 r            72 r            96 p            96 p            96 p
dtlb_ways                                 72 r            72 r            72 r            72 r            72 r            96 r            96 r            96 r
stlb_entries                            3072 r          3072 r          3072 r          3072 r          3072 r          4096 p          4096 p          4096 p
stlb_ways                                 24 r            24 r            24 r            24 r            24 r            16 r            16 r            16 r
l1i                                  32K/8/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c       32K/8/4 c
l1d                                  32K/8/4 m       32K/8/4 m       32K/8/4 m       32K/8/4 m       32K/8/4 m      48K/12/4 m      48K/12/4 m      48K/12/4 m
l2                                   1M/8/14 r       1M/8/14 r       1M/8/14 r       1M/8/14 r       1M/8/14 r      1M/16/14 r      1M/16/14 r      1M/16/14 r
l3                                 32M/16/50 r     32M/16/50 r     32M/16/50 r     16M/16/50 r     16M/16/50 r     32M/16/50 r     32M/16/50 r     16M/16/50 r
line_bytes                                64              64              64              64              64              64              64              64
l2_cores                                   1               1               1               1               1               1               1               1
l2_transfers                               0               0               0               0               0               0               0               0
retire_width                               8 p             8 p             8 p             8 p             8 p             8 p             8 p             8 p
issue_order                     out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order
decoders                                   4 p             4 p             4 p             4 p             4 p             4 p             4 p             4 p
fetch_bytes                               32 p            32 p            32 p            32 p            32 p            32 p            32 p            32 p
loop_buffer_uops                           0 r             0 r             0 r             0 r             0 r             0 r             0 r             0 r
loop_buffer_unrolls                        0 r             0 r             0 r             0 r             0 r             0 r             0 r             0 r
microcode_switch_cycles                    3 i             3 i             3 i             3 i             3 i             3 i             3 i             3 i
decoder_switch_cycles                      1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i
length_change_cycles                       0 r             0 r             0 r             0 r             0 r             0 r             0 r             0 r
macro_fusion                    sandy_bridge    sandy_bridge    sandy_bridge    sandy_bridge    sandy_bridge    sandy_bridge    sandy_bridge    sandy_bridge
move_elimination                         all             all             all             all             all             all             all             all
move_slots                                 0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i
move_slot_cycles                           2               2               2               2               2               2               2               2
last_name_keeps_slot                       0               0               0               0               0               0               0               0
resteer_cycles                             9 i             9 i             9 i             9 i             9 i             9 i             9 i             9 i
l1i_miss_penalty                           8               8               8               8               8               8               8               8
system_call_cycles                       100 i           100 i           100 i           100 i           100 i           100 i           100 i           100 i
page_walk_cycles                          20 i            20 i            20 i            20 i            20 i            20 i            20 i            20 i
page_walk_loads                            1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i
stlb_latency_cycles                        7 r             7 r             7 r             7 r             7 r             7 r             7 r             7 r
l1_stride_loads                          256 i           256 i           256 i           256 i           256 i           256 i           256 i           256 i
l2_stream_pages                           32 i            32 i            32 i            32 i            32 i            32 i            32 i            32 i
l2_stream_gap_lines                        2 i             2 i             2 i             2 i             2 i             2 i             2 i             2 i
l2_stream_burst_lines                      2 i             2 i             2 i             2 i             2 i             2 i             2 i             2 i
l2_stream_ahead_lines                     20 i            20 i            20 i            20 i            20 i            20 i            20 i            20 i
l2_prefetches_outstanding                 16 i            16 i            16 i            16 i            16 i            16 i            16 i            16 i
next_page_prefetch                         0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i
adjacent_line_level                        0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i
blocked_forward_cycles                    13 i            13 i            13 i            13 i            13 i            13 i            13 i            13 i
address_alias_cycles                       5 i             5 i             5 i             5 i             5 i             5 i             5 i             5 i
one_physical_page                          0               0               0               0               0               0               0               0
disambiguation_loads                     256 i           256 i           256 i           256 i           256 i           256 i           256 i           256 i
machine_clear_cycles                      20 i            20 i            20 i            20 i            20 i            20 i            20 i            20 i
tsc_hz                                 2400M c         4500M c         4500M c         3800M c         2250M c         2700M c         4300M c            2G c
bus_hz                                  100M            100M            100M            100M            100M            100M            100M            100M
tsc_per_core_cycle_numerator               1               1               1               1               1               1               1               1
tsc_per_core_cycle_denominator             1               1               1               1               1               1               1               1
memory_latency_cycles                    283 r           324 r           324 r           380 r           270 r           324 r           322 r           256 r
snoop_cycles                              30              30              30              30              30              30              30              30
modified_snoop_cycles                     36              36              36              36              36              36              36              36
remote_cycles                            190             190             190             190             190             190             190             190
# rules of decoders and renamers: A. Abel and J. Reineke, "uiCA" (ICS 2022), and what uops.info measured; Intel's
# optimization manual
predecode_instructions                     0               0               0               0               0               0               0               0
last_decoder_leaves_pairs                  0               0               0               0               0               0               0               0
pop_r12_decoding                           0               0               0               0               0               0               0               0
stack_sync_uops                            0               0               0               0               0               0               0               0
merges_partial_registers                   0               0               0               0               0               0               0               0
waits_for_old_destination                  0               0               0               0               0               0               0               0
splits_indexed_operands                    0               0               0               0               0               0               0               0
splits_constants_at_rip                    0               0               0               0               0               0               0               0
jump_border_erratum                        0               0               0               0               0               0               0               0
slow_address_cycles                        0               0               0               0               0               0               0               0
high_byte_merge_uops                       0               0               0               0               0               0               0               0
l1d_bank_bytes                             0               0               0               0               0               0               0               0
)";

}  // namespace pmusim::tables::parameters

#endif
