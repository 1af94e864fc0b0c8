// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_COSTS_GRACEMONT_TO_SKYMONT_H
#define PMUSIM_SRC_CPU_TABLES_COSTS_GRACEMONT_TO_SKYMONT_H

#include <string_view>

/// Small cores from Gracemont to Skymont: what instructions cost.
namespace pmusim::tables::instruction_costs {

inline constexpr std::string_view gracemont_to_skymont = R"(
# Small cores take as many branches as their front end follows: one in a cycle. Of their units the number is what measured
# throughput gives; which of them has which number is nobody's knowledge.
# InstLatX64's measurements are of gracemont: 90672, E core, crestmont: A06A4, E core, skymont: C0662, E core.
# Cells marked i: as the nearest core that was measured.
                               gracemont    crestmont            skymont
# ports by the kind of work that they do
ports.alu                        0,1,2,3      0,1,2,3    0,1,2,3,4,5,6,7
ports.shift                      0,1,2,3      0,1,2,3            0,1,2,3
ports.condition                  0,1,2,3      0,1,2,3            0,1,2,3
ports.multiply                       0,1          0,1                0,1
ports.branch                         8,9          8,9             8,9,10
ports.taken_branch                   8,9          8,9             8,9,10
ports.lea                        0,1,2,3      0,1,2,3    0,1,2,3,4,5,6,7
ports.lea_three                        1            1              0,1,2
ports.scan                             1            1                0,1
ports.load                           4,5          4,5           11,12,13
ports.vector_load                      -            -                  -
ports.store_address                  6,7          6,7              14,15
ports.store_data                   10,11        10,11              16,17
ports.fp_add                       12,13        12,13        18,19,20,21
ports.fp_multiply                  12,13        12,13        18,19,20,21
ports.fp_divide                       12           12              18,19
ports.fp_compare                   12,13        12,13        18,19,20,21
ports.vector                    12,13,14     12,13,14        18,19,20,21
ports.logic                     12,13,14     12,13,14        18,19,20,21
ports.shuffle                   12,13,14     12,13,14        18,19,20,21
ports.lanes                        12,13        12,13        18,19,20,21
ports.vector_multiply              12,13        12,13        18,19,20,21
ports.vector_shift              12,13,14     12,13,14        18,19,20,21
ports.to_vector                       12           12                 18
ports.from_vector                     13           13                 19
ports.convert                      12,13        12,13        18,19,20,21
ports.convert_precision         12,13,14     12,13,14        18,19,20,21
ports.encryption                   12,13        12,13        18,19,20,21
read_modify_write_uops                 2            2                  2
# divisions of 128 by 64 bits whose quotient is small: cycles between independent ones, and of a chain
small_quotient_cycles                 13           11               7.55
small_quotient_latency                 -            -                  -
# forms
alu                            0.99/0.25       1/0.25             1/0.14
nop                                0/0.2       0/0.17             0/0.13
move                           0.99/0.25       1/0.25          1.01/0.14
adc                            1.99/1.99          2/2          2.01/2.01
lea                               1/0.25       1/0.25          1.01/0.14
lea_indexed                        1/1@1        1/1@1 i            1/1@0 i
lea_three                         1.99/1          2/1          2.01/0.31
lea_scaled                        1.99/1          2/1        2.01/1.01@0
fold                                   -            -            0.2/0.2
shift                          0.99/0.25       1/0.25          1.01/0.25
shift_by_cl                       1/0.99       1.02/1          1.01/1.01
rotate                               1/1       1.02/1          1.01/1.01
rotate_carry_one                     2/2          2/2 i              2/2 i
rotate_carry                    11/11/11     11/11/11 i         11/11/11 i
cmov                            1.99/0.5        2/0.5           2.01/0.3
bswap                             1/0.25       1/0.25          1.01/0.25
xchg                           3.54/3.56    3.57/3.55          2.44/2.58
compare_exchange             4.75/4.75/5  4.75/4.75/5 i                -
imul_32                         2.99/0.5        3/0.5          3.02/0.59
imul_64                        4.98/0.51        5/0.5          4.03/0.63
div_32                             27/13        22/11            22/7.55
div_64                             43/21        32/16              33/13
idiv_64                            43/21        32/16              33/13
bit_scan                          2.99/1          3/1          3.02/0.59
popcnt                            2.99/1          3/1          3.02/0.59
lzcnt                             2.99/1          3/1          3.02/0.59
tzcnt                             2.99/1          3/1          3.02/0.59
pdep                              2.99/1          3/1          3.02/1.01
load_fence                         26/26        25/25              10/10
store_fence                    1.99/1.99          2/2          2.01/2.01
memory_fence                       15/15        16/16              16/16
locked                             18/18        18/18              15/15
pause                               0/62         0/91               0/77
rdtsc                               0/29         0/31               0/28
cpuid                            335/335      302/303            727/728
serialize                           0/45         0/46               0/45
rdpid                               0/12         0/12               0/12
rdrand                             0/823        0/905             0/1138
pushf_popf                         38/38        37/37              37/37
push_flags                        0/4.81       0/4.81 i           0/4.81 i
cmpxchg_8                      10.2/8.87            -                  -
cmpxchg_16                        26/9.7      22/9.76              23/10
load_mxcsr                        0/7.97       0/8.01             0/8.06
string                         4.79/4.74    4.82/4.81           2.62/2.7
string_one                     3.56/3.56    3.56/3.56 i                -
clflush                             0/80        0/150              0/185
x87_add                           2.99/1          3/1          4.03/1.01
x87_multiply                   4.98/1.99          5/2          5.04/2.01
x87_divide                       13/7.97      13/8.01            13/4.03
x87_square_root                  17/11.9      17/11.9 i                -
x87_transcendental                 62/62        63/63              65/65
add_scalar_single               2.99/0.5        3/0.5          2.01/0.25
add_scalar_double               2.99/0.5        3/0.5          2.01/0.25
add_single                      2.99/0.5        3/0.5          2.01/0.25
add_double                      2.99/0.5        3/0.5          2.01/0.25
add_256                           2.99/1          3/1           2.01/0.5
multiply_scalar_single          3.98/0.5        4/0.5          3.02/0.25
multiply_scalar_double          3.98/0.5        4/0.5          3.02/0.25
multiply_double                 3.98/0.5        4/0.5          3.02/0.25
multiply_256                      3.98/1          4/1           3.02/0.5
fma_scalar                      5.97/0.5        6/0.5          4.03/0.25
fma_256                           5.97/1          6/1           4.03/0.5
divide_scalar_single           9.96/4.98         10/5            10/2.52
divide_single                    15/9.96        15/10            15/5.04
divide_scalar_double             13/7.97      13/8.01            13/4.03
divide_double                      21/16        21/16            21/8.06
divide_256_single                  20/20        20/20              15/10
divide_256_double                  32/32        32/32              21/16
square_root_scalar_single        11/5.98         11/6            11/3.02
square_root_scalar_double          17/12        17/12            17/6.04
square_root_double                 29/24        29/24              29/12
square_root_256_single             24/24        24/24              17/12
square_root_256_double             48/48        48/48              29/24
reciprocal                     4.98/1.99          5/2          5.04/1.01
compare_flags                        0/1          0/1             0/0.84
compare                         2.99/0.5        3/0.5          2.01/0.25
minimum                         2.99/0.5        3/0.5          2.01/0.25
round                             2.99/1          3/1           3.02/0.5
convert_from_integer             6/1.385       6/1.36             6/0.84
convert_to_integer               5/1.385       5/1.36             6/0.84
convert_packed                    2.99/1          3/1           3.02/0.5
convert_to_double                 2.99/1          3/1           3.02/0.5
convert_to_single                 2.99/1          3/1           3.02/0.5
move_to_vector                    5/1.38      5/1.365             6/0.84
move_from_vector               4.96/1.38      5/1.365             5/0.84
logic                          0.99/0.33       1/0.33          1.01/0.25
vector_add                        1/0.33       1/0.33          1.01/0.25
vector_add_256              1.2/0.66/0/2   1/0.67/0/2       1.01/0.5/0/2
compare_quads                     4/1@12       4/1@12 i           4/1@18 i
vector_shift                      1/0.33       1/0.33          1.01/0.25
multiply_low_32                3.98/1.99          4/1           4.03/0.5
multiply_low_16                   2.99/1        3/0.5          3.02/0.25
multiply_add_16                   2.99/1        3/0.5          3.02/0.25
multiply_wide_32                  2.99/1        3/0.5          3.02/0.25
sum_differences                   2.99/1        3/0.5          3.02/0.25
shuffle_bytes                     1/1@12       1/1@12     1.01/0.5@18,19
shuffle                           1/0.33       1/0.33          1.01/0.25
unpack                            1/0.33       1/0.33          1.01/0.25
blend_variable                    2.99/1          3/1     1.01/0.5@18,19
horizontal_add                 7.22/3.52    7.24/3.51          8.07/2.65
dot_product                      18/5.62      19/5.54            21/2.72
permute_lanes                  5.97/1.99          6/2          6.04/1.01
permute_words                  5.97/1.99          6/2          6.04/1.01
insert_lane                1.15/0.66/0/2   1/0.67/0/2       1.01/0.5/0/2
extract_lane                      1/1@12  1/0.5@12,13          1.01/0.25
mask_bytes                           0/1          0/1             0/0.84
vector_test                          0/1          0/1             0/0.84
aes_encode                      2.99/0.5        3/0.5           3.02/0.5
aes_decode                      2.99/0.5        3/0.5           3.02/0.5
carryless_multiply                3.98/1          4/1          4.03/1.01
sha                               3.98/1          4/1          4.03/1.01
gather_single_256                  31/32        21/21          9.82/9.82
gather_128                         25/26        15/15          5.54/5.54
gather_256                         31/32        21/21          9.82/9.82
gather_quad_256                    24/24        14/14            6.8/6.8
)";

}  // namespace pmusim::tables::instruction_costs

#endif
