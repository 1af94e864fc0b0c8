// SPDX-License-Identifier: MIT
#include "cpu/costs/costs.h"
#include "cpu/costs/port_roles.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Cycles as InstLatX64 measured them on 906C0.
constexpr MeasuredCost tremont_measured[] = {
    {nop, 0, 0.34},
    {move, 0.8, 0.34},
    {alu, 1, 0.33},
    {adc, 2, 2},
    {lea, 1, 0.34},
    {lea_three, 2, 1},
    {lea_scaled, 2, 1},
    {shift, 1, 1},
    {shift_by_cl, 1, 1},
    {rotate, 1, 1},
    {imul_32, 3, 1},
    {imul_64, 5, 2},
    {div_32, 26, 26},
    {div_64, 42, 42},
    {idiv_64, 42, 42},
    {bit_scan, 3, 1},
    {popcnt, 3, 1},
    {bswap, 1, 1},
    {cmov, 2, 1},
    {xchg, 4, 4},
    {locked, 15, 15},
    {memory_fence, 37, 37},
    {load_fence, 25, 25},
    {store_fence, 2, 2},
    {pause, 0, 176},
    {rdtsc, 0, 25},
    {cpuid, 131, 131},
    {rdpid, 0, 9},
    {rdrand, 0, 2323},
    {pushf_popf, 64, 64},
    {cmpxchg_16, 24, 13},
    {load_mxcsr, 0, 11},
    {string, 5, 5},
    {x87_add, 3, 1},
    {x87_multiply, 5, 2},
    {x87_divide, 13, 8},
    {x87_transcendental, 59, 59},
    {add_scalar_single, 3, 1},
    {add_scalar_double, 3, 1},
    {add_single, 3, 1},
    {add_double, 3, 1},
    {multiply_scalar_single, 4, 1},
    {multiply_scalar_double, 4, 1},
    {multiply_double, 4, 1},
    {divide_scalar_single, 10, 5},
    {divide_single, 15, 10},
    {divide_scalar_double, 13, 8},
    {divide_double, 21, 16},
    {square_root_scalar_single, 11, 6},
    {square_root_scalar_double, 17, 12},
    {square_root_double, 29, 24},
    {reciprocal, 5, 2},
    {compare_flags, 0, 1.08},
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
    {blend_variable, 3, 2},
    {horizontal_add, 7, 6},
    {dot_product, 10, 1.5},
    {mask_bytes, 0, 1.08},
    {vector_test, 0, 1.08},
    {aes_encode, 4, 0.48},
    {aes_decode, 4, 0.48},
    {carryless_multiply, 4, 1},
    {sha, 5, 2},
    {clflush, 0, 100},
    {convert_from_integer, 6, 0.625},
    {convert_to_integer, 6, 0.625},
    {move_to_vector, 5, 1},
    {move_from_vector, 5, 1},
};

}  // namespace

const InstructionCosts& tremont() {
  static const InstructionCosts costs =
      make_costs(tremont_measured, tremont_ports, {.small_quotient_cycles = 26});
  return costs;
}

}  // namespace pmusim::costs
