// SPDX-License-Identifier: MIT
#include "cpu/costs/port_roles.h"
#include "cpu/costs/zen_family.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Vectors of 512 bits are one macro-op that its pipe takes twice.
constexpr MeasuredCost zen4_measured[] = {
    {locked, 7, 7.4, 1},
    {add_512, 3, 1},
    {multiply_512, 3, 1},
    {fma_512, 4, 1},
    {vector_add_256, 1, 0.25},
    {vector_add_512, 1, 0.5, 1, 2},
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
    {shuffle, 1, 0.33},
    {unpack, 1, 0.33},
    {horizontal_add, 4, 2, 4},
    {dot_product, 11, 4, 8},
    {insert_lane, 1, 0.5},
    {extract_lane, 1, 0.25},
    // compiler
    {bit_scan, 1, 1, 1, 4},
    {permute_words, 5, 1, 2},
    {reciprocal, 4, 0.5},
    {square_root_scalar_single, 15, 5},
    {square_root_scalar_double, 21, 9},
    {square_root_double, 21, 9},
    {square_root_256_single, 15, 5},
    {square_root_256_double, 21, 9},
};

}  // namespace

const InstructionCosts& zen4() {
  static constexpr MeasuredCosts tables[] = {zen4_measured, zen::since_zen3, zen::common};
  static const InstructionCosts costs = make_costs(tables, zen4_ports, {});
  return costs;
}

}  // namespace pmusim::costs
