// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_COSTS_GOLDENCOVE_TO_LIONCOVE_H
#define PMUSIM_SRC_CPU_TABLES_COSTS_GOLDENCOVE_TO_LIONCOVE_H

#include <string_view>

/// P cores from Golden Cove to Lion Cove: what instructions cost.
namespace pmusim::tables::instruction_costs {

inline constexpr std::string_view goldencove_to_lioncove = R"(
# Golden Cove completes two taken branches in a cycle in small loops (Chips and Cheese), and so does Emerald Rapids where
# D. Lemire measured it ("More than a taken branch per cycle?", 2026).
# InstLatX64's measurements are of goldencove: 90672, P core, raptorcove: B0671, P core, redwoodcove: A06A4, P core,
# lioncove: C0662, P core. Cells marked l are of LLVM's scheduling models (of Lion Cove: those of its main branch, for
# lunarlake), and i: as the nearest core that was measured.
                                goldencove        raptorcove       redwoodcove                lioncove
# ports by the kind of work that they do
ports.alu                       0,1,5,6,10        0,1,5,6,10        0,1,5,6,10             0,1,2,3,4,5
ports.shift                            0,6               0,6               0,6                   0,2,4
ports.condition                        0,6               0,6               0,6                   0,2,4
ports.multiply                           1                 1                 1                   1,3,5
ports.branch                           0,6               0,6               0,6                   0,2,4
ports.taken_branch                     0,6               0,6               0,6                   0,2,4
ports.lea                       0,1,5,6,10        0,1,5,6,10        0,1,5,6,10             0,1,2,3,4,5
ports.lea_three                 0,1,5,6,10        0,1,5,6,10        0,1,5,6,10             0,1,2,3,4,5
ports.scan                               1                 1                 1                   1,3,5
ports.load                          2,3,11            2,3,11            2,3,11                20,21,22
ports.vector_load                        -                 -                 -                       -
ports.store_address                    7,8               7,8               7,8                25,26,27
ports.store_data                       4,9               4,9               4,9                   10,11
ports.fp_add                           1,5               1,5               1,5                     8,9
ports.fp_multiply                      0,1               0,1               0,1                     6,7
ports.fp_divide                          0                 0                 0                     6,7
ports.fp_compare                       1,5               1,5               1,5                     8,9
ports.vector                         0,1,5             0,1,5             0,1,5                 6,7,8,9
ports.logic                          0,1,5             0,1,5             0,1,5                 6,7,8,9
ports.shuffle                          1,5               1,5               1,5                     8,9
ports.lanes                              5                 5                 5                     8,9
ports.vector_multiply                  0,1               0,1               0,1                     6,7
ports.vector_shift                     0,1               0,1               0,1                     6,7
ports.to_vector                          5                 5                 5                       8
ports.from_vector                        0                 0                 0                       6
ports.convert                          1,5               1,5               1,5                     8,9
ports.convert_precision                1,5               1,5               1,5                     8,9
ports.encryption                       0,1               0,1               0,1                     6,7
read_modify_write_uops                   2                 2                 2                       2
# divisions of 128 by 64 bits whose quotient is small: cycles between independent ones, and of a chain
small_quotient_cycles                 9.96              9.98                10                      10
small_quotient_latency                   -                 -                 -                       -
# forms
alu                               0.99/0.2             1/0.2             1/0.2                  1/0.17
nop                                 0/0.17            0/0.18            0/0.17                  0/0.12
move                              0.99/0.2             1/0.2          0.99/0.2               0.99/0.17
adc                                 0.99/1               1/1               1/1                  1/0.99
lea                                  1/0.2             1/0.2             1/0.2                  1/0.17
lea_offset                       0.17/0.17         0.17/0.17 i       0.17/0.17 i             0.17/0.17 i
lea_indexed                1.99/0.33@1,5,6      2/0.33@1,5,6 i    2/0.33@1,5,6 i          2/0.33@1,3,5 i
lea_three                            1/0.2             1/0.2             1/0.2                  1/0.17
lea_scaled                 1.99/0.33@1,5,6      2/0.33@1,5,6      2/0.33@1,5,6         1.99/0.34@1,3,5
fold                             0.17/0.17         0.17/0.17         0.17/0.17               0.17/0.17
shift                             0.99/0.5             1/0.5             1/0.5               0.99/0.34
shift_by_cl                       0.99/1/2             1/1/2             1/1/2                  1/0.99
rotate                            0.99/0.5             1/0.5             1/0.5               0.99/0.34
rotate_carry_one                     2/2/3             2/2/3 i           2/2/3 i                 2/2/3 i
rotate_carry                         7/7/8             7/7/8 i           7/7/8 i                 7/7/8 i
set_two_flags                    2/1/2/0/1         2/1/2/0/1         2/1/2/0/1                       -
cmov                             0.99/0.84            1/0.79            1/0.52    0.99/0.2@0,1,2,3,4,5
cmov_two_flags                   2/1/2/0/1         2/1/2/0/1         2/1/2/0/1                       -
bit_test                             1/1@1             1/1@1 i           1/1@1 i          1/0.33@1,3,5 l
bswap                               1.99/1            1.99/1               2/1               1.99/0.99
bswap_32                             1/1@1             1/1@1 i           1/1@1 i                 1/1@1 i
xchg                                2.01/1            2.02/1            2.02/1                  2/0.99
compare_exchange                     5/5/5             5/5/5 i           5/5/5 i                 5/5/5 i
imul_32                             2.98/1            2.99/1            2.99/1               2.98/0.34
imul_64                             2.98/1            2.98/1            2.99/1               2.98/0.34
div_32                             15/5.97           15/5.99              15/6                 17/6.02
div_64                             18/9.96           18/9.98             18/10                   19/10
idiv_64                            18/9.96           18/9.98             18/10                   19/10
bit_scan                            2.98/1            2.99/1            2.99/1                  3.98/1
popcnt                              2.99/1               3/1               3/1                     4/1
lzcnt                               2.99/1               3/1               3/1                  3.98/1
tzcnt                               2.99/1               3/1            3.02/1                  3.98/1
pdep                                2.99/1               3/1               3/1                  3.98/1
load_fence                           12/12             12/12             12/12                   15/15
store_fence                      5.97/5.97         5.98/5.99               6/6               5.96/5.96
memory_fence                         38/38             38/38             38/38                   40/40
locked                               18/18             18/18             18/17                   20/20
pause                                0/160             0/160             0/229                    0/43
rdtsc                                 0/26              0/26              0/27                    0/27
cpuid                              123/123           123/124           109/110                 116/116
serialize                            0/105             0/105             0/104                   0/108
rdpid                               0/4.98            0/4.99               0/6                  0/4.97
rdrand                               0/971            0/1025             0/575                  0/1329
pushf_popf                           30/30             30/31             31/31                   32/32
push_flags                           0/1/4             0/1/4 i           0/1/4 i                 0/1/4 i
cmpxchg_8                        10.9/10.9         10.9/10.9 i       10.9/10.9 i                     -
cmpxchg_16                           16/14             16/14             16/14                   26/14
load_mxcsr                          0/4.23            0/4.99               0/5                  0/5.97
string                           3.98/3.98         3.99/3.99            3.99/4               3.98/3.98
string_one                             2/2               2/2 i             2/2 i                   2/2 i
clflush                               0/87             0/120             0/166                   0/210
x87_add                             2.99/1               3/1               3/1               3.23/0.99
x87_multiply                        3.98/1            3.99/1               4/1               4.72/0.99
x87_divide                         15/3.98           15/3.99              15/4                 15/5.96
x87_square_root                  18.9/5.83         18.9/5.83 i       18.9/5.83 i                     -
x87_transcendental                   62/63             62/63             63/64                   68/69
add_scalar_single                 1.99/0.5             2/0.5         1.99/0.53                1.99/0.5
add_scalar_double                 1.99/0.5             2/0.5             2/0.5                1.99/0.5
add_single                        1.99/0.5             2/0.5             2/0.5                1.98/0.5
add_double                        1.99/0.5             2/0.5             2/0.5                1.99/0.5
add_256                           1.99/0.5             2/0.5             2/0.5                1.99/0.5
multiply_scalar_single            3.98/0.5          3.99/0.5          2.99/0.5                2.98/0.5
multiply_scalar_double            3.98/0.5          3.99/0.5          2.99/0.5                2.98/0.5
multiply_double                   3.98/0.5          3.99/0.5          2.99/0.5                2.98/0.5
multiply_256                      3.98/0.5          3.99/0.5             3/0.5                2.98/0.5
fma_scalar                        3.98/0.5          3.99/0.5             4/0.5                3.98/0.5
fma_256                           3.98/0.5          3.99/0.5             4/0.5                3.98/0.5
fma_512                             3.98/1                 -                 -                       -
divide_scalar_single               11/2.99              11/3              11/3               6.96/1.99
divide_single                      11/2.99              11/3              11/3               6.96/1.99
divide_scalar_double               14/3.98           14/3.99              14/4               9.94/3.48
divide_double                      14/3.98           14/3.99              14/4               9.94/3.48
divide_256_single                  11/4.98           11/4.99              11/5               6.96/1.99
divide_256_double                  14/7.97           14/7.99           14/8.01               9.94/3.48
square_root_scalar_single          12/2.99              12/3              12/3               9.94/3.48
square_root_scalar_double          18/5.31           18/5.32           18/5.33                 15/5.97
square_root_double                 18/5.31           18/5.32           18/5.33                 15/5.97
square_root_256_single             12/5.97           12/5.99              12/6               9.94/3.48
square_root_256_double               18/12             18/12             18/12                 15/5.97
reciprocal                          3.98/1            3.99/1            3.99/1               4.68/0.99
compare_flags                          0/1               0/1               0/1              0/0.66@6,7
compare                           3.98/0.5          3.99/0.5          4.13/0.5                3.98/0.5
minimum                           3.98/0.5          3.99/0.5          3.99/0.5                3.98/0.5
round                            7.97/1.03         7.98/1.02            8/1.04               7.95/1.02
convert_from_integer                6/1.01            6/1.01           6/0.965                 10/0.96
convert_to_integer                  6/1.01            6/1.01           6/0.965                  9/0.96
convert_packed                    3.98/0.5          3.99/0.5             4/0.5                3.98/0.5
convert_to_double                   4.98/1            4.99/1               5/1               4.97/0.84
convert_to_single                   4.98/1            4.99/1               5/1               4.97/0.85
move_to_vector                       2/0.5             2/0.5             2/0.5                 5/0.515
move_from_vector                  1.98/0.5          1.99/0.5             2/0.5              4.44/0.515
logic                               1/0.33            1/0.33            1/0.33               0.99/0.25
vector_add                          1/0.33            1/0.33            1/0.33                  1/0.25
vector_add_256                      1/0.33            1/0.33            1/0.33                  1/0.25
vector_compare                   1/0.5@0,1         1/0.5@0,1 i       1/0.5@0,1 i             1/0.5@6,7 l
vector_compare_256               1/0.5@0,1         1/0.5@0,1 i       1/0.5@0,1 i             1/0.5@6,7 l
compare_quads                        3/1@5             3/1@5 i           3/1@5 i             3/0.5@8,9 l
vector_shift                         1/0.5             1/0.5             1/0.5                0.99/0.5
shift_by_vector             2/0.79/2@0,1,5    2/0.79/2@0,1,5 i  2/0.79/2@0,1,5 i               2/0.5/2 l
multiply_low_32                  9.96/1.04         9.98/1.05           10/1.05                  6.18/1
multiply_low_16                   4.98/0.5          4.99/0.5             5/0.5                3.98/0.5
multiply_add_16                   4.98/0.5          4.99/0.5             5/0.5                3.98/0.5
multiply_wide_32                  4.98/0.5          4.99/0.5             5/0.5                2.98/0.5
sum_differences                     2.99/1               3/1               3/1                2.98/0.5
shuffle_bytes                        1/0.5             1/0.5             1/0.5                0.99/0.5
shuffle                              1/0.5             1/0.5             1/0.5                0.99/0.5
unpack                               1/1@5             1/1@5             1/1@5                   1/0.5
pack                                 3/1@5             3/1@5 i           3/1@5 i             3/0.5@6,7 l
blend_words                      1/0.5@1,5         1/0.5@1,5 i       1/0.5@1,5 i                     -
blend_variable                      1/0.33            1/0.33            1/0.33               0.99/0.25
blend_variable_vex                   3/1/3             3/1/3 i           3/1/3 i              3/0.75/3 l
horizontal_add                   4.98/1.99            4.99/2               5/2                4.2/1.49
horizontal_add_integer         2.1/1/3@1,5       2.1/1/3@1,5 i     2.1/1/3@1,5 i                 2/1/3 l
dot_product                        14/3.98           14/3.99              13/4                 13/1.58
permute_lanes                       2.99/1               3/1               3/1                2.98/0.5
permute_words                       2.99/1               3/1               3/1                2.98/0.5
insert_lane                         2.99/1               3/1               3/1                2.98/0.5
extract_lane                        2.99/1               3/1               3/1                2.98/0.5
mask_bytes                             0/1               0/1               0/1              0/0.66@6,7
vector_test                            0/1               0/1               0/1                  0/0.88
compare_strings                   11/3/3@0 l        11/3/3@0 l        11/3/3@0 l              11/3/3@6 l
aes_encode                        2.99/0.5             3/0.5             3/0.5                2.98/0.5
aes_decode                        2.99/0.5             3/0.5             3/0.5                2.98/0.5
carryless_multiply                  2.99/1               3/1               3/1                2.98/0.5
sha                              3.98/2.99            3.99/3               4/3                1.99/0.5
gather_single_256                  24/3.02           24/3.02           24/3.03                  25/3.1
gather_128                         22/1.99              22/2              22/2                 25/1.99
gather_256                         24/3.02           24/3.02           24/3.03                  25/3.1
gather_quad_256                    23/1.99              23/2              23/2                 25/1.99
)";

}  // namespace pmusim::tables::instruction_costs

#endif
