// SPDX-License-Identifier: MIT
#include "cpu/costs/port_roles.h"
#include "cpu/costs/zen_family.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// The first with stores, branches and moves to general registers beside the pipes of arithmetic.
constexpr MeasuredCost zen3_measured[] = {
    {divide_scalar_single, 10, 3.5},
    {divide_single, 10, 3.5},
    {divide_scalar_double, 13, 4.5},
    {divide_double, 13, 4.5},
    {divide_256_single, 10, 3.5},
    {divide_256_double, 13, 4.5},
    {square_root_scalar_single, 14, 5},
    {square_root_scalar_double, 20, 8.5},
    {square_root_double, 20, 8.5},
    {square_root_256_single, 14, 5},
    {square_root_256_double, 20, 8.5},
    {convert_from_integer, 7, 1, 2},
    {convert_to_integer, 7, 1, 2},
    {vector_add_256, 1, 0.25},
    {permute_words, 8, 1.17, 2},
    {insert_lane, 1, 1, 1, 2},
    {extract_lane, 3, 1},
    // compiler
    {bit_scan, 3, 3, 6},
};

}  // namespace

const InstructionCosts& zen3() {
  static constexpr MeasuredCosts tables[] = {zen3_measured, zen::since_zen3, zen::common};
  static const InstructionCosts costs = make_costs(tables, zen3_ports, {});
  return costs;
}

}  // namespace pmusim::costs
