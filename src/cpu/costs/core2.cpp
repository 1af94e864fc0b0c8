// SPDX-License-Identifier: MIT
#include "cpu/costs/costs.h"
#include "cpu/costs/port_roles.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Cycles as InstLatX64 measured them on 6F6 Merom.
constexpr MeasuredCost core2_measured[] = {
    {nop, 0, 0.33},
    {move, 1, 0.32},
    {alu, 1, 0.33},
    {adc, 2, 2},
    {lea, 1, 1},
    {lea_three, 1, 1},
    {lea_scaled, 1, 1},
    {shift, 1, 0.5},
    {shift_by_cl, 1, 0.5},
    {rotate, 1, 1},
    {double_shift, 2, 1},
    {imul_32, 3, 1},
    {imul_64, 5, 2},
    {mul_wide, 7, 6.83},
    {div_32, 41, 41},
    {div_64, 120, 120},
    {idiv_64, 129, 129},
    {bit_scan, 2, 1},
    {bswap, 4, 1},
    {cmov, 2, 1},
    {xchg, 2.6, 1},
    {memory_fence, 9, 9},
    {load_fence, 8, 8},
    {store_fence, 9, 9},
    {pause, 0, 8},
    {rdtsc, 0, 64},
    {cpuid, 180, 180},
    {pushf_popf, 25, 25},
    {cmpxchg_16, 16, 9},
    {load_mxcsr, 0, 42},
    {string, 5, 5},
    {x87_add, 3, 1},
    {x87_multiply, 5, 1.75},
    {x87_divide, 32, 31},
    {add_scalar_single, 3, 1},
    {add_scalar_double, 3, 1},
    {add_single, 3, 1},
    {add_double, 3, 1},
    {multiply_scalar_single, 4, 1},
    {multiply_scalar_double, 5, 1},
    {multiply_double, 5, 1},
    {divide_scalar_single, 18, 17},
    {divide_single, 18, 17},
    {divide_scalar_double, 32, 31},
    {divide_double, 32, 31},
    {square_root_scalar_single, 29, 28},
    {square_root_scalar_double, 58, 57},
    {square_root_double, 58, 57},
    {reciprocal, 3, 2},
    {compare_flags, 0, 1},
    {compare, 3, 1},
    {minimum, 3, 1},
    {convert_packed, 3, 1},
    {convert_to_double, 2, 2},
    {convert_to_single, 4, 1},
    {logic, 1, 0.32},
    {vector_add, 1, 0.48},
    {vector_shift, 1, 1},
    {multiply_low_16, 3, 1},
    {multiply_add_16, 3, 1},
    {multiply_wide_32, 3, 1},
    {sum_differences, 3, 1},
    {shuffle_bytes, 3, 2},
    {shuffle, 4, 1},
    {unpack, 4, 1},
    {horizontal_add, 9, 3},
    {mask_bytes, 0, 1},
    {convert_from_integer, 4, 1},
    {convert_to_integer, 3, 1},
    {move_to_vector, 2, 0.16},
    {move_from_vector, 2, 0.16},
    {zero_idiom, 1, 0.33},
};

}  // namespace

const InstructionCosts& core2() {
  static const InstructionCosts costs =
      make_costs(core2_measured, core2_ports, {.small_quotient_cycles = 37});
  return costs;
}

}  // namespace pmusim::costs
