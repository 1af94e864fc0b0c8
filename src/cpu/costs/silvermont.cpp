// SPDX-License-Identifier: MIT
#include "cpu/costs/costs.h"
#include "cpu/costs/port_roles.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Cycles as InstLatX64 measured them on 406D8 Avoton.
constexpr MeasuredCost silvermont_measured[] = {
    {nop, 0, 0.5},
    {move, 1, 0.5},
    {alu, 1, 0.5},
    {adc, 2, 2},
    {lea, 1, 1},
    {lea_three, 2, 1},
    {lea_scaled, 2, 1},
    {shift, 1, 1},
    {shift_by_cl, 1, 1},
    {rotate, 1, 1},
    {double_shift, 10, 10},
    {imul_32, 3, 1},
    {imul_64, 5, 2},
    {div_32, 38, 38},
    {div_64, 94, 94},
    {idiv_64, 107, 107},
    {bit_scan, 10, 10},
    {popcnt, 3, 1},
    {bswap, 1, 1},
    {cmov, 2, 1},
    {xchg, 5, 5},
    {locked, 10, 10},
    {memory_fence, 14, 13},
    {load_fence, 8, 8},
    {store_fence, 6.5, 6.5},
    {pause, 0, 24},
    {rdtsc, 0, 30},
    {cpuid, 81, 81},
    {rdrand, 0, 1100},
    {pushf_popf, 72, 72},
    {cmpxchg_16, 24, 18},
    {load_mxcsr, 0, 8},
    {string, 6, 6},
    {x87_add, 3, 1},
    {x87_multiply, 5, 2},
    {x87_divide, 34, 32},
    {x87_transcendental, 42, 45},
    {add_scalar_single, 3, 1},
    {add_scalar_double, 3, 1},
    {add_single, 3, 1},
    {add_double, 4, 2},
    {multiply_scalar_single, 4, 1},
    {multiply_scalar_double, 5, 2},
    {multiply_double, 7, 4},
    {divide_scalar_single, 19, 17},
    {divide_single, 39, 39},
    {divide_scalar_double, 34, 32},
    {divide_double, 69, 69},
    {square_root_scalar_single, 20, 18},
    {square_root_scalar_double, 35, 33},
    {square_root_double, 70, 70},
    {reciprocal, 9, 8},
    {compare_flags, 0, 1},
    {compare, 4, 2},
    {minimum, 3, 1},
    {round, 4, 1},
    {convert_packed, 5, 2},
    {convert_to_double, 4, 1},
    {convert_to_single, 4, 1},
    {logic, 1, 0.5},
    {vector_add, 1, 0.5},
    {vector_shift, 1, 1},
    {multiply_low_32, 11, 11},
    {multiply_low_16, 5, 2},
    {multiply_add_16, 5, 2},
    {multiply_wide_32, 5, 2},
    {sum_differences, 5, 2},
    {shuffle_bytes, 5, 5},
    {shuffle, 1, 1},
    {unpack, 1, 1},
    {blend_variable, 4, 4},
    {horizontal_add, 6, 6},
    {dot_product, 15, 12},
    {mask_bytes, 0, 1},
    {vector_test, 0, 1},
    {aes_encode, 9, 5},
    {aes_decode, 9, 5},
    {carryless_multiply, 11, 10},
    {convert_from_integer, 5, 3.5},
    {convert_to_integer, 5, 3.5},
    {move_to_vector, 4, 3.5},
    {move_from_vector, 3, 3.5},
    {zero_idiom, 1, 0.5},
};

}  // namespace

const InstructionCosts& silvermont() {
  static const InstructionCosts costs =
      make_costs(silvermont_measured, silvermont_ports, {.small_quotient_cycles = 40});
  return costs;
}

}  // namespace pmusim::costs
