// SPDX-License-Identifier: MIT
#include "cpu/costs/costs.h"
#include "cpu/costs/port_roles.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Cycles as InstLatX64 measured them on Celeron 215 (6E8).
constexpr MeasuredCost yonah_measured[] = {
    {nop, 0, 0.5},
    {move, 1, 0.5},
    {alu, 1, 0.5},
    {adc, 2, 2},
    {lea, 1, 1},
    {lea_three, 1, 1},
    {lea_scaled, 1, 1},
    {shift, 1, 1},
    {shift_by_cl, 1, 1},
    {rotate, 1, 1},
    {double_shift, 2, 2},
    {imul_32, 4, 1},
    {div_32, 39, 39},
    {bit_scan, 2, 1.08},
    {bswap, 2, 1},
    {cmov, 2, 1.25},
    {xchg, 2.1, 1.5},
    {locked, 21, 21},
    {memory_fence, 6.7, 6.67},
    {load_fence, 6.3, 6.33},
    {store_fence, 6.7, 6.67},
    {pause, 0, 6.83},
    {rdtsc, 0, 98},
    {cpuid, 154, 154},
    {pushf_popf, 24, 24},
    {load_mxcsr, 0, 24},
    {x87_add, 3, 1},
    {x87_multiply, 5, 2},
    {x87_divide, 32, 31},
    {x87_transcendental, 33, 34},
    {add_scalar_single, 3, 1},
    {add_scalar_double, 3, 1},
    {add_single, 3, 2},
    {add_double, 3, 2},
    {multiply_scalar_single, 4, 1},
    {multiply_scalar_double, 5, 2},
    {multiply_double, 5, 4},
    {divide_scalar_single, 18, 17},
    {divide_single, 34, 34},
    {divide_scalar_double, 32, 31},
    {divide_double, 62, 62},
    {square_root_scalar_single, 30, 28},
    {square_root_scalar_double, 58, 57},
    {square_root_double, 114, 114},
    {reciprocal, 3, 2},
    {compare_flags, 0, 1},
    {compare, 3, 2},
    {minimum, 3, 1},
    {convert_packed, 3, 2},
    {convert_to_double, 2, 2},
    {convert_to_single, 4, 1},
    {logic, 1.1, 1.08},
    {vector_add, 1.1, 1.08},
    {vector_shift, 2, 2},
    {multiply_low_16, 3, 2},
    {multiply_add_16, 3, 2},
    {multiply_wide_32, 4, 2},
    {sum_differences, 4, 2.08},
    {shuffle, 2, 2},
    {unpack, 2, 2},
    {horizontal_add, 7, 3.92},
    {mask_bytes, 0, 1},
    {convert_from_integer, 4, 0.875},
    {convert_to_integer, 4, 0.875},
    {move_to_vector, 2, 0.71},
    {move_from_vector, 0.2, 0.71},
    {zero_idiom, 1, 0.5},
};

}  // namespace

const InstructionCosts& yonah() {
  static const InstructionCosts costs = make_costs(yonah_measured, yonah_ports, {});
  return costs;
}

}  // namespace pmusim::costs
