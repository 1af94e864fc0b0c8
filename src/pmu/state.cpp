// SPDX-License-Identifier: MIT
// What a unit's state is. Each names all of its members, so that the compiler rejects a list that one was
// left out of; what is derived from others, or never changes, is named and not added.
#include "pmu/sequencer.h"

namespace pmusim {

void CounterFile::add_to(StateHash& hash) const {
  const auto& [model, width_mask, modifier_mask, tsc, bus, now, counts, selects, cfg_c, fixed_ctrl,
               global_ctrl, status, hwcr, metrics, filters, decoded, derived, in_cycle, was_satisfied,
               cycle_has_retired, cycle_cpl, shares_core, counted_until, tx, checkpoint, checkpoint_status] =
      *this;
  hash.add(now, counts, selects, cfg_c, fixed_ctrl, global_ctrl, status, metrics, filters);
  hash.add(in_cycle, was_satisfied, cycle_has_retired, cycle_cpl, tx, checkpoint, checkpoint_status);
  if (hwcr != 0) hash.add(hwcr);
  for (const unsigned counter : set_bits(derived.of_core)) hash.add(counted_until[counter]);
}

void ControlRegisters::add_to(StateHash& hash) const {
  const auto& [model, tsc_offset, tsc_adjust, mperf, aperf, debugctl, misc_enable, lvtpc, apic_base,
               tsx_force_abort, spec_ctrl, prediction_barriers, tsc_aux, offcore, snoop, omr, efer,
               extended_lvt] = *this;
  hash.add(tsc_offset, tsc_adjust, mperf, aperf, debugctl, misc_enable, lvtpc, apic_base, tsx_force_abort,
           spec_ctrl, prediction_barriers, tsc_aux, offcore, snoop, omr, efer, extended_lvt);
}

void LbrStack::add_to(StateHash& hash) const {
  const auto& [model, layout, info_of_kind, by_age, derived, depth, ring_mask, head, last_cycle, timed,
               events, select, ctl, last_exception, last_branch, ring] = *this;
  const auto add_record = [&](const LbrEntry& record) { hash.add(record.from, record.to, record.info); };
  hash.add(derived.enabled, depth, head, last_cycle, timed, events, select, ctl);
  add_record(last_exception);
  if (last_branch != LbrEntry{}) add_record(last_branch);
  for (const LbrEntry& record : ring) add_record(record);
}

void PebsUnit::add_to(StateHash& hash) const {
  const auto& [model, overflowed, held, fresh, overflow_cycle, pebs_enable, data_cfg, ds_area,
               latency_threshold, frontend, base, index, reload, assists] = *this;
  hash.add(overflowed, held, fresh);
  for (const unsigned counter : set_bits(overflowed | held)) hash.add(overflow_cycle[counter]);
  hash.add(pebs_enable, data_cfg, ds_area, latency_threshold, frontend, base, index, reload, assists);
}

void IbsUnit::add_to(StateHash& hash) const {
  const auto& [model, random, fetch_ctl, fetch_count, fetch_linear, fetch_physical, fetch_extension,
               next_fetch, op_ctl, op_count, op_counted_from, op_rip, op_data, op_data2, op_data3, op_linear,
               op_physical, branch_target, tags] = *this;
  hash.add(random.state(), fetch_ctl, fetch_count, fetch_linear, fetch_physical, fetch_extension, next_fetch);
  hash.add(op_ctl, op_count, op_counted_from, op_rip, op_data, op_data2, op_data3, op_linear, op_physical,
           branch_target);
  if (tags.ops != 0) hash.add(tags.ops, tags.retired);  // between two instructions there are none
}

void XsaveUnit::add_to(StateHash& hash) const {
  const auto& [model, instructions, state, xcr0, xss, xfd, xfd_error, supervisor_cet, interrupt_stacks,
               control, restored, modified, layout_mask, layout] = *this;
  hash.add(state.in_use());
  for (unsigned c = 0; c < static_cast<unsigned>(StateComponent::count_); ++c)
    hash.add(state.component(static_cast<StateComponent>(c)));
  hash.add(xcr0, xss, xfd, xfd_error, supervisor_cet, interrupt_stacks);
  hash.add(control.os_enabled, control.task_switched);
  hash.add(restored.user, restored.address, restored.xcomp_bv, modified);
}

void Sequencer::add_to(StateHash& hash) const {
  const auto& [model, registers, counters, control, lbr, pebs, acr, xsave, ibs, branch_sampling, pmi,
               ibs_interrupt, memory, number, user_rdpmc, vm_mode, occurred_while_waiting, last_registers,
               registers_known, extended_known, handler, handling, last_fault, observer, retirement_observer,
               sibling] = *this;
  hash.add(counters, control, lbr, pebs, acr, xsave, ibs, branch_sampling, pmi, ibs_interrupt, number);
  hash.add(user_rdpmc, occurred_while_waiting, registers_known, extended_known, handling);
  if (registers_known) hash.add(last_registers.gpr, last_registers.rip, last_registers.rflags);
}

}  // namespace pmusim
