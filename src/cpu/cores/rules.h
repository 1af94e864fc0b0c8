// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_RULES_H
#define PMUSIM_SRC_CPU_CORES_RULES_H

#include <array>
#include <cstddef>

#include "core_numbers.h"

/// What decoders and renamers of large cores do that costs time, each rule with its source: A. Abel and J.
/// Reineke, "uiCA" (ICS 2022), and what uops.info measured; Intel's optimization manual. A core has the rules
/// of the one before it unless its file names others.
namespace pmusim::presets {

/// Cores at which rules change, in the order of the columns below.
enum class RuleSet : u8 {
  nehalem,
  sandy_bridge,
  ivy_bridge,
  haswell,
  skylake,
  ice_lake,
  golden_cove,
  count_
};
inline constexpr std::size_t rule_sets = static_cast<std::size_t>(RuleSet::count_);

namespace rule {

struct Value {
  unsigned value = 0;
  FactSource source = FactSource::none;
};
constexpr Value measured(unsigned value) { return {value, FactSource::measured}; }
constexpr Value published(unsigned value) { return {value, FactSource::published}; }
constexpr Value recalled(unsigned value) { return {value, FactSource::recalled}; }
constexpr Value inferred(unsigned value) { return {value, FactSource::inferred}; }

struct Row {
  std::string_view name;
  unsigned CoreParameters::*member = nullptr;
  std::array<Value, rule_sets> values;
};

// Nehalem: Intel's optimization manual (six instructions found per cycle; stack pointer tracker; constants
// relative to RIP); partial registers are renamed by themselves there.
// Jumps at borders: since the microcode of November 2019 (Intel, "Mitigations for Jump Conditional Code
// Erratum"). Golden Cove's blocks of code have 32 bytes, so more instructions each.
inline constexpr auto rows = std::to_array<Row>({
    {"predecode_instructions",
     &CoreParameters::predecode_instructions,
     {{published(6), measured(5), measured(5), measured(5), measured(5), measured(5), inferred(0)}}},
    {"last_decoder_leaves_pairs",
     &CoreParameters::last_decoder_leaves_pairs,
     {{inferred(0), measured(1), measured(1), measured(1), measured(0), measured(0), inferred(0)}}},
    {"stack_sync_uops",
     &CoreParameters::stack_sync_uops,
     {{published(1), published(1), published(1), published(1), published(1), published(1), inferred(1)}}},
    {"merges_partial_registers",
     &CoreParameters::merges_partial_registers,
     {{recalled(0), recalled(16), recalled(8), measured(8), measured(8), measured(8), inferred(8)}}},
    {"waits_for_old_destination",
     &CoreParameters::waits_for_old_destination,
     {{inferred(4), measured(5), measured(5), measured(7), measured(5), measured(4), inferred(4)}}},
    {"splits_indexed_operands",
     &CoreParameters::splits_indexed_operands,
     {{recalled(0), published(1), published(1), measured(2), measured(2), measured(2), inferred(2)}}},
    {"splits_constants_at_rip",
     &CoreParameters::splits_constants_at_rip,
     {{published(1), published(1), published(1), published(1), published(1), published(1), inferred(1)}}},
    {"jump_border_erratum",
     &CoreParameters::jump_border_erratum,
     {{published(0), published(0), published(0), published(0), published(1), published(0), published(0)}}},
    {"slow_address_cycles",
     &CoreParameters::slow_address_cycles,
     {{measured(0), published(1), published(1), published(1), measured(1), measured(0), measured(0)}}},
    {"high_byte_merge_uops",
     &CoreParameters::high_byte_merge_uops,
     {{recalled(1), measured(1), measured(1), measured(1), measured(1), measured(1), measured(1)}}},
    {"l1d_bank_bytes",
     &CoreParameters::l1d_bank_bytes,
     {{recalled(0), published(8), published(8), published(0), published(0), published(0), published(0)}}},
});

}  // namespace rule

/// The rows' values of one core.
constexpr std::array<CoreNumber, rule::rows.size()> rules_of(RuleSet set) {
  std::array<CoreNumber, rule::rows.size()> numbers;
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const rule::Row& row = rule::rows[n];
    const rule::Value& value = row.values[static_cast<std::size_t>(set)];
    numbers[n] = count(row.name, row.member, value.value, value.source);
  }
  return numbers;
}

template <RuleSet rule_set>
void use_rules(CoreParameters& core) {
  static constexpr auto numbers = rules_of(rule_set);
  for (const CoreNumber& each : numbers) set(core, each);
  core.rules = numbers;
}

}  // namespace pmusim::presets

#endif
