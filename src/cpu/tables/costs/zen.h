// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_COSTS_ZEN_H
#define PMUSIM_SRC_CPU_TABLES_COSTS_ZEN_H

#include <string_view>

/// AMD's from Zen to Zen 5: what instructions cost.
namespace pmusim::tables::instruction_costs {

inline constexpr std::string_view zen = R"(
# Cycles and macro-ops are uops.info's of Zen to Zen 4, some of them by analogy, but for those that LLVM's scheduling model has (l)
# and recalled ones (r). Where uops.info bounds the sum of a way to the other register file and back, the way back is
# taken to be 2 cycles. Divisions cost what small operands do. Vectors of 256 bits are two macro-ops on Zen; Zen 2 is the
# first with paths of 256 bits, Zen 3 with stores, branches and moves to general registers beside the pipes of
# arithmetic; vectors of 512 bits are one macro-op on Zen 4 that its pipe takes twice. Of Zen 5 no table of measurements is
# at hand: widths and ports are those that AMD showed (Hot Chips 2024), the rest is Zen 4's. Recalled: additions forwarded
# to additions, and vector integers a cycle longer, as the press found.
# ALUs are ports 0 to 3 (0 to 5 on Zen 5), then come units for addresses; the floating-point pipes are 8 to 11 (10 to
# 13), as FP0 to FP3 in what uops.info saw do the work. What goes through one unit there, such as data of stores, has a
# port here that is no pipe of silicon's.
                                   naples            rome         milan         genoa         turin
# ports by the kind of work that they do
ports.alu                         0,1,2,3         0,1,2,3       0,1,2,3       0,1,2,3   0,1,2,3,4,5
ports.shift                       0,1,2,3         0,1,2,3           1,2           1,2         0,1,2
ports.condition                   0,1,2,3         0,1,2,3           0,3           0,3         3,4,5
ports.multiply                          1               1             1             1         0,1,2
ports.branch                          0,3             0,3           0,7           0,7         3,4,5
ports.taken_branch                      3               3           0,7           0,7         3,4,5
ports.lea                         0,1,2,3         0,1,2,3       0,1,2,3       0,1,2,3   0,1,2,3,4,5
ports.lea_three                       0,1             0,1       0,1,2,3       0,1,2,3   0,1,2,3,4,5
ports.scan                        0,1,2,3         0,1,2,3       0,1,2,3       0,1,2,3         0,1,2
ports.load                            4,5             4,5         4,5,6         4,5,6       6,7,8,9
ports.vector_load                   16,17           16,17         16,17         16,17         16,17
ports.store_address                   4,5           4,5,6         4,5,6         4,5,6       6,7,8,9
ports.store_data                        7               7         14,15         14,15         14,15
ports.fp_add                        10,11           10,11         10,11         10,11         12,13
ports.fp_multiply                     8,9             8,9           8,9           8,9         10,11
ports.fp_divide                        11              11           8,9           8,9         10,11
ports.fp_compare                      8,9             8,9         10,11         10,11         12,13
ports.vector                       8,9,11          8,9,11     8,9,10,11     8,9,10,11   10,11,12,13
ports.logic                     8,9,10,11       8,9,10,11     8,9,10,11     8,9,10,11   10,11,12,13
ports.shuffle                        9,10            9,10          9,10       9,10,11      11,12,13
ports.lanes                            10              10           8,9           8,9         10,11
ports.vector_multiply                   8               8          8,11          8,11         10,13
ports.vector_shift                     10              10          9,10          9,10         11,12
ports.to_vector                        18              18            18            18            18
ports.from_vector                      10              10         12,13         12,13         19,20
ports.convert                          11              11         10,11         10,11         12,13
ports.convert_precision                11              11         10,11         10,11         12,13
ports.encryption                      8,9             8,9           8,9           8,9         10,11
read_modify_write_uops                  1               1             1             2             2
# divisions of 128 by 64 bits whose quotient is small: cycles between independent ones, and of a chain
small_quotient_cycles                   -               -             -             -             -
small_quotient_latency                  -               -             -             -             -
# forms
alu                              1/0.25          1/0.25        1/0.25        1/0.25        1/0.17
nop                               0/0.2           0/0.2         0/0.2         0/0.2         0/0.2
move                             1/0.25          1/0.25        1/0.25        1/0.25        1/0.12
adc                              1/0.25          1/0.25         1/0.5         1/0.5         1/0.5
lea                              1/0.25          1/0.25        1/0.25        1/0.25        1/0.17
lea_three                        2/0.53          2/0.53       2/0.5/2       2/0.5/2       2/0.5/2
lea_scaled                       2/0.53          2/0.53       2/0.5/2       2/0.5/2       2/0.5/2
shift                            1/0.25          1/0.25         1/0.5         1/0.5        1/0.33
shift_by_cl                      1/0.25          1/0.25         1/0.5         1/0.5        1/0.33
rotate                           1/0.25          1/0.25         1/0.5         1/0.5        1/0.33
double_shift                      3/3/6 r         3/3/6 r     2/1.5/4       2/1.5/4       2/1.5/4
set                              1/0.25          1/0.25         1/0.5         1/0.5        1/0.33
cmov                             1/0.25          1/0.25         1/0.5         1/0.5        1/0.33
bswap                            1/0.25          1/0.25        1/0.25        1/0.25        1/0.25
xchg                            1/0.5/2         1/0.5/2       1/0.5/2       1/0.5/2       1/0.5/2
imul_32                             3/1             3/1           3/1           3/1        3/0.33
imul_64                             3/1             3/1           3/1           3/1        3/0.33
mul_wide                          4/2/2           4/1/2         4/1/2         4/1/2      4/0.67/2
div_32                          14/14/2         14/14/2        10/6/2        10/6/2        10/6/2
div_64                          14/14/2         14/14/2        10/7/2        10/7/2        10/7/2
idiv_64                         14/14/2         14/14/2        10/7/2        10/7/2        10/7/2
bit_scan                          3/3/6 l         3/3/6 l       3/3/6 l     1/1/1/4 l     1/1/1/3
popcnt                           1/0.25          1/0.25        1/0.25        1/0.25        1/0.33
lzcnt                            1/0.25          1/0.25        1/0.25        1/0.25        1/0.33
tzcnt                           2/0.5/2         2/0.5/2       2/0.5/2       2/0.5/2       2/0.5/2
pdep                            18/19/8 r       18/19/8 r         3/1 l         3/1 l         3/1 l
call                              1/1/2           1/1/2         1/1/2         1/1/2         1/1/2
indirect_call                     1/2/2           1/2/2         1/2/2         1/2/2         1/2/2
ret                               1/1/1 r         1/1/1 r       1/1/1 r       1/1/1 r       1/1/1 r
vector_load                       3/0.5           3/0.5         3/0.5         3/0.5         3/0.5
load_fence                        8/8/1 r         8/8/1 r       8/8/1 r       8/8/1 r       8/8/1 r
store_fence                     14/14/1 r       14/14/1 r     14/14/1 r     14/14/1 r     14/14/1 r
memory_fence                    70/70/7 r       70/70/7 r     70/70/7 r     70/70/7 r     70/70/7 r
locked                        21/22.5/1       16/17.5/1      7/7.48/1       7/7.4/1       7/7.4/1
pause                               0/3 r          0/64 r        0/64 r        0/64 r        0/64 r
rdtsc                           0/38/38 r       0/38/38 r     0/36/44       0/36/44       0/36/44
cpuid                      121/121.5/68    125/125.5/77    128/128/82    128/128/82    128/128/82
pushf_popf                     17/17/30 r      17/17/30 r    17/17/30 r    17/17/30 r    17/17/30 r
cmpxchg_16                     16/15/22 r      16/15/22 r    16/15/22 r    16/15/22 r    16/15/22 r
load_mxcsr                        0/2/1           0/2/1       0/1.5/1       0/1.5/1       0/1.5/1
string                            3/3/5           3/3/5         3/3/5         3/3/5         3/3/5
clflush                            0/60 r          0/60 r        0/60 r        0/60 r        0/60 r
x87_add                             5/1 r           5/1 r         5/1 r         5/1 r         5/1 r
x87_multiply                        5/1 r           5/1 r         5/1 r         5/1 r         5/1 r
x87_divide                         15/6 r          15/6 r        15/6 r        15/6 r        15/6 r
x87_transcendental                50/50 r         50/50 r       50/50 r       50/50 r       50/50 r
add_scalar_single                 3/0.5           3/0.5         3/0.5         3/0.5         2/0.5
add_scalar_double                 3/0.5           3/0.5         3/0.5         3/0.5         2/0.5
add_single                        3/0.5           3/0.5         3/0.5         3/0.5         2/0.5
add_double                        3/0.5           3/0.5         3/0.5         3/0.5         2/0.5
add_256                           3/1/2           3/0.5         3/0.5         3/0.5         2/0.5
add_512                               -               -             -           3/1         2/0.5
multiply_scalar_single            3/0.5           3/0.5         3/0.5         3/0.5         3/0.5
multiply_scalar_double            4/0.5 l         3/0.5         3/0.5         3/0.5         3/0.5
multiply_double                   4/0.5 l         3/0.5         3/0.5         3/0.5         3/0.5
multiply_256                      3/1/2           3/0.5         3/0.5         3/0.5         3/0.5
multiply_512                          -               -             -           3/1         3/0.5
fma_scalar                        5/0.5 l         5/0.5 l       4/0.5         4/0.5         4/0.5
fma_256                           5/1/2 l         5/0.5 l       4/0.5         4/0.5         4/0.5
fma_512                               -               -             -           4/1         4/0.5
divide_scalar_single               10/3          10/3.5        10/3.5          11/3          11/3
divide_single                      10/3          10/3.5        10/3.5          11/3          11/3
divide_scalar_double               13/4            13/5        13/4.5          13/5          13/5
divide_double                      13/4            13/5        13/4.5          13/5          13/5
divide_256_single                10/6/2          10/3.5        10/3.5          11/3          11/3
divide_256_double                13/8/2            13/5        13/4.5          13/5          13/5
square_root_scalar_single          14/5 l          14/7 l        14/5          15/5 l        15/5 l
square_root_scalar_double          20/8 l         20/10 l      20/8.5          21/9 l        21/9 l
square_root_double                 20/8 l         20/10 l      20/8.5          21/9 l        21/9 l
square_root_256_single          14/10/2 l          14/7 l        14/5          15/5 l        15/5 l
square_root_256_double          20/16/2 l         20/10 l      20/8.5          21/9 l        21/9 l
reciprocal                        5/0.5 l         5/0.5 l       3/0.5         4/0.5 l       4/0.5 l
compare_flags                     0/1/2           0/1/2         0/1/2         0/1/2         0/1/2
compare                           1/0.5           1/0.5         1/0.5         2/0.5         2/0.5
minimum                           1/0.5           1/0.5         1/0.5         2/0.5         2/0.5
round                             4/1/1           3/1/1 l     3/0.5/1       3/0.5/1       3/0.5/1
convert_from_integer              8/1/2           7/1/2         7/1/2      6/1.25/2      6/1.25/2
convert_to_integer                8/1/2           7/1/2         7/1/2         6/1/2         6/1/2
convert_packed                      4/1             3/1         3/0.5         3/0.5         3/0.5
convert_to_double                 4/1/1           3/1/1       3/0.5/1       3/0.5/1       3/0.5/1
convert_to_single                 4/1/1           3/1/1       3/0.5/1       3/0.5/1       3/0.5/1
move_to_vector                      3/1             3/1           3/1           3/1           3/1
move_from_vector                    2/1             2/1           2/1           2/1           2/1
logic                            1/0.25          1/0.25        1/0.25        1/0.25        2/0.25
vector_add                       1/0.33          1/0.33        1/0.25        1/0.25        2/0.25
vector_add_256               1/0.67/2/2          1/0.33        1/0.25        1/0.25        2/0.25
vector_add_512                        -               -             -     1/0.5/1/2        2/0.25
vector_shift                        1/1             1/1         1/0.5         1/0.5         2/0.5
multiply_low_32                     4/2             4/2         3/0.5         3/0.5         3/0.5
multiply_low_16                     3/1             3/1         3/0.5         3/0.5         3/0.5
multiply_add_16                     3/1             3/1         3/0.5         3/0.5         3/0.5
multiply_wide_32                    3/1             3/1         3/0.5         3/0.5         3/0.5
sum_differences                     3/1             3/1         3/0.5         3/0.5         3/0.5
shuffle_bytes                     1/0.5           1/0.5         1/0.5         1/0.5         2/0.5
shuffle                           1/0.5           1/0.5         1/0.5        1/0.33        2/0.33
unpack                            1/0.5           1/0.5         1/0.5        1/0.33        2/0.33
blend_variable                1/0.5/1/2       1/0.5/1/2     1/0.5/1/2     1/0.5/1/2     1/0.5/1/2
horizontal_add                    6/2/4           6/2/4         6/2/4         4/2/4         4/2/4
dot_product                      15/4/8          15/4/8        15/4/8        11/4/8        11/4/8
permute_lanes                     3/3/8 r           3/1           3/1           3/1           3/1
permute_words                     5/4/3 r         8/2/2 l    8/1.17/2         5/1/2 l       5/1/2 l
insert_lane                    1/0.67/2             1/1       1/1/1/2         1/0.5         2/0.5
extract_lane                     3/0.37             3/1           3/1        1/0.25        2/0.25
mask_bytes                          0/1             0/1           0/1           0/1           0/1
vector_test                       0/1/1           0/1/1         0/1/2         0/1/2         0/1/2
aes_encode                        4/0.5           4/0.5         4/0.5         4/0.5         4/0.5
aes_decode                        4/0.5           4/0.5         4/0.5         4/0.5         4/0.5
carryless_multiply                4/2/4           4/2/4         4/2/4         4/2/4         4/2/4
sha                                 4/2 l           4/2 l         4/2 l         4/2 l         4/2 l
gather_single_256              24/20/66 r      22/16/60 r     20/8/39 r     20/8/39 r     20/8/39 r
gather_128                     20/12/35 r       20/9/35 r     18/4/24 r     18/4/24 r     18/4/24 r
gather_256                     24/20/66 r      22/16/60 r     20/8/39 r     20/8/39 r     20/8/39 r
gather_quad_256                20/12/35 r       20/9/35 r     18/6/24 r     18/6/24 r     18/6/24 r
)";

}  // namespace pmusim::tables::instruction_costs

#endif
