// SPDX-License-Identifier: MIT
#include "record.h"

namespace pmusim::pebs {

namespace {

/// Configuration of a record that serves several counters: all that any of them asks for.
u64 arch_config(const AssistInput& input) {
  u64 config = 0;
  for (const unsigned counter : set_bits(input.served)) config |= input.counters.cfg_c(counter);
  const u64 offered = input.counters.model().pebs_groups();
  return (config & offered & bits(62, 32)) | header::BASIC;
}

/// Counters that let themselves be stored in records, by what the record asks for.
StoredCounters arch_stored(const AssistInput& input, u64 config) {
  StoredCounters stored;
  for (const unsigned counter : set_bits(input.counters.model().counters())) {
    if ((input.counters.cfg_c(counter) & cfg_c::ALLOW_IN_RECORD) == 0) continue;
    if (counter < first_fixed && (config & cfg_c::GP) != 0) stored.gp |= 1u << counter;
    if (counter >= first_fixed && (config & cfg_c::FIXED) != 0) stored.fixed |= 1u << (counter - first_fixed);
  }
  stored.metrics = (config & cfg_c::METRICS) != 0;
  return stored;
}

/// The vector groups of a fragment. Those of components in their initial configuration stay zero, and the
/// header says that they are not valid.
void put_vectors(std::span<std::byte> out, u64 word, u32 offset, const ExtendedState& state) {
  ArchVectorHeader head{};
  u32 at = offset + static_cast<u32>(sizeof(head));
  for (const VectorGroup& group : vector_groups) {
    if ((word & group.bit) == 0) continue;
    const u64 valid = state.in_use() & bit(group.component);
    if (valid != 0)
      put_component(out, at, group.bytes, state.component(static_cast<StateComponent>(group.component)));
    head.xstate = head.xstate | valid;
    at += group.bytes;
  }
  put(out, offset, head);
}

u64 shadow_stack_pointer(const AssistInput& input) {
  return input.extended != nullptr && input.retirement.cpl == Cpl::user ? input.extended->ssp() : 0;
}

/// One fragment.
void write_fragment(std::span<std::byte> out, u64 word, const AssistInput& input,
                    const SampledAccess& access) {
  const ArchLayout layout = arch_layout(word, input.lbr_depth);
  ArchHeader head{};
  head.word = word;
  put(out, 0, head);
  if (layout.basic != 0) {
    ArchBasic basic{};
    basic.eventing_ip = input.retirement.ip;
    basic.applicable_counters = input.served;
    basic.tsc = input.tsc;
    basic.retire_latency = retire_latency(input.retirement) | bit(16);
    put(out, layout.basic, basic);
  }
  if (layout.aux != 0) {
    ArchAux aux{};
    aux.address = access.address;
    aux.data_source = access.data_source;
    aux.latency = split_latency(access);
    aux.tsx = tsx_word(input.counters.model(), input.retirement);
    put(out, layout.aux, aux);
  }
  if (layout.gprs != 0) {
    ArchGprs gprs{};
    gprs.registers = gpr_group(input.retirement);
    gprs.ssp = shadow_stack_pointer(input);
    put(out, layout.gprs, gprs);
  }
  if (layout.vectors != 0 && input.extended != nullptr)
    put_vectors(out, word, layout.vectors, *input.extended);
  if (layout.lbr != 0) {
    ArchLbrHeader lbr{};
    lbr.control = input.lbr_control;
    lbr.depth = input.lbr_depth;
    lbr.ler_from = input.last_event.from;
    lbr.ler_to = input.last_event.to;
    lbr.ler_info = input.last_event.info;
    put(out, layout.lbr, lbr);
    put_lbr(out, layout.lbr + static_cast<u32>(sizeof(lbr)), arch_lbr_entries(word, input.lbr_depth),
            input.lbr);
  }
  if (layout.counters != 0) put_counters(out, layout.counters, arch_stored(input, word), input.counters);
}

}  // namespace

ArchFragments arch_fragments(const AssistInput& input) {
  const u64 config = arch_config(input);
  return {config | header::MODE_64, input.lbr_depth, arch_stored(input, config).bytes(),
          input.counters.model().policies.pebs_fragment_bytes};
}

void write_arch(std::span<std::byte> out, const ArchFragments& fragments, const AssistInput& input,
                const SampledAccess& access) {
  for (const ArchFragment& fragment : fragments)
    write_fragment(out.subspan(fragment.offset, fragment.bytes), fragment.word, input, access);
}

}  // namespace pmusim::pebs
