// SPDX-License-Identifier: MIT
#include "cpu/costs/costs.h"
#include "cpu/costs/port_roles.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Cycles as InstLatX64 measured them on 506C9.
constexpr MeasuredCost goldmont_measured[] = {
    {nop, 0, 0.33},
    {move, 0.8, 0.33},
    {alu, 1, 0.33},
    {adc, 2, 2},
    {lea, 1, 1},
    {lea_three, 2, 1},
    {lea_scaled, 2, 1},
    {shift, 1, 1},
    {shift_by_cl, 1.9, 1},
    {rotate, 1, 1},
    {double_shift, 12, 12},
    {imul_32, 3, 1},
    {imul_64, 5, 2},
    {div_32, 26, 26},
    {div_64, 42, 42},
    {idiv_64, 42, 42},
    {bit_scan, 11, 8},
    {popcnt, 3, 1},
    {bswap, 1, 1},
    {cmov, 2, 1},
    {xchg, 4, 4},
    {locked, 13, 13},
    {memory_fence, 22, 22},
    {load_fence, 7.7, 7.58},
    {store_fence, 2, 2},
    {pause, 0, 148},
    {rdtsc, 0, 20},
    {cpuid, 68, 68},
    {rdrand, 0, 1556},
    {pushf_popf, 67, 67},
    {cmpxchg_16, 23, 10},
    {load_mxcsr, 0, 18},
    {string, 5, 5},
    {x87_add, 3, 1},
    {x87_multiply, 5, 2},
    {x87_divide, 34, 33},
    {x87_transcendental, 44, 45},
    {add_scalar_single, 3, 1},
    {add_scalar_double, 3, 1},
    {add_single, 3, 1},
    {add_double, 3, 1},
    {multiply_scalar_single, 4, 1},
    {multiply_scalar_double, 4, 1},
    {multiply_double, 4, 1},
    {divide_scalar_single, 19, 18},
    {divide_single, 36, 35},
    {divide_scalar_double, 34, 33},
    {divide_double, 66, 65},
    {square_root_scalar_single, 20, 19},
    {square_root_scalar_double, 35, 34},
    {square_root_double, 68, 67},
    {reciprocal, 9, 6},
    {compare_flags, 0, 1},
    {compare, 3, 1},
    {minimum, 3, 1},
    {round, 4, 1},
    {convert_packed, 4, 1},
    {convert_to_double, 4, 1},
    {convert_to_single, 4, 1},
    {logic, 1, 0.5},
    {vector_add, 1, 0.5},
    {vector_shift, 1, 0.5},
    {multiply_low_32, 5, 2},
    {multiply_low_16, 4, 1},
    {multiply_add_16, 4, 1},
    {multiply_wide_32, 4, 1},
    {sum_differences, 4, 1},
    {shuffle_bytes, 1, 1},
    {shuffle, 1, 0.5},
    {unpack, 1, 0.5},
    {blend_variable, 4, 4},
    {horizontal_add, 6, 6},
    {dot_product, 13, 10},
    {mask_bytes, 0, 1},
    {vector_test, 0, 1},
    {aes_encode, 6, 2},
    {aes_decode, 6, 2},
    {carryless_multiply, 6.7, 4},
    {sha, 8, 4},
    {clflush, 0, 105},
    {convert_from_integer, 6, 0.5},
    {convert_to_integer, 5, 0.5},
    {move_to_vector, 4, 1},
    {move_from_vector, 4, 1},
};

}  // namespace

const InstructionCosts& goldmont() {
  static const InstructionCosts costs =
      make_costs(goldmont_measured, goldmont_ports, {.small_quotient_cycles = 26});
  return costs;
}

}  // namespace pmusim::costs
