// SPDX-License-Identifier: MIT
#include "cpu/costs/port_roles.h"
#include "cpu/costs/zen_family.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// The first with paths of 256 bits.
constexpr MeasuredCost zen2_measured[] = {
    {locked, 16, 17.5, 1},
    {load_mxcsr, 0, 2, 1},
    {cpuid, 125, 125.5, 77},
    {divide_scalar_single, 10, 3.5},
    {divide_single, 10, 3.5},
    {divide_scalar_double, 13, 5},
    {divide_double, 13, 5},
    {divide_256_single, 10, 3.5},
    {divide_256_double, 13, 5},
    {convert_from_integer, 7, 1, 2},
    {convert_to_integer, 7, 1, 2},
    {insert_lane, 1, 1},
    {extract_lane, 3, 1},
    {vector_add_256, 1, 0.33},
    // compiler
    {round, 3, 1, 1},
    {permute_words, 8, 2, 2},
    {square_root_scalar_single, 14, 7},
    {square_root_scalar_double, 20, 10},
    {square_root_double, 20, 10},
    {square_root_256_single, 14, 7},
    {square_root_256_double, 20, 10},
    // recalled
    {pause, 0, 64},
    {gather_single_256, 22, 16, 60},
    {gather_128, 20, 9, 35},
    {gather_256, 22, 16, 60},
    {gather_quad_256, 20, 9, 35},
};

}  // namespace

const InstructionCosts& zen2() {
  static constexpr MeasuredCosts tables[] = {zen2_measured, zen::until_zen2, zen::common};
  static const InstructionCosts costs = make_costs(tables, zen2_ports, {});
  return costs;
}

}  // namespace pmusim::costs
