// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_CORE_NUMBERS_H
#define PMUSIM_SRC_CPU_CORES_CORE_NUMBERS_H

#include "pmusim/cpu/model.h"

/// The numbers of a core, each with its source.
namespace pmusim::presets {

constexpr CoreNumber count(std::string_view name, unsigned CoreParameters::*member, unsigned value,
                           FactSource source) {
  return {.name = name, .number = member, .value = value, .source = source};
}
constexpr CoreNumber cache(std::string_view name, CacheGeometry CoreParameters::*member,
                           CacheGeometry geometry, FactSource source) {
  return {.name = name, .cache = member, .geometry = geometry, .source = source};
}
constexpr CoreNumber clock(std::string_view name, u64 CoreParameters::*member, u64 hertz, FactSource source) {
  return {.name = name, .hertz = member, .value = hertz, .source = source};
}

inline void set(CoreParameters& core, const CoreNumber& n) {
  if (n.number != nullptr) core.*n.number = static_cast<unsigned>(n.value);
  if (n.cache != nullptr) core.*n.cache = n.geometry;
  if (n.hertz != nullptr) core.*n.hertz = n.value;
}

/// All numbers of a core, and its costs.
inline void use(CoreParameters& core, std::span<const CoreNumber> numbers, const InstructionCosts& costs) {
  for (const CoreNumber& n : numbers) set(core, n);
  core.numbers = numbers;
  core.product_numbers = {};
  core.costs = &costs;
}

/// What is different in another product with the core.
inline void use_product(CoreParameters& core, std::span<const CoreNumber> numbers,
                        const InstructionCosts& costs) {
  for (const CoreNumber& n : numbers) set(core, n);
  core.product_numbers = numbers;
  core.costs = &costs;
}

}  // namespace pmusim::presets

#endif
