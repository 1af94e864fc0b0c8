// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_COSTS_ZEN_FAMILY_H
#define PMUSIM_SRC_CPU_COSTS_ZEN_FAMILY_H

#include "cpu/costs/costs.h"

/// What instructions cost on AMD's cores: a table of what all have in common, one for each side of the step
/// from Zen 2 to Zen 3, and one for each core (costs/zen1.cpp ...) with what is its own. Cycles and
/// macro-ops are uops.info's of Zen to Zen 4, some of them from memory or by analogy, but for the rows below
/// "recalled" and "compiler", which is LLVM's scheduling model. Where uops.info bounds the sum of a way to
/// the other register file and back, the way back from it is taken to be 2 cycles. Divisions cost what small
/// operands do.
namespace pmusim::costs::zen {

using enum InstructionForm;

inline constexpr MeasuredCost common[] = {
    {nop, 0, 0.2},
    {move, 1, 0.25},
    {alu, 1, 0.25},
    {lea, 1, 0.25},
    {imul_32, 3, 1},
    {imul_64, 3, 1},
    {mul_wide, 4, 1, 2},
    {popcnt, 1, 0.25},
    {lzcnt, 1, 0.25},
    {tzcnt, 2, 0.5, 2},
    {xchg, 1, 0.5, 2},
    {bswap, 1, 0.25},
    {string, 3, 3, 5},
    {vector_load, 3, 0.5},
    {call, 1, 1, 2},
    {indirect_call, 1, 2, 2},
    {add_scalar_single, 3, 0.5},
    {add_scalar_double, 3, 0.5},
    {add_single, 3, 0.5},
    {add_double, 3, 0.5},
    {add_256, 3, 0.5},
    {multiply_scalar_single, 3, 0.5},
    {multiply_scalar_double, 3, 0.5},
    {multiply_double, 3, 0.5},
    {multiply_256, 3, 0.5},
    {logic, 1, 0.25},
    {shuffle_bytes, 1, 0.5},
    {shuffle, 1, 0.5},
    {unpack, 1, 0.5},
    {blend_variable, 1, 0.5, 1, 2},
    {horizontal_add, 6, 2, 4},
    {dot_product, 15, 4, 8},
    {permute_lanes, 3, 1},
    {compare_flags, 0, 1, 2},
    {compare, 1, 0.5},
    {minimum, 1, 0.5},
    {mask_bytes, 0, 1},
    {aes_encode, 4, 0.5},
    {aes_decode, 4, 0.5},
    {carryless_multiply, 4, 2, 4},
    {move_to_vector, 3, 1},
    {move_from_vector, 2, 1},
    // compiler
    {sha, 4, 2},
    // recalled
    {ret, 1, 1, 1},
    {load_fence, 8, 8, 1},
    {store_fence, 14, 14, 1},
    {memory_fence, 70, 70, 7},
    {cmpxchg_16, 16, 15, 22},
    {pushf_popf, 17, 17, 30},
    {x87_add, 5, 1},
    {x87_multiply, 5, 1},
    {x87_divide, 15, 6},
    {x87_transcendental, 50, 50},
    {clflush, 0, 60},
};

inline constexpr MeasuredCost until_zen2[] = {
    {adc, 1, 0.25},
    {lea_three, 2, 0.53},
    {lea_scaled, 2, 0.53},
    {shift, 1, 0.25},
    {shift_by_cl, 1, 0.25},
    {rotate, 1, 0.25},
    {set, 1, 0.25},
    {cmov, 1, 0.25},
    {div_32, 14, 14, 2},
    {div_64, 14, 14, 2},
    {idiv_64, 14, 14, 2},
    {vector_add, 1, 0.33},
    {vector_shift, 1, 1},
    {multiply_low_32, 4, 2},
    {multiply_low_16, 3, 1},
    {multiply_add_16, 3, 1},
    {multiply_wide_32, 3, 1},
    {sum_differences, 3, 1},
    {convert_to_double, 3, 1, 1},
    {convert_to_single, 3, 1, 1},
    {convert_packed, 3, 1},
    {vector_test, 0, 1, 1},
    // compiler
    {bit_scan, 3, 3, 6},
    {fma_scalar, 5, 0.5},
    {fma_256, 5, 0.5},
    {reciprocal, 5, 0.5},
    // recalled
    {double_shift, 3, 3, 6},
    {pdep, 18, 19, 8},
    {rdtsc, 0, 38, 38},
};

inline constexpr MeasuredCost since_zen3[] = {
    {adc, 1, 0.5},
    {lea_three, 2, 0.5, 2},
    {lea_scaled, 2, 0.5, 2},
    {shift, 1, 0.5},
    {shift_by_cl, 1, 0.5},
    {rotate, 1, 0.5},
    {double_shift, 2, 1.5, 4},
    {set, 1, 0.5},
    {cmov, 1, 0.5},
    {div_32, 10, 6, 2},
    {div_64, 10, 7, 2},
    {idiv_64, 10, 7, 2},
    {locked, 7, 7.48, 1},
    {load_mxcsr, 0, 1.5, 1},
    {cpuid, 128, 128, 82},
    {rdtsc, 0, 36, 44},
    {fma_scalar, 4, 0.5},
    {fma_256, 4, 0.5},
    {round, 3, 0.5, 1},
    {convert_packed, 3, 0.5},
    {convert_to_double, 3, 0.5, 1},
    {convert_to_single, 3, 0.5, 1},
    {vector_add, 1, 0.25},
    {vector_shift, 1, 0.5},
    {multiply_low_32, 3, 0.5},
    {multiply_low_16, 3, 0.5},
    {multiply_add_16, 3, 0.5},
    {multiply_wide_32, 3, 0.5},
    {sum_differences, 3, 0.5},
    {reciprocal, 3, 0.5},
    {vector_test, 0, 1, 2},
    // compiler
    {pdep, 3, 1},
    // recalled
    {pause, 0, 64},
    {gather_single_256, 20, 8, 39},
    {gather_128, 18, 4, 24},
    {gather_256, 20, 8, 39},
    {gather_quad_256, 18, 6, 24},
};

/// Beside the rows of since_zen3, which these go before.
inline constexpr MeasuredCost since_zen4[] = {
    {locked, 7, 7.4, 1},
    {divide_scalar_single, 11, 3},
    {divide_single, 11, 3},
    {divide_scalar_double, 13, 5},
    {divide_double, 13, 5},
    {divide_256_single, 11, 3},
    {divide_256_double, 13, 5},
    {compare, 2, 0.5},
    {minimum, 2, 0.5},
    {convert_from_integer, 6, 1.25, 2},
    {convert_to_integer, 6, 1, 2},
    {horizontal_add, 4, 2, 4},
    {dot_product, 11, 4, 8},
    // compiler
    {permute_words, 5, 1, 2},
    {reciprocal, 4, 0.5},
    {square_root_scalar_single, 15, 5},
    {square_root_scalar_double, 21, 9},
    {square_root_double, 21, 9},
    {square_root_256_single, 15, 5},
    {square_root_256_double, 21, 9},
};

}  // namespace pmusim::costs::zen

#endif
