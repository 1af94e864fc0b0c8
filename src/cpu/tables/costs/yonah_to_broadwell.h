// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_COSTS_YONAH_TO_BROADWELL_H
#define PMUSIM_SRC_CPU_TABLES_COSTS_YONAH_TO_BROADWELL_H

#include <string_view>

/// P cores from Yonah to Broadwell: what instructions cost.
namespace pmusim::tables::instruction_costs {

inline constexpr std::string_view yonah_to_broadwell = R"(
# From Haswell on port 0 has a second branch unit, for branches that are not taken; those that are have port 6 (uiCA).
# InstLatX64's measurements are of yonah: Celeron 215 (6E8), core2: 6F6 Merom, penryn: 10676 Yorkfield, nehalem: 106A2,
# westmere: 206C2, sandybridge: 206A7, ivybridge: 306A9, haswell: 306C3, broadwell: 40671.
# Cells marked l are of the scheduling models of LLVM 19.
                              yonah    core2   penryn  nehalem  westmere  sandybridge      ivybridge      haswell    broadwell
# ports by the kind of work that they do
ports.alu                       0,1    0,1,5    0,1,5    0,1,5     0,1,5        0,1,5          0,1,5      0,1,5,6      0,1,5,6
ports.shift                       0      0,5      0,5      0,5       0,5          0,5            0,5          0,6          0,6
ports.condition                   0      0,5      0,5      0,5       0,5          0,5            0,5          0,6          0,6
ports.multiply                    0        1        1        1         1            1              1            1            1
ports.branch                      1        5        5        5         5            5              5          0,6          0,6
ports.taken_branch                1        5        5        5         5            5              5            6            6
ports.lea                         0        0        0        1         1          1,5            1,5          1,5          1,5
ports.lea_three                   0        0        0        1         1            1              1            1            1
ports.scan                      0,1        1        1        1         1            1              1            1            1
ports.load                        2        2        2        2         2          2,3            2,3          2,3          2,3
ports.vector_load                 -        -        -        -         -            -              -            -            -
ports.store_address               3        3        3        3         3          2,3            2,3        2,3,7        2,3,7
ports.store_data                  4        4        4        4         4            4              4            4            4
ports.fp_add                      1        1        1        1         1            1              1            1            1
ports.fp_multiply                 0        0        0        0         0            0              0          0,1          0,1
ports.fp_divide                   0        0        0        0         0            0              0            0            0
ports.fp_compare                  1        1        1        1         1            1              1            1            1
ports.vector                    0,1      0,5      0,5      1,5       1,5          1,5            1,5          1,5          1,5
ports.logic                     0,1    0,1,5    0,1,5        5         5            5              5            5            5
ports.shuffle                     1        5        5        5         5            5              5            5            5
ports.lanes                       1        5        5        5         5            5              5            5            5
ports.vector_multiply             0        1        1        1         1            0              0            0            0
ports.vector_shift                1        5        5        1         1            0              0            0            0
ports.to_vector                 0,1    0,1,5    0,1,5    0,1,5     0,1,5            5              5            5            5
ports.from_vector                 0    0,1,5    0,1,5        0         0            0              0            0            0
ports.convert                     1        1        1        1         1            1              1            1            1
ports.convert_precision           1        5        5        5         5            5              5            5            5
ports.encryption                  0        1        1        1         1            0              0            0            0
read_modify_write_uops            2        2        2        2         2            2              2            2            2
# divisions of 128 by 64 bits whose quotient is small: cycles between independent ones, and of a chain
small_quotient_cycles             -       37       20       20        22           23             23           21           21
small_quotient_latency            -        -        -        -         -           34             34           36           36
# forms
alu                           1/0.5   1/0.33   1/0.33   1/0.44    1/0.39       1/0.33         1/0.33       1/0.34       1/0.34
nop                           0/0.5   0/0.33   0/0.33   0/0.33    0/0.33       0/0.25         0/0.25       0/0.25       0/0.25
zero_idiom                    1/0.5   1/0.33   1/0.33   1/0.44    1/0.39            -              -            -            -
move                          1/0.5   1/0.32   1/0.32   1/0.36    1/0.36       1/0.33         1/0.33       1/0.24       1/0.25
adc                             2/2      2/2      2/2      2/2       2/2        2/1/2          2/1/2        2/1/2          1/1
lea                             1/1      1/1      1/1      1/1       1/1        1/0.5          1/0.5        1/0.5        1/0.5
lea_three                       1/1      1/1      1/1      1/1       1/1          3/1            3/1          3/1          3/1
lea_scaled                      1/1      1/1      1/1      1/1       1/1          3/1            3/1          3/1          3/1
shift                           1/1    1/0.5    1/0.5    1/0.5     1/0.5        1/0.5          1/0.5        1/0.5        1/0.5
shift_by_cl                     1/1    1/0.5   1/0.49    1/0.5     1/0.5        2/2/3          1/1/2        2/2/3        2/2/3
rotate                          1/1      1/1      1/1      1/1       1/1          1/1          1/0.5        1/0.5        1/0.5
rotate_carry_one                  -        -        -        -         -        2/2/3 l        2/2/3 l      2/2/3 l      2/2/3 l
rotate_carry                      -        -        -        -         -        4/4/8 l        4/4/8 l      6/6/8 l      6/6/8 l
double_shift                    2/2      2/1        -      4/1         -            -              -            -        1/0.5
set_two_flags                     -        -        -        -         -    2/1/2/0/1      2/1/2/0/1    2/1/2/0/1    2/1/2/0/1
cmov                         2/1.25      2/1      2/1      2/1       2/1    2/1/2/0/1      2/1/2/0/1    2/1/2/0/1          1/1
cmov_two_flags                    -        -        -        -         -    2/1/3/0/1      2/1/3/0/1    2/1/3/0/1    2/1/2/0/1
bswap                           2/1      4/1      4/1      3/1       3/1          2/1            2/1          2/1          2/1
bswap_32                          -        -        -        -         -        1/1@1 l        1/1@1 l  1/0.5@1,5 l  1/0.5@1,5 l
xchg                        2.1/1.5    2.6/1    2.6/1    2.7/1     2.7/1        2.2/1          2.2/1        2.1/1        2.1/1
compare_exchange                  -        -        -        -         -        5/5/4 l        5/5/4 l      5/5/5 l      5/5/5 l
imul_32                         4/1      3/1      3/1      3/1       3/1          3/1            3/1          3/1          3/1
imul_64                           -      5/2      5/2      3/1       3/1          3/1            3/1          3/1          3/1
mul_wide                          -   7/6.83        -        -         -            -              -            -            -
div_32                        39/39    41/41    24/24    28/28     28/28        26/11           26/9         22/9         22/9
div_64                            -  120/120    72/71    89/88     88/87        95/92          95/92        97/95        95/94
idiv_64                           -  129/129    84/83    98/98     98/94      104/101        105/103      105/104      103/103
bit_scan                     2/1.08      2/1      2/1      3/1       3/1          3/1            3/1          3/1          3/1
popcnt                            -        -        -      3/1       3/1          3/1            3/1          3/1          3/1
lzcnt                             -        -        -        -         -            -              -          3/1          3/1
tzcnt                             -        -        -        -         -            -              -          3/1          3/1
pdep                              -        -        -        -         -            -              -          3/1          3/1
load_fence                 6.3/6.33      8/8      8/8      9/9       9/9     4.3/4.25       4.3/4.25     4.3/4.25     4.3/4.25
store_fence                6.7/6.67      9/9      9/9      5/5       5/5     5.9/5.92            6/6          6/6          6/6
memory_fence               6.7/6.67      9/9      6/6    23/23     23/23        33/33          36/36        33/33        33/33
locked                        21/21        -    20/20    20/20     19/20        23/25          22/25        19/23        19/23
pause                        0/6.83      0/8      0/8      0/9       0/9         0/11           0/10          0/9        0/9.5
rdtsc                          0/98     0/64     0/32     0/24      0/24         0/28           0/27         0/24         0/24
cpuid                       154/154  180/180  197/197    84/84     82/82        96/96        101/101        99/99        99/99
rdrand                            -        -        -        -         -            -          0/104        0/276        0/308
pushf_popf                    24/24    25/25    24/24    21/21     21/21        23/23          23/23        26/26        26/26
cmpxchg_16                        -     16/9     16/8  17/8.67   17/8.75         16/9           16/9         15/9         14/9
load_mxcsr                     0/24     0/42     0/38      0/5       0/4       0/2.33         0/2.42       0/2.33       0/2.33
string                            -      5/5      4/4      4/4       5/5          4/4            4/4          4/4          4/4
clflush                           -        -     0/99        -     0/153         0/62           0/62         0/60         0/56
x87_add                         3/1      3/1      3/1      3/1       3/1          3/1            3/1          3/1          3/1
x87_multiply                    5/2   5/1.75   5/1.75      5/1       5/1          5/1            5/1          5/1          5/1
x87_divide                    32/31    32/31    21/20    22/22     22/22        22/22          20/14        20/14      14/4.58
x87_transcendental            33/34        -    32/33    42/43     43/44        49/50          49/50        49/50        49/51
add_scalar_single               3/1      3/1      3/1      3/1       3/1          3/1            3/1          3/1          3/1
add_scalar_double               3/1      3/1      3/1      3/1       3/1          3/1            3/1          3/1          3/1
add_single                      3/2      3/1      3/1      3/1       3/1          3/1            3/1          3/1          3/1
add_double                      3/2      3/1      3/1      3/1       3/1          3/1            3/1          3/1          3/1
add_256                           -        -        -        -         -          3/1            3/1          3/1          3/1
multiply_scalar_single          4/1      4/1      4/1      4/1       4/1          5/1            5/1        5/0.5        3/0.5
multiply_scalar_double          5/2      5/1      5/1      5/1       5/1          5/1            5/1        5/0.5        3/0.5
multiply_double                 5/4      5/1      5/1      5/1       5/1          5/1            5/1        5/0.5        3/0.5
multiply_256                      -        -        -        -         -          5/1            5/1       5/0.63        3/0.5
fma_scalar                        -        -        -        -         -            -              -        5/0.5        5/0.5
fma_256                           -        -        -        -         -            -              -        5/0.5        5/0.5
divide_scalar_single          18/17    18/17    13/12    14/14     14/14        14/14        13/7.08      13/7.08      11/2.58
divide_single                 34/34    18/17    13/12    14/14     14/14        14/14        13/7.08      13/7.08         11/5
divide_scalar_double          32/31    32/31    21/20    22/22     22/22        22/22          20/14        20/14      14/4.58
divide_double                 62/62    32/31    21/20    22/22     22/22        22/22          20/14        20/14      14/8.17
divide_256_single                 -        -        -        -         -        30/28          21/14        21/14        17/10
divide_256_double                 -        -        -        -         -        46/44          35/28        35/28        23/16
square_root_scalar_single     30/28    29/28    13/12    18/18     18/18        14/14        13/7.08      13/7.08      13/3.83
square_root_scalar_double     58/57    58/57    20/19    32/32     32/32        21/22          20/14        20/14       20/7.5
square_root_double          114/114    58/57    20/19    32/32     32/32        21/22          20/14        20/14        20/14
square_root_256_single            -        -        -        -         -        30/28          21/14        21/14        21/14
square_root_256_double            -        -        -        -         -        43/44          35/28        35/28        35/28
reciprocal                      3/2      3/2      3/2      3/2       3/2          5/1            5/1          5/1          5/1
compare_flags                   0/1      0/1      0/1      0/1       0/1          0/1            0/1          0/1          0/1
compare                         3/2      3/1      3/1      3/1       3/1          3/1            3/1          3/1          3/1
minimum                         3/1      3/1      3/1      3/1       3/1          3/1            3/1          3/1          3/1
round                             -        -      3/1      3/1       3/1          3/1            3/1          6/2          6/2
convert_from_integer        4/0.875      4/1      4/1      4/1       4/1    4/1/2/0/1      4/1/2/0/1    4/1/2/0/1    4/1/2/0/1
convert_to_integer          4/0.875      3/1      3/1      3/1       3/1          4/1            4/1          4/1          4/1
convert_packed                  3/2      3/1      3/1      3/1       3/1          3/1            3/1          3/1          3/1
convert_to_double               2/2      2/2      2/2      1/1       1/1          2/1            2/1          2/1          2/1
convert_to_single               4/1      4/1      4/1      4/1       4/1          4/1            4/1          4/1          4/1
move_to_vector               2/0.71   2/0.16   2/0.22  2/0.295    2/0.29        1/0.5          1/0.5        1/0.5        1/0.5
move_from_vector           0.2/0.71   2/0.16   2/0.22  2/0.295    2/0.29        1/0.5          1/0.5        1/0.5        1/0.5
logic                      1.1/1.08   1/0.32   1/0.32      1/1       1/1          1/1            1/1          1/1          1/1
vector_add                 1.1/1.08   1/0.48    1/0.5   1/0.49    1/0.49        1/0.5          1/0.5        1/0.5        1/0.5
vector_add_256                    -        -        -        -         -            -              -        1/0.5        1/0.5
compare_quads                     -        -        -        -         -        5/1@0 l        5/1@0 l      5/1@0 l      5/1@0 l
vector_shift                    2/2      1/1      1/1      1/1       1/1          1/1            1/1          1/1          1/1
shift_by_vector                   -        -        -        -         -  2/1/2@0,1,5 l  2/1/2@0,1,5 l  2/1/2@0,5 l  2/1/2@0,5 l
multiply_low_32                   -        -      5/2      6/2       6/2          5/1            5/1         10/2         10/2
multiply_low_16                 3/2      3/1      3/1      3/1       3/1          5/1            5/1          5/1          5/1
multiply_add_16                 3/2      3/1      3/1      3/1       3/1          5/1            5/1          5/1          5/1
multiply_wide_32                4/2      3/1      3/1      3/1       3/1          5/1            5/1          5/1          5/1
sum_differences              4/2.08      3/1      3/1      3/1       3/1          5/1            5/1          5/1          5/1
shuffle_bytes                     -      3/2      1/1    1/0.5    1/0.49        1/0.5          1/0.5          1/1          1/1
shuffle                         2/2      4/1      1/1      1/1       1/1          1/1            1/1          1/1          1/1
unpack                          2/2      4/1      1/1      1/1       1/1          1/1            1/1          1/1          1/1
blend_words                       -        -        -        -         -            -              -        1/1@5 l      1/1@5 l
blend_variable                    -        -      2/2      2/2       2/2          2/1            2/1          2/2          2/2
blend_variable_vex                -        -        -        -         -        2/1/2 l        2/1/2 l      2/2/2 l      2/2/2 l
horizontal_add               7/3.92      9/3      7/2      5/2       5/2          5/2            5/2          5/2          5/2
horizontal_add_integer            -        -        -        -         -  3/1.5/3@1,5 l  3/1.5/3@1,5 l      3/2/3 l      3/2/3 l
dot_product                       -        -     11/2   11/1.5      11/2         12/1           12/1         14/1       12/1.5
permute_lanes                     -        -        -        -         -          2/1            2/1          3/1          3/1
permute_words                     -        -        -        -         -            -              -          3/1          3/1
insert_lane                       -        -        -        -         -          2/1            2/1          3/1          3/1
extract_lane                      -        -        -        -         -          2/1            2/1          3/1          3/1
mask_bytes                      0/1      0/1      0/1      0/1       0/1          0/1            0/1          0/1          0/1
vector_test                       -        -      0/1      0/1       0/1          0/1            0/1          0/1          0/1
aes_encode                        -        -        -        -       6/2       8/1.17         8/1.17          7/1          7/1
aes_decode                        -        -        -        -       6/2       8/1.17         8/1.17          7/1          7/1
carryless_multiply                -        -        -        -   15/7.58         14/8        14/7.67          7/2          5/1
gather_single_256                 -        -        -        -         -            -              -        22/11            -
gather_128                        -        -        -        -         -            -              -         16/8            -
gather_256                        -        -        -        -         -            -              -        21/11            -
gather_quad_256                   -        -        -        -         -            -              -         18/8            -
zero_all                          -        -        -        -         -       0/8/20         0/8/20       0/8/20       0/8/20
)";

}  // namespace pmusim::tables::instruction_costs

#endif
