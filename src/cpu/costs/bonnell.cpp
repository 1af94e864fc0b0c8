// SPDX-License-Identifier: MIT
#include "cpu/costs/costs.h"
#include "cpu/costs/port_roles.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Cycles as InstLatX64 measured them on 106C2.
constexpr MeasuredCost bonnell_measured[] = {
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
    {imul_32, 5, 2},
    {imul_64, 14, 11},
    {div_32, 49, 49},
    {div_64, 192, 192},
    {idiv_64, 215, 215},
    {bit_scan, 17, 16},
    {bswap, 1, 1},
    {cmov, 2, 2},
    {xchg, 6, 6},
    {locked, 8, 1},
    {memory_fence, 1, 1},
    {load_fence, 0.5, 0.5},
    {store_fence, 1, 1},
    {pause, 0, 24},
    {rdtsc, 0, 29},
    {cpuid, 112, 112},
    {pushf_popf, 42, 42},
    {cmpxchg_16, 29, 22},
    {load_mxcsr, 0, 6},
    {string, 6.4, 6.42},
    {x87_add, 5, 2},
    {x87_multiply, 5, 2},
    {x87_divide, 60, 60},
    {x87_transcendental, 43, 45},
    {add_scalar_single, 5, 1},
    {add_scalar_double, 5, 1},
    {add_single, 5, 1},
    {add_double, 6, 6},
    {multiply_scalar_single, 4, 1},
    {multiply_scalar_double, 5, 2},
    {multiply_double, 9, 9},
    {divide_scalar_single, 31, 31},
    {divide_single, 64, 64},
    {divide_scalar_double, 60, 60},
    {divide_double, 122, 123},
    {square_root_scalar_single, 31, 31},
    {square_root_scalar_double, 60, 60},
    {square_root_double, 121, 122},
    {reciprocal, 9, 8},
    {compare_flags, 0, 9},
    {compare, 6, 6},
    {minimum, 5, 1},
    {convert_packed, 6, 6},
    {convert_to_double, 6, 6},
    {convert_to_single, 10, 10},
    {logic, 1, 0.5},
    {vector_add, 1, 0.5},
    {vector_shift, 1, 1},
    {multiply_low_16, 5, 2},
    {multiply_add_16, 5, 2},
    {multiply_wide_32, 5, 2},
    {sum_differences, 5, 2},
    {shuffle_bytes, 6, 6},
    {shuffle, 1, 1},
    {unpack, 1, 1},
    {horizontal_add, 8, 7},
    {mask_bytes, 0, 2},
    {clflush, 0, 120},
    {convert_from_integer, 9, 7},
    {convert_to_integer, 9, 7},
    {move_to_vector, 4, 3.5},
    {move_from_vector, 3, 3.5},
    {zero_idiom, 1, 0.5},
};

}  // namespace

const InstructionCosts& bonnell() {
  static const InstructionCosts costs =
      make_costs(bonnell_measured, bonnell_ports, {.small_quotient_cycles = 128});
  return costs;
}

}  // namespace pmusim::costs
