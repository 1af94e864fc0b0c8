// SPDX-License-Identifier: MIT
#include "cpu/costs/costs.h"
#include "cpu/costs/port_roles.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Cycles as InstLatX64 measured them on 206C2.
constexpr MeasuredCost westmere_measured[] = {
    {nop, 0, 0.33},
    {move, 1, 0.36},
    {alu, 1, 0.39},
    {adc, 2, 2},
    {lea, 1, 1},
    {lea_three, 1, 1},
    {lea_scaled, 1, 1},
    {shift, 1, 0.5},
    {shift_by_cl, 1, 0.5},
    {rotate, 1, 1},
    {imul_32, 3, 1},
    {imul_64, 3, 1},
    {div_32, 28, 28},
    {div_64, 88, 87},
    {idiv_64, 98, 94},
    {bit_scan, 3, 1},
    {popcnt, 3, 1},
    {bswap, 3, 1},
    {cmov, 2, 1},
    {xchg, 2.7, 1},
    {locked, 19, 20},
    {memory_fence, 23, 23},
    {load_fence, 9, 9},
    {store_fence, 5, 5},
    {pause, 0, 9},
    {rdtsc, 0, 24},
    {cpuid, 82, 82},
    {pushf_popf, 21, 21},
    {cmpxchg_16, 17, 8.75},
    {load_mxcsr, 0, 4},
    {string, 5, 5},
    {x87_add, 3, 1},
    {x87_multiply, 5, 1},
    {x87_divide, 22, 22},
    {x87_transcendental, 43, 44},
    {add_scalar_single, 3, 1},
    {add_scalar_double, 3, 1},
    {add_single, 3, 1},
    {add_double, 3, 1},
    {multiply_scalar_single, 4, 1},
    {multiply_scalar_double, 5, 1},
    {multiply_double, 5, 1},
    {divide_scalar_single, 14, 14},
    {divide_single, 14, 14},
    {divide_scalar_double, 22, 22},
    {divide_double, 22, 22},
    {square_root_scalar_single, 18, 18},
    {square_root_scalar_double, 32, 32},
    {square_root_double, 32, 32},
    {reciprocal, 3, 2},
    {compare_flags, 0, 1},
    {compare, 3, 1},
    {minimum, 3, 1},
    {round, 3, 1},
    {convert_packed, 3, 1},
    {convert_to_double, 1, 1},
    {convert_to_single, 4, 1},
    {logic, 1, 1},
    {vector_add, 1, 0.49},
    {vector_shift, 1, 1},
    {multiply_low_32, 6, 2},
    {multiply_low_16, 3, 1},
    {multiply_add_16, 3, 1},
    {multiply_wide_32, 3, 1},
    {sum_differences, 3, 1},
    {shuffle_bytes, 1, 0.49},
    {shuffle, 1, 1},
    {unpack, 1, 1},
    {blend_variable, 2, 2},
    {horizontal_add, 5, 2},
    {dot_product, 11, 2},
    {mask_bytes, 0, 1},
    {vector_test, 0, 1},
    {aes_encode, 6, 2},
    {aes_decode, 6, 2},
    {carryless_multiply, 15, 7.58},
    {clflush, 0, 153},
    {convert_from_integer, 4, 1},
    {convert_to_integer, 3, 1},
    {move_to_vector, 2, 0.29},
    {move_from_vector, 2, 0.29},
    {zero_idiom, 1, 0.39},
};

}  // namespace

const InstructionCosts& westmere() {
  static const InstructionCosts costs =
      make_costs(westmere_measured, nehalem_ports, {.small_quotient_cycles = 22});
  return costs;
}

}  // namespace pmusim::costs
