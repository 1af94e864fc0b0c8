// SPDX-License-Identifier: MIT
#include "cpu/costs/port_roles.h"
#include "cpu/costs/zen_family.h"

namespace pmusim::costs {
namespace {

using enum InstructionForm;

// Vectors of 512 bits are one macro-op that its pipe takes twice.
constexpr MeasuredCost zen4_measured[] = {
    {add_512, 3, 1},
    {multiply_512, 3, 1},
    {fma_512, 4, 1},
    {vector_add_256, 1, 0.25},
    {vector_add_512, 1, 0.5, 1, 2},
    {shuffle, 1, 0.33},
    {unpack, 1, 0.33},
    {insert_lane, 1, 0.5},
    {extract_lane, 1, 0.25},
    // compiler
    {bit_scan, 1, 1, 1, 4},
};

}  // namespace

const InstructionCosts& zen4() {
  static constexpr MeasuredCosts tables[] = {zen4_measured, zen::since_zen4, zen::since_zen3, zen::common};
  static const InstructionCosts costs = make_costs(tables, zen4_ports, {});
  return costs;
}

}  // namespace pmusim::costs
