// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_COSTS_BONNELL_TO_TREMONT_H
#define PMUSIM_SRC_CPU_TABLES_COSTS_BONNELL_TO_TREMONT_H

#include <string_view>

/// Small cores from Bonnell to Tremont: what instructions cost.
namespace pmusim::tables::instruction_costs {

inline constexpr std::string_view bonnell_to_tremont = R"(
# Small cores take as many branches as their front end follows: one in a cycle. Of their units the number is what measured
# throughput gives; which of them has which number is nobody's knowledge.
# InstLatX64's measurements are of bonnell: 106C2, silvermont: 406D8 Avoton, knightslanding: 50671, goldmont: 506C9,
# goldmont-plus: 706A1, tremont: 906C0.
                            bonnell  silvermont  knightslanding  goldmont  goldmont-plus   tremont
# ports by the kind of work that they do
ports.alu                       0,1         0,1             0,1     0,1,2          0,1,2     0,1,2
ports.shift                       0           0               0         0              0         0
ports.condition                   0           0               0         0              0         0
ports.multiply                    0           1               1         1              1         1
ports.branch                      1           1               1         2              2         3
ports.taken_branch                1           1               1         2              2         3
ports.lea                         1           1               1         1              1     0,1,2
ports.lea_three                   1           1               1         1              1         1
ports.scan                        0           0               1         1              1         1
ports.load                        0           4             4,5         4              4       4,5
ports.vector_load                 -           -               -         -              -         -
ports.store_address               0           4             4,5         5              5       4,5
ports.store_data                  -           -               6         -              -         8
ports.fp_add                      1           3             2,3         7              7         7
ports.fp_multiply                 0           2             2,3         6              6         6
ports.fp_divide                   0           2               2         6              6         6
ports.fp_compare                  1           3             2,3         7              7         7
ports.vector                    0,1         2,3             2,3       6,7            6,7       6,7
ports.logic                     0,1         2,3             2,3       6,7            6,7       6,7
ports.shuffle                     0           2               2       6,7            6,7       6,7
ports.lanes                       0           2               2         6              6         6
ports.vector_multiply             0           2               2         6              6         6
ports.vector_shift                0           2               2       6,7            6,7       6,7
ports.to_vector                   0         0,1               2         6              6         6
ports.from_vector                 0         0,1               2         7              7         7
ports.convert                     1           3             2,3         7              7         7
ports.convert_precision           0           2               2       6,7            6,7       6,7
ports.encryption                  0           2               2         6              6         6
read_modify_write_uops            1           1               1         1              1         1
# divisions of 128 by 64 bits whose quotient is small: cycles between independent ones, and of a chain
small_quotient_cycles           128          40              30        26             26        26
small_quotient_latency            -           -               -         -              -         -
# forms
alu                           1/0.5       1/0.5           1/0.5    1/0.33         1/0.33    1/0.33
nop                           0/0.5       0/0.5           0/0.5    0/0.33         0/0.33    0/0.34
zero_idiom                    1/0.5       1/0.5           1/0.5         -              -         -
move                          1/0.5       1/0.5           1/0.5  0.8/0.33       0.8/0.33  0.8/0.34
adc                             2/2         2/2             2/2       2/2            2/2       2/2
lea                             1/1         1/1             1/1       1/1            1/1    1/0.34
lea_three                       1/1         2/1             2/1       2/1            2/1       2/1
lea_scaled                      1/1         2/1             2/1       2/1            2/1       2/1
shift                           1/1         1/1             1/1       1/1            1/1       1/1
shift_by_cl                     1/1         1/1             1/1     1.9/1            1/1       1/1
rotate                          1/1         1/1             1/1       1/1            1/1       1/1
double_shift                      -       10/10               -     12/12              -         -
cmov                            2/2         2/1             2/1       2/1            2/1       2/1
bswap                           1/1         1/1             1/1       1/1            1/1       1/1
xchg                            6/6         5/5             8/8       4/4            4/4       4/4
imul_32                         5/2         3/1             3/1       3/1            3/1       3/1
imul_64                       14/11         5/2             5/2       5/2            5/2       5/2
div_32                        49/49       38/38           43/42     26/26          26/26     26/26
div_64                      192/192       94/94           95/95     42/42          42/42     42/42
idiv_64                     215/215     107/107         108/107     42/42          42/42     42/42
bit_scan                      17/16       10/10           11/11      11/8          9.3/8       3/1
popcnt                            -         3/1             3/1       3/1            3/1       3/1
lzcnt                             -           -             3/1         -              -         -
tzcnt                             -           -             3/1         -              -         -
pdep                              -           -             3/1         -              -         -
load_fence                  0.5/0.5         8/8             8/8  7.7/7.58            6/6     25/25
store_fence                     1/1     6.5/6.5           10/10       2/2            2/2       2/2
memory_fence                    1/1       14/13           17/17     22/22          18/18     37/37
locked                          8/1       10/10           13/13     13/13          14/14     15/15
pause                          0/24        0/24            0/25     0/148          0/153     0/176
rdtsc                          0/29        0/30            0/30      0/20           0/21      0/25
cpuid                       112/112       81/81           63/63     68/68          81/81   131/131
rdpid                             -           -               -         -            0/6       0/9
rdrand                            -      0/1100           0/234    0/1556         0/1421    0/2323
pushf_popf                    42/42       72/72           72/72     67/67          38/38     64/64
cmpxchg_16                    29/22       24/18           31/19     23/10          24/10     24/13
load_mxcsr                      0/6         0/8            0/21      0/18           0/18      0/11
string                     6.4/6.42         6/6             9/9       5/5            5/5       5/5
clflush                       0/120           -            0/94     0/105          0/119     0/100
x87_add                         5/2         3/1             6/1       3/1            3/1       3/1
x87_multiply                    5/2         5/2             7/2       5/2            5/2       5/2
x87_divide                    60/60       34/32           36/32     34/33          14/10      13/8
x87_transcendental            43/45       42/45           43/52     44/45          45/46     59/59
add_scalar_single               5/1         3/1          6/0.58       3/1            3/1       3/1
add_scalar_double               5/1         3/1          6/0.58       3/1            3/1       3/1
add_single                      5/1         3/1          6/0.58       3/1            3/1       3/1
add_double                      6/6         4/2          6/0.58       3/1            3/1       3/1
add_256                           -           -          6/0.75         -              -         -
multiply_scalar_single          4/1         4/1          6/0.58       4/1            4/1       4/1
multiply_scalar_double          5/2         5/2          6/0.58       4/1            4/1       4/1
multiply_double                 9/9         7/4          6/0.58       4/1            4/1       4/1
multiply_256                      -           -          6/0.75         -              -         -
fma_scalar                        -           -          6/0.58         -              -         -
fma_256                           -           -          6/0.58         -              -         -
fma_512                           -           -          6/0.59         -              -         -
divide_scalar_single          31/31       19/17           27/17     19/18           11/7      10/5
divide_single                 64/64       39/39         190/190     36/35          16/12     15/10
divide_scalar_double          60/60       34/32           42/32     34/33          14/10      13/8
divide_double               122/123       69/69         186/186     66/65          22/18     21/16
divide_256_single                 -           -         190/190         -              -         -
divide_256_double                 -           -         186/186         -              -         -
square_root_scalar_single     31/31       20/18           28/18     20/19           12/8      11/6
square_root_scalar_double     60/60       35/33           43/33     35/34          18/14     17/12
square_root_double          121/122       70/70           37/16     68/67          30/26     29/24
square_root_256_single            -           -           38/16         -              -         -
square_root_256_double            -           -           37/16         -              -         -
reciprocal                      9/8         9/8             8/3       9/6            5/2       5/2
compare_flags                   0/9         0/1             0/7       0/1            0/1    0/1.08
compare                         6/6         4/2          2/0.58       3/1            3/1       3/1
minimum                         5/1         3/1          2/0.58       3/1            3/1       3/1
round                             -         4/1          6/0.75       4/1            4/1       4/1
convert_from_integer            9/7       5/3.5             6/5     6/0.5          6/0.5   6/0.625
convert_to_integer              9/7       5/3.5             5/5     5/0.5          5/0.5   6/0.625
convert_packed                  6/6         5/2             2/1       4/1            4/1       4/1
convert_to_double               6/6         4/1             2/1       4/1            4/1       4/1
convert_to_single             10/10         4/1             2/1       4/1            4/1       4/1
move_to_vector                4/3.5       4/3.5             5/1       4/1            5/1       5/1
move_from_vector              3/3.5       3/3.5             4/1       4/1            4/1       5/1
logic                         1/0.5       1/0.5          2/0.58     1/0.5          1/0.5     1/0.5
vector_add                    1/0.5       1/0.5          2/0.58     1/0.5          1/0.5     1/0.5
vector_add_256                    -           -          2/0.58         -              -         -
vector_shift                    1/1         1/1             2/1     1/0.5          1/0.5     1/0.5
multiply_low_32                   -       11/11          7/1.17       5/2            5/2       5/2
multiply_low_16                 5/2         5/2             7/2       4/1            4/1       4/1
multiply_add_16                 5/2         5/2             7/2       4/1            4/1       4/1
multiply_wide_32                5/2         5/2          6/0.75       4/1            4/1       4/1
sum_differences                 5/2         5/2             7/2       4/1            4/1       4/1
shuffle_bytes                   6/6         5/5            13/9       1/1            1/1       1/1
shuffle                         1/1         1/1             4/2     1/0.5          1/0.5     1/0.5
unpack                          1/1         1/1             4/2     1/0.5          1/0.5     1/0.5
blend_variable                    -         4/4             7/7       4/4            4/4       3/2
horizontal_add                  8/7         6/6            15/8       6/6          6.4/6       7/6
dot_product                       -       15/12           36/13     13/10          18/10    10/1.5
permute_lanes                     -           -             4/2         -              -         -
permute_words                     -           -             3/1         -              -         -
insert_lane                       -           -             3/1         -              -         -
extract_lane                      -           -             3/1         -              -         -
mask_bytes                      0/2         0/1             0/8       0/1            0/1    0/1.08
vector_test                       -         0/1             0/8       0/1            0/1    0/1.08
aes_encode                        -         9/5             3/3       6/2            4/1    4/0.48
aes_decode                        -         9/5             3/3       6/2            4/1    4/0.48
carryless_multiply                -       11/10             3/1     6.7/4          6.8/4       4/1
sha                               -           -               -       8/4            8/4       5/2
gather_single_256                 -           -            19/9         -              -         -
gather_128                        -           -            17/9         -              -         -
gather_256                        -           -            19/9         -              -         -
gather_quad_256                   -           -            17/9         -              -         -
)";

}  // namespace pmusim::tables::instruction_costs

#endif
