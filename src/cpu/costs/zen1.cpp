// SPDX-License-Identifier: MIT
#include "cpu/costs/port_roles.h"
#include "cpu/costs/zen_family.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Vectors of 256 bits are two macro-ops.
constexpr MeasuredCost zen1_measured[] = {
    {mul_wide, 4, 2, 2},
    {locked, 21, 22.5, 1},
    {load_mxcsr, 0, 2, 1},
    {cpuid, 121, 121.5, 68},
    {add_256, 3, 1, 2},
    {multiply_256, 3, 1, 2},
    {divide_scalar_single, 10, 3},
    {divide_single, 10, 3},
    {divide_scalar_double, 13, 4},
    {divide_double, 13, 4},
    {divide_256_single, 10, 6, 2},
    {divide_256_double, 13, 8, 2},
    {round, 4, 1, 1},
    {convert_from_integer, 8, 1, 2},
    {convert_to_integer, 8, 1, 2},
    {convert_packed, 4, 1},
    {convert_to_double, 4, 1, 1},
    {convert_to_single, 4, 1, 1},
    {insert_lane, 1, 0.67, 2},
    {extract_lane, 3, 0.37},
    {vector_add_256, 1, 0.67, 2, 2},
    // compiler
    {multiply_scalar_double, 4, 0.5},
    {multiply_double, 4, 0.5},
    {fma_256, 5, 1, 2},
    {square_root_scalar_single, 14, 5},
    {square_root_scalar_double, 20, 8},
    {square_root_double, 20, 8},
    {square_root_256_single, 14, 10, 2},
    {square_root_256_double, 20, 16, 2},
    // recalled
    {permute_lanes, 3, 3, 8},
    {permute_words, 5, 4, 3},
    {pause, 0, 3},
    {gather_single_256, 24, 20, 66},
    {gather_128, 20, 12, 35},
    {gather_256, 24, 20, 66},
    {gather_quad_256, 20, 12, 35},
};

}  // namespace

const InstructionCosts& zen1() {
  static constexpr MeasuredCosts tables[] = {zen1_measured, zen::until_zen2, zen::common};
  static const InstructionCosts costs = make_costs(tables, zen1_ports, {});
  return costs;
}

}  // namespace pmusim::costs
