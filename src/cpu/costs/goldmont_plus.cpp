// SPDX-License-Identifier: MIT
#include "cpu/costs/costs.h"
#include "cpu/costs/port_roles.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Cycles as InstLatX64 measured them on 706A1.
constexpr MeasuredCost goldmont_plus_measured[] = {
    {nop, 0, 0.33},
    {move, 0.8, 0.33},
    {alu, 1, 0.33},
    {adc, 2, 2},
    {lea, 1, 1},
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
    {bit_scan, 9.3, 8},
    {popcnt, 3, 1},
    {bswap, 1, 1},
    {cmov, 2, 1},
    {xchg, 4, 4},
    {locked, 14, 14},
    {memory_fence, 18, 18},
    {load_fence, 6, 6},
    {store_fence, 2, 2},
    {pause, 0, 153},
    {rdtsc, 0, 21},
    {cpuid, 81, 81},
    {rdpid, 0, 6},
    {rdrand, 0, 1421},
    {pushf_popf, 38, 38},
    {cmpxchg_16, 24, 10},
    {load_mxcsr, 0, 18},
    {string, 5, 5},
    {x87_add, 3, 1},
    {x87_multiply, 5, 2},
    {x87_divide, 14, 10},
    {x87_transcendental, 45, 46},
    {add_scalar_single, 3, 1},
    {add_scalar_double, 3, 1},
    {add_single, 3, 1},
    {add_double, 3, 1},
    {multiply_scalar_single, 4, 1},
    {multiply_scalar_double, 4, 1},
    {multiply_double, 4, 1},
    {divide_scalar_single, 11, 7},
    {divide_single, 16, 12},
    {divide_scalar_double, 14, 10},
    {divide_double, 22, 18},
    {square_root_scalar_single, 12, 8},
    {square_root_scalar_double, 18, 14},
    {square_root_double, 30, 26},
    {reciprocal, 5, 2},
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
    {horizontal_add, 6.4, 6},
    {dot_product, 18, 10},
    {mask_bytes, 0, 1},
    {vector_test, 0, 1},
    {aes_encode, 4, 1},
    {aes_decode, 4, 1},
    {carryless_multiply, 6.8, 4},
    {sha, 8, 4},
    {clflush, 0, 119},
    {convert_from_integer, 6, 0.5},
    {convert_to_integer, 5, 0.5},
    {move_to_vector, 5, 1},
    {move_from_vector, 4, 1},
};

}  // namespace

const InstructionCosts& goldmont_plus() {
  static const InstructionCosts costs =
      make_costs(goldmont_plus_measured, goldmont_ports, {.small_quotient_cycles = 26});
  return costs;
}

}  // namespace pmusim::costs
