// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PMU_PMI_LINE_H
#define PMUSIM_PMU_PMI_LINE_H

#include <algorithm>

#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"
#include "pmusim/pmu/observer.h"

namespace pmusim {

/// The way of a performance-monitoring interrupt from the counter that asks for it to the handler.
///
/// A request takes the core's skid before an instruction boundary can take it. At that boundary the local
/// APIC delivers it unless LVTPC is masked, and masks LVTPC; only software unmasks it again. Requests that
/// come while one is on its way are one interrupt.
class PmiLine {
 public:
  /// Something at `cycle` wants a PMI, which an instruction boundary can take `skid_cycles` later. `masked`
  /// is LVTPC's mask bit now.
  observed::PmiFate request(u64 cycle, u32 skid_cycles, bool masked, const Policies& policies) {
    if (masked && policies.pmi_while_masked == 1) return observed::PmiFate::lost;
    if (pending_) return observed::PmiFate::merged;
    pending_ = true;
    due_cycle_ = cycle + skid_cycles;
    return observed::PmiFate::on_its_way;
  }
  /// True when an instruction boundary at `cycle` takes the interrupt.
  bool deliverable(u64 cycle, bool masked) const { return pending_ && !masked && cycle >= due_cycle_; }
  /// A boundary at `cycle` can take it already, where one is on its way.
  void hasten(u64 cycle) { due_cycle_ = std::min(due_cycle_, cycle); }
  void acknowledge() { pending_ = false; }

  bool pending() const { return pending_; }
  u64 due_cycle() const { return due_cycle_; }
  void add_to(StateHash& hash) const { hash.add(pending_, pending_ ? due_cycle_ : 0); }

 private:
  bool pending_ = false;
  u64 due_cycle_ = 0;
};

}  // namespace pmusim

#endif
