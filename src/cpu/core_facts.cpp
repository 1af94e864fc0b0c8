// SPDX-License-Identifier: MIT
#include "cpu/core_facts.h"

#include <algorithm>
#include <array>

#include "cores/cores.h"

namespace pmusim {
namespace {

/// Facts by the number of their core; those of `unknown` where the list has none.
const std::array<const CoreFacts*, 256>& facts_by_core() {
  static const auto facts = [] {
    std::array<const CoreFacts*, 256> by_core;
    by_core.fill(&cores::architectural::facts);
    for (const CoreFacts* f : cores::all()) by_core[static_cast<u8>(f->core)] = f;
    return by_core;
  }();
  return facts;
}

const Product* find_product(const CoreFacts& facts, u32 family, u32 model) {
  const auto found = std::ranges::find_if(
      facts.products, [&](const Product& p) { return p.family == family && p.model == model; });
  return found == facts.products.end() ? nullptr : &*found;
}

}  // namespace

const CoreFacts& core_facts(Microarchitecture core) { return *facts_by_core()[static_cast<u8>(core)]; }

ProductCores product_cores(u32 family, u32 model) {
  const CoreFacts *p_core = nullptr, *atom = nullptr;
  for (const CoreFacts* facts : cores::all())
    if (find_product(*facts, family, model) != nullptr)
      (facts->type == CoreType::atom ? atom : p_core) = facts;
  if (p_core == nullptr) p_core = atom;
  if (p_core == nullptr) return {};
  return {p_core->core, atom == nullptr ? p_core->core : atom->core};
}

bool has_unreliable_pebs(u32 family, u32 model) {
  return std::ranges::any_of(cores::all(), [&](const CoreFacts* facts) {
    const Product* product = find_product(*facts, family, model);
    return product != nullptr && product->pebs == PebsErrata::unusable;
  });
}

}  // namespace pmusim
