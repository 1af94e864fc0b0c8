// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_RULES_H
#define PMUSIM_SRC_CPU_CORES_RULES_H

#include "core_numbers.h"

/// What decoders and renamers of large cores do that costs time, each rule with its source: A. Abel and J.
/// Reineke, "uiCA" (ICS 2022), and what uops.info measured; Intel's optimization manual. A core has the rules
/// of the one before it unless its file names others.
namespace pmusim::presets {

inline constexpr CoreNumber sandy_bridge_rules[] = {
    count("predecode_instructions", &CoreParameters::predecode_instructions, 5, FactSource::measured),
    count("last_decoder_leaves_pairs", &CoreParameters::last_decoder_leaves_pairs, 1, FactSource::measured),
    count("stack_sync_uops", &CoreParameters::stack_sync_uops, 1, FactSource::published),
    count("merges_partial_registers", &CoreParameters::merges_partial_registers, 16, FactSource::recalled),
    count("waits_for_old_destination", &CoreParameters::waits_for_old_destination, 5, FactSource::measured),
    count("splits_indexed_operands", &CoreParameters::splits_indexed_operands, 1, FactSource::published),
    count("splits_constants_at_rip", &CoreParameters::splits_constants_at_rip, 1, FactSource::published),
    count("jump_border_erratum", &CoreParameters::jump_border_erratum, 0, FactSource::published),
    count("slow_address_cycles", &CoreParameters::slow_address_cycles, 1, FactSource::published),
    count("high_byte_merge_uops", &CoreParameters::high_byte_merge_uops, 1, FactSource::measured),
    count("l1d_bank_bytes", &CoreParameters::l1d_bank_bytes, 8, FactSource::published),
};
inline constexpr CoreNumber ivy_bridge_rules[] = {
    count("predecode_instructions", &CoreParameters::predecode_instructions, 5, FactSource::measured),
    count("last_decoder_leaves_pairs", &CoreParameters::last_decoder_leaves_pairs, 1, FactSource::measured),
    count("stack_sync_uops", &CoreParameters::stack_sync_uops, 1, FactSource::published),
    count("merges_partial_registers", &CoreParameters::merges_partial_registers, 8, FactSource::recalled),
    count("waits_for_old_destination", &CoreParameters::waits_for_old_destination, 5, FactSource::measured),
    count("splits_indexed_operands", &CoreParameters::splits_indexed_operands, 1, FactSource::published),
    count("splits_constants_at_rip", &CoreParameters::splits_constants_at_rip, 1, FactSource::published),
    count("jump_border_erratum", &CoreParameters::jump_border_erratum, 0, FactSource::published),
    count("slow_address_cycles", &CoreParameters::slow_address_cycles, 1, FactSource::published),
    count("high_byte_merge_uops", &CoreParameters::high_byte_merge_uops, 1, FactSource::measured),
    count("l1d_bank_bytes", &CoreParameters::l1d_bank_bytes, 8, FactSource::published),
};
inline constexpr CoreNumber haswell_rules[] = {
    count("predecode_instructions", &CoreParameters::predecode_instructions, 5, FactSource::measured),
    count("last_decoder_leaves_pairs", &CoreParameters::last_decoder_leaves_pairs, 1, FactSource::measured),
    count("stack_sync_uops", &CoreParameters::stack_sync_uops, 1, FactSource::published),
    count("merges_partial_registers", &CoreParameters::merges_partial_registers, 8, FactSource::measured),
    count("waits_for_old_destination", &CoreParameters::waits_for_old_destination, 7, FactSource::measured),
    count("splits_indexed_operands", &CoreParameters::splits_indexed_operands, 2, FactSource::measured),
    count("splits_constants_at_rip", &CoreParameters::splits_constants_at_rip, 1, FactSource::published),
    count("jump_border_erratum", &CoreParameters::jump_border_erratum, 0, FactSource::published),
    count("slow_address_cycles", &CoreParameters::slow_address_cycles, 1, FactSource::published),
    count("high_byte_merge_uops", &CoreParameters::high_byte_merge_uops, 1, FactSource::measured),
    count("l1d_bank_bytes", &CoreParameters::l1d_bank_bytes, 0, FactSource::published),
};
// The last of them since the microcode of November 2019 (Intel, "Mitigations for Jump Conditional Code
// Erratum").
inline constexpr CoreNumber skylake_rules[] = {
    count("predecode_instructions", &CoreParameters::predecode_instructions, 5, FactSource::measured),
    count("last_decoder_leaves_pairs", &CoreParameters::last_decoder_leaves_pairs, 0, FactSource::measured),
    count("stack_sync_uops", &CoreParameters::stack_sync_uops, 1, FactSource::published),
    count("merges_partial_registers", &CoreParameters::merges_partial_registers, 8, FactSource::measured),
    count("waits_for_old_destination", &CoreParameters::waits_for_old_destination, 5, FactSource::measured),
    count("splits_indexed_operands", &CoreParameters::splits_indexed_operands, 2, FactSource::measured),
    count("splits_constants_at_rip", &CoreParameters::splits_constants_at_rip, 1, FactSource::published),
    count("jump_border_erratum", &CoreParameters::jump_border_erratum, 1, FactSource::published),
    count("slow_address_cycles", &CoreParameters::slow_address_cycles, 1, FactSource::measured),
    count("high_byte_merge_uops", &CoreParameters::high_byte_merge_uops, 1, FactSource::measured),
    count("l1d_bank_bytes", &CoreParameters::l1d_bank_bytes, 0, FactSource::published),
};
inline constexpr CoreNumber ice_lake_rules[] = {
    count("predecode_instructions", &CoreParameters::predecode_instructions, 5, FactSource::measured),
    count("last_decoder_leaves_pairs", &CoreParameters::last_decoder_leaves_pairs, 0, FactSource::measured),
    count("stack_sync_uops", &CoreParameters::stack_sync_uops, 1, FactSource::published),
    count("merges_partial_registers", &CoreParameters::merges_partial_registers, 8, FactSource::measured),
    count("waits_for_old_destination", &CoreParameters::waits_for_old_destination, 4, FactSource::measured),
    count("splits_indexed_operands", &CoreParameters::splits_indexed_operands, 2, FactSource::measured),
    count("splits_constants_at_rip", &CoreParameters::splits_constants_at_rip, 1, FactSource::published),
    count("jump_border_erratum", &CoreParameters::jump_border_erratum, 0, FactSource::published),
    count("slow_address_cycles", &CoreParameters::slow_address_cycles, 0, FactSource::measured),
    count("high_byte_merge_uops", &CoreParameters::high_byte_merge_uops, 1, FactSource::measured),
    count("l1d_bank_bytes", &CoreParameters::l1d_bank_bytes, 0, FactSource::published),
};
// Blocks of 32 bytes, so more instructions of each.
inline constexpr CoreNumber golden_cove_rules[] = {
    count("predecode_instructions", &CoreParameters::predecode_instructions, 0, FactSource::inferred),
    count("last_decoder_leaves_pairs", &CoreParameters::last_decoder_leaves_pairs, 0, FactSource::inferred),
    count("stack_sync_uops", &CoreParameters::stack_sync_uops, 1, FactSource::inferred),
    count("merges_partial_registers", &CoreParameters::merges_partial_registers, 8, FactSource::inferred),
    count("waits_for_old_destination", &CoreParameters::waits_for_old_destination, 4, FactSource::inferred),
    count("splits_indexed_operands", &CoreParameters::splits_indexed_operands, 2, FactSource::inferred),
    count("splits_constants_at_rip", &CoreParameters::splits_constants_at_rip, 1, FactSource::inferred),
    count("jump_border_erratum", &CoreParameters::jump_border_erratum, 0, FactSource::published),
    count("slow_address_cycles", &CoreParameters::slow_address_cycles, 0, FactSource::measured),
    count("high_byte_merge_uops", &CoreParameters::high_byte_merge_uops, 1, FactSource::measured),
    count("l1d_bank_bytes", &CoreParameters::l1d_bank_bytes, 0, FactSource::published),
};

inline void use_rules(CoreParameters& core, std::span<const CoreNumber> rules) {
  for (const CoreNumber& each : rules) set(core, each);
  core.rules = rules;
}

}  // namespace pmusim::presets

#endif
