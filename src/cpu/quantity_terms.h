// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_QUANTITY_TERMS_H
#define PMUSIM_SRC_CPU_QUANTITY_TERMS_H

#include "cpu/quantity_set.h"
#include "pmusim/cpu/retirement.h"

/// What a counter adds up to over many retirements, as a sum of their quantities: `add(quantity, factor)` is
/// called for each summand. Factors are modulo 2^64.
namespace pmusim {

/// The quantity of a rule without the part that it leaves out.
template <class Add>
void for_remainder(const EventRule& rule, u64 factor, Add add) {
  if (rule.quantity != Quantity::none) add(rule.quantity, factor);
  if (rule.minus != Quantity::none) add(rule.minus, u64{0} - factor);
}

/// All occurrences, `per_unit` for each unit of a quantity.
template <class Add>
void for_occurrences(const EventRule& rule, u64 per_unit, Add add) {
  for_remainder(rule, per_unit, add);
  for (const Quantity more : rule.plus)
    if (more != Quantity::none) add(more, per_unit);
}

/// Whether each cycle that a retirement tells of by the quantity is one of those since the retirement before:
/// there are no more of them, and none has more of it than another.
constexpr bool has_alike_cycles(Quantity quantity) {
  constexpr QuantitySet alike = QuantitySet::range(Quantity::stall_cycles, Quantity::recovery_cycles) |
                                QuantitySet{Quantity::starved_cycles};
  return alike.has(quantity);
}

/// Of such cycles those with the quantity, if these satisfy the counter's condition, and those without it, if
/// those do.
template <class Add>
void for_alike_cycles(const EventRule& rule, bool with, bool without, Add add) {
  if (with) for_remainder(rule, 1, add);
  if (!without) return;
  add(Quantity::cycles, u64{1});
  for_remainder(rule, ~u64{0}, add);
}

}  // namespace pmusim

#endif
