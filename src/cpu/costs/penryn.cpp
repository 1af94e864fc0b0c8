// SPDX-License-Identifier: MIT
#include "cpu/costs/costs.h"
#include "cpu/costs/port_roles.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Cycles as InstLatX64 measured them on 10676 Yorkfield.
constexpr MeasuredCost penryn_measured[] = {
    {nop, 0, 0.33},
    {move, 1, 0.32},
    {alu, 1, 0.33},
    {adc, 2, 2},
    {lea, 1, 1},
    {lea_three, 1, 1},
    {lea_scaled, 1, 1},
    {shift, 1, 0.5},
    {shift_by_cl, 1, 0.49},
    {rotate, 1, 1},
    {imul_32, 3, 1},
    {imul_64, 5, 2},
    {div_32, 24, 24},
    {div_64, 72, 71},
    {idiv_64, 84, 83},
    {bit_scan, 2, 1},
    {bswap, 4, 1},
    {cmov, 2, 1},
    {xchg, 2.6, 1},
    {locked, 20, 20},
    {memory_fence, 6, 6},
    {load_fence, 8, 8},
    {store_fence, 9, 9},
    {pause, 0, 8},
    {rdtsc, 0, 32},
    {cpuid, 197, 197},
    {pushf_popf, 24, 24},
    {cmpxchg_16, 16, 8},
    {load_mxcsr, 0, 38},
    {string, 4, 4},
    {x87_add, 3, 1},
    {x87_multiply, 5, 1.75},
    {x87_divide, 21, 20},
    {x87_transcendental, 32, 33},
    {add_scalar_single, 3, 1},
    {add_scalar_double, 3, 1},
    {add_single, 3, 1},
    {add_double, 3, 1},
    {multiply_scalar_single, 4, 1},
    {multiply_scalar_double, 5, 1},
    {multiply_double, 5, 1},
    {divide_scalar_single, 13, 12},
    {divide_single, 13, 12},
    {divide_scalar_double, 21, 20},
    {divide_double, 21, 20},
    {square_root_scalar_single, 13, 12},
    {square_root_scalar_double, 20, 19},
    {square_root_double, 20, 19},
    {reciprocal, 3, 2},
    {compare_flags, 0, 1},
    {compare, 3, 1},
    {minimum, 3, 1},
    {round, 3, 1},
    {convert_packed, 3, 1},
    {convert_to_double, 2, 2},
    {convert_to_single, 4, 1},
    {logic, 1, 0.32},
    {vector_add, 1, 0.5},
    {vector_shift, 1, 1},
    {multiply_low_32, 5, 2},
    {multiply_low_16, 3, 1},
    {multiply_add_16, 3, 1},
    {multiply_wide_32, 3, 1},
    {sum_differences, 3, 1},
    {shuffle_bytes, 1, 1},
    {shuffle, 1, 1},
    {unpack, 1, 1},
    {blend_variable, 2, 2},
    {horizontal_add, 7, 2},
    {dot_product, 11, 2},
    {mask_bytes, 0, 1},
    {vector_test, 0, 1},
    {clflush, 0, 99},
    {convert_from_integer, 4, 1},
    {convert_to_integer, 3, 1},
    {move_to_vector, 2, 0.22},
    {move_from_vector, 2, 0.22},
    {zero_idiom, 1, 0.33},
};

}  // namespace

const InstructionCosts& penryn() {
  static const InstructionCosts costs =
      make_costs(penryn_measured, core2_ports, {.small_quotient_cycles = 20});
  return costs;
}

}  // namespace pmusim::costs
