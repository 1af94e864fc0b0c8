// SPDX-License-Identifier: MIT
#include "cpu/costs/costs.h"
#include "cpu/costs/port_roles.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Cycles as InstLatX64 measured them on 206A7.
constexpr MeasuredCost sandybridge_measured[] = {
    {nop, 0, 0.25},
    {move, 1, 0.33},
    {alu, 1, 0.33},
    {adc, 2, 1, 2},
    {lea, 1, 0.5},
    {lea_three, 3, 1},
    {lea_scaled, 3, 1},
    {shift, 1, 0.5},
    {shift_by_cl, 2, 2, 3},
    {rotate, 1, 1},
    {imul_32, 3, 1},
    {imul_64, 3, 1},
    {div_32, 26, 11},
    {div_64, 95, 92},
    {idiv_64, 104, 101},
    {bit_scan, 3, 1},
    {popcnt, 3, 1},
    {bswap, 2, 1},
    {cmov, 2, 1, 2, 0, 1},
    {cmov_two_flags, 2, 1, 3, 0, 1},
    {set_two_flags, 2, 1, 2, 0, 1},
    {xchg, 2.2, 1},
    {locked, 23, 25},
    {memory_fence, 33, 33},
    {load_fence, 4.3, 4.25},
    {store_fence, 5.9, 5.92},
    {pause, 0, 11},
    {rdtsc, 0, 28},
    {cpuid, 96, 96},
    {pushf_popf, 23, 23},
    {cmpxchg_16, 16, 9},
    {load_mxcsr, 0, 2.33},
    {string, 4, 4},
    {x87_add, 3, 1},
    {x87_multiply, 5, 1},
    {x87_divide, 22, 22},
    {x87_transcendental, 49, 50},
    {add_scalar_single, 3, 1},
    {add_scalar_double, 3, 1},
    {add_single, 3, 1},
    {add_double, 3, 1},
    {add_256, 3, 1},
    {multiply_scalar_single, 5, 1},
    {multiply_scalar_double, 5, 1},
    {multiply_double, 5, 1},
    {multiply_256, 5, 1},
    {divide_scalar_single, 14, 14},
    {divide_single, 14, 14},
    {divide_scalar_double, 22, 22},
    {divide_double, 22, 22},
    {divide_256_single, 30, 28},
    {divide_256_double, 46, 44},
    {square_root_scalar_single, 14, 14},
    {square_root_scalar_double, 21, 22},
    {square_root_double, 21, 22},
    {square_root_256_single, 30, 28},
    {square_root_256_double, 43, 44},
    {reciprocal, 5, 1},
    {compare_flags, 0, 1},
    {compare, 3, 1},
    {minimum, 3, 1},
    {round, 3, 1},
    {convert_packed, 3, 1},
    {convert_to_double, 2, 1},
    {convert_to_single, 4, 1},
    {logic, 1, 1},
    {vector_add, 1, 0.5},
    {vector_shift, 1, 1},
    {multiply_low_32, 5, 1},
    {multiply_low_16, 5, 1},
    {multiply_add_16, 5, 1},
    {multiply_wide_32, 5, 1},
    {sum_differences, 5, 1},
    {shuffle_bytes, 1, 0.5},
    {shuffle, 1, 1},
    {unpack, 1, 1},
    {blend_variable, 2, 1},
    {horizontal_add, 5, 2},
    {dot_product, 12, 1},
    {permute_lanes, 2, 1},
    {insert_lane, 2, 1},
    {extract_lane, 2, 1},
    {mask_bytes, 0, 1},
    {vector_test, 0, 1},
    {aes_encode, 8, 1.17},
    {aes_decode, 8, 1.17},
    {carryless_multiply, 14, 8},
    {clflush, 0, 62},
    {convert_from_integer, 4, 1, 2, 0, 1},
    {convert_to_integer, 4, 1},
    {move_to_vector, 1, 0.5},
    {move_from_vector, 1, 0.5},
};

}  // namespace

const InstructionCosts& sandybridge() {
  static const InstructionCosts costs = make_costs(
      sandybridge_measured, sandybridge_ports, {.small_quotient_cycles = 23, .small_quotient_latency = 34});
  return costs;
}

}  // namespace pmusim::costs
