// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_PARAMETERS_GOLDENCOVE_TO_COYOTECOVE_H
#define PMUSIM_SRC_CPU_TABLES_PARAMETERS_GOLDENCOVE_TO_COYOTECOVE_H

#include <string_view>

/// P cores from Golden Cove to Coyote Cove: what the timing model knows of them, and from where.
namespace pmusim::tables::parameters {

inline constexpr std::string_view goldencove_to_coyotecove = R"(
                                    goldencove  sapphirerapids   emeraldrapids     redwoodcove   graniterapids        lioncove     arrowlake-h      cougarcove   diamondrapids      coyotecove
# width and buffers
issue_width                                6 p             6 p             6 p             6 p             6 p             8 p             8 p             8 p             8 i             8 i
retire_width                               8 p             8 p             8 p             8 p             8 p            12 p            12 p            12 p            12 i            12 i
issue_order                     out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order    out_of_order
reorder_buffer_uops                      512 p           512 p           512 p           512 p           512 p           576 p           576 p           576 i           576 i           576 i
scheduler_uops                           205 r           205 r           205 r           205 r           205 r           338 l           338 l           338 i           338 i           338 i
load_buffer_entries                      192 p           192 p           192 p           192 p           192 p           189 r           189 r           189 i           189 i           189 i
store_buffer_entries                     114 p           114 p           114 p           114 p           114 p           120 r           120 r           120 i           120 i           120 i
outstanding_misses                        16 p            16 p            16 p            16 p            16 p            16 i            16 i            16 i            16 i            16 i
# prefetchers
l1_stride_loads                          256 r           256 r           256 r           256 r           256 r           256 r           256 r           256 i           256 i           256 i
l2_stream_pages                           32 r            32 r            32 r            32 r            32 r            32 r            32 r            32 i            32 i            32 i
l2_stream_gap_lines                        8 m             8 m             8 m             8 m             8 m             4 m             4 m             4 i             4 i             4 i
l2_stream_burst_lines                      8 i             8 i             8 i             8 i             8 i             8 i             8 i             8 i             8 i             8 i
l2_stream_ahead_lines                     20 p            20 p            20 p            20 p            20 p            20 p            20 p            20 i            20 i            20 i
l2_prefetches_outstanding                 48 r            48 r            48 r            48 r            48 r            48 r            48 r            48 i            48 i            48 i
next_page_prefetch                         1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i
adjacent_line_level                        0 m             0 m             0 m             0 m             0 m             2 m             2 m             2 i             2 i             2 i
# loads and older stores
blocked_forward_cycles                    13 p            13 p            13 p            13 p            13 p            13 p            13 p            13 i            13 i            13 i
disambiguation_loads                     256 r           256 r           256 r           256 r           256 r           256 r           256 r           256 i           256 i           256 i
address_alias_cycles                       5 r             5 r             5 r             5 r             5 r             5 r             5 r             5 r             5 r             5 r
one_physical_page                          0               0               0               0               0               0               0               0               0               0
machine_clear_cycles                      20 r            20 r            20 r            20 r            20 r            20 r            20 r            20 r            20 r            20 r
# branches that go wrong, and where uops come from
mispredict_penalty                        17 r            17 r            17 r            17 r            17 r            18 i            18 i            18 i            18 i            18 i
resteer_cycles                            10 i            10 i            10 i            10 i            10 i            10 i            10 i            10 i            10 i            10 i
l1i_miss_penalty                           8               8               8               8               8               8               8               8               8               8
uop_queue_entries                        144 p           144 p           144 p           192 r           192 r           192 r           192 r           192 r           192 i           192 i
uop_cache_lines                          512 p           512 p           512 p           512 p           512 p           656 i           656 i           656 i           656 i           656 i
uop_cache_ways                             8 p             8 p             8 p             8 p             8 p             8 i             8 i             8 i             8 i             8 i
uop_cache_line_uops                        8 p             8 p             8 p             8 p             8 p             8 i             8 i             8 i             8 i             8 i
uop_cache_window_bytes                    64 r            64 r            64 r            64 r            64 r            64 r            64 r            64 r            64 r            64 r
uop_cache_window_lines                     6 i             6 i             6 i             6 i             6 i             6 i             6 i             6 i             6 i             6 i
uop_cache_uops_per_cycle                   8 p             8 p             8 p             8 p             8 p            12 p            12 p            12 p            12 i            12 i
decoder_switch_cycles                      2 p             2 p             2 p             2 p             2 p             2 p             2 p             2 p             2 p             2 p
loop_buffer_uops                          72 l            72 l            72 l            72 i            72 i           200 l           200 l           200 l           200 i           200 i
loop_buffer_unrolls                        1 l             1 l             1 l             1 i             1 i             1 l             1 l             1 l             1 i             1 i
decoders                                   6 p             6 p             6 p             6 p             6 p             8 p             8 p             8 p             8 i             8 i
fetch_bytes                               32 p            32 p            32 p            32 p            32 p            64 i            64 i            64 i            64 i            64 i
microcode_switch_cycles                    3 p             3 p             3 p             3 p             3 p             3 p             3 p             3 p             3 i             3 i
length_change_cycles                       3 r             3 r             3 r             3 r             3 r             3 r             3 r             3 r             3 r             3 r
macro_fusion                        ice_lake        ice_lake        ice_lake        ice_lake        ice_lake        ice_lake        ice_lake        ice_lake        ice_lake        ice_lake
move_elimination                         all             all             all             all             all             all             all             all             all             all
move_slots                                 0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i
move_slot_cycles                           2               2               2               2               2               2               2               2               2               2
last_name_keeps_slot                       0               0               0               0               0               0               0               0               0               0
forwarding_cycles                          6 m             6 m             6 m             6 m             6 m             6 m             6 m             6 m             6 i             6 i
system_call_cycles                        90 r            90 r            90 r            90 r            90 r            90 r            90 r            90 r            90 i            90 i
# predictors
btb_entries                            12288 p         12288 p         12288 p         12288 p         12288 p         12288 p         12288 p         12288 p         12288 i         12288 i
return_stack_entries                      24 r            24 r            24 r            24 r            24 r            24 r            24 r            24 r            24 i            24 i
predictor                               tage            tage            tage            tage            tage            tage            tage            tage            tage            tage
predictor_tables                           6 i             6 i             6 i             6               6               6               6               6               6               6
predictor_entries                       1024 i          1024 i          1024 i          1024            1024            1024            1024            1024            1024            1024
predictor_history                        194 r           194 r           194 r           194             194             194             194             194             194             194
# latencies and page walks
memory_latency_cycles                    307 m           300 r           250 r           358 m           360 r           396 r           423 m           396 i           396 i           396 i
snoop_cycles                              30              30              30              30              30              30              30              30              30              30
modified_snoop_cycles                     36              36              36              36              36              36              36              36              36              36
remote_cycles                            190             190             190             190             190             190             190             190             190             190
stlb_latency_cycles                        5 m             5 m             5 m             5 m             5 m             5 m             5 m             5 m             5 i             5 i
page_walk_cycles                          15 i            15 i            15 i            15 i            15 i            15 i            15 i            15 i            15 i            15 i
page_walk_loads                            1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i
# TLBs
itlb_entries                             256 c           256 c           256 c           256 c           256 c           256 c           256 c           256 c           256 i           256 i
itlb_ways                                  8 c             8 c             8 c             8 c             8 c             8 c             8 c             8 c             8 i             8 i
dtlb_entries                              96 p            96 p            96 p            96 c            96 c           128 c           128 c           128 c           128 i           128 i
dtlb_ways                                  6 p             6 p             6 p             6 c             6 c             8 c             8 c             8 c             8 i             8 i
stlb_entries                            2048 c          2048 c          2048 c          2048 c          2048 c          2048 c          2048 c          3072 c          3072 i          3072 i
stlb_ways                                 16 c            16 c            16 c            16 c            16 c            16 c            16 c            12 c            12 i            12 i
# caches: bytes/ways/cycles
l1i                                  32K/8/4 c       32K/8/4 c       32K/8/4 c      64K/16/5 c      64K/16/5 c      64K/16/5 c      64K/16/5 c      64K/16/5 c      64K/16/5 i      64K/16/5 i
l1d                                 48K/12/5 m      48K/12/5 m      48K/12/5 m      48K/12/5 m      48K/12/5 m      48K/12/4 m      48K/12/4 m      48K/12/4 i      48K/12/4 i      48K/12/4 i
l2                               1280K/10/15 m      2M/16/16 r      2M/16/16 i      2M/16/16 m      2M/16/16 i   2560K/10/17 p      3M/12/16 m      3M/12/17 i      3M/12/17 i      3M/12/17 i
l3                                 30M/12/65 m    105M/15/73 r    160M/20/75 i     24M/12/70 m    480M/16/80 r     12M/12/51 r     24M/12/70 i     12M/12/55 i    480M/16/80 i     36M/12/60 i
line_bytes                                64              64              64              64              64              64              64              64              64              64
l2_cores                                   1               1               1               1               1               1               1               1               1               1
l2_transfers                               0               0               0               0               0               0               0               0               0               0
# clocks
tsc_hz                                 3187M m         2592M c         2200M c         2995M m            3G c         3302M c         3686M c         3302M c         3302M i         3302M i
bus_hz                                  100M            100M            100M            100M            100M            100M            100M            100M            100M            100M
tsc_per_core_cycle_numerator               1               1               1               1               1               1               1               1               1               1
tsc_per_core_cycle_denominator             1               1               1               1               1               1               1               1               1               1
# rules of decoders and renamers: A. Abel and J. Reineke, "uiCA" (ICS 2022), and what uops.info measured; Intel's
# optimization manual. Golden Cove's blocks of code have 32 bytes, so more instructions each
predecode_instructions                     0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i
last_decoder_leaves_pairs                  0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i
pop_r12_decoding                           0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i             0 i
stack_sync_uops                            1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i
merges_partial_registers                   8 i             8 i             8 i             8 i             8 i             8 i             8 i             8 i             8 i             8 i
waits_for_old_destination                  4 i             4 i             4 i             4 i             4 i             4 i             4 i             4 i             4 i             4 i
splits_indexed_operands                    2 i             2 i             2 i             2 i             2 i             2 i             2 i             2 i             2 i             2 i
splits_constants_at_rip                    1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i             1 i
jump_border_erratum                        0 p             0 p             0 p             0 p             0 p             0 p             0 p             0 p             0 p             0 p
slow_address_cycles                        0 m             0 m             0 m             0 m             0 m             0 m             0 m             0 m             0 m             0 m
high_byte_merge_uops                       1 m             1 m             1 m             1 m             1 m             1 m             1 m             1 m             1 m             1 m
l1d_bank_bytes                             0 p             0 p             0 p             0 p             0 p             0 p             0 p             0 p             0 p             0 p
)";

}  // namespace pmusim::tables::parameters

#endif
