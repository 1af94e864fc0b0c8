// SPDX-License-Identifier: MIT
#include "cpu/costs/port_roles.h"
#include "cpu/costs/zen_family.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// No table of measurements is at hand: widths and ports are those that AMD showed (Hot Chips 2024), the rest
// is Zen 4's. Recalled: additions forwarded to additions, and vector integers a cycle longer, as the press
// found.
constexpr MeasuredCost zen5_measured[] = {
    {alu, 1, 0.17},
    {lea, 1, 0.17},
    {move, 1, 0.12},
    {shift, 1, 0.33},
    {shift_by_cl, 1, 0.33},
    {rotate, 1, 0.33},
    {set, 1, 0.33},
    {cmov, 1, 0.33},
    {imul_32, 3, 0.33},
    {imul_64, 3, 0.33},
    {mul_wide, 4, 0.67, 2},
    {popcnt, 1, 0.33},
    {lzcnt, 1, 0.33},
    {bit_scan, 1, 1, 1, 3},
    {add_scalar_single, 2, 0.5},
    {add_scalar_double, 2, 0.5},
    {add_single, 2, 0.5},
    {add_double, 2, 0.5},
    {add_256, 2, 0.5},
    {add_512, 2, 0.5},
    {multiply_512, 3, 0.5},
    {fma_512, 4, 0.5},
    {logic, 2, 0.25},
    {vector_add, 2, 0.25},
    {vector_add_256, 2, 0.25},
    {vector_add_512, 2, 0.25},
    {vector_shift, 2, 0.5},
    {shuffle_bytes, 2, 0.5},
    {shuffle, 2, 0.33},
    {unpack, 2, 0.33},
    {insert_lane, 2, 0.5},
    {extract_lane, 2, 0.25},
};

}  // namespace

const InstructionCosts& zen5() {
  static constexpr MeasuredCosts tables[] = {zen5_measured, zen::since_zen4, zen::since_zen3, zen::common};
  static const InstructionCosts costs = make_costs(tables, zen5_ports, {});
  return costs;
}

}  // namespace pmusim::costs
