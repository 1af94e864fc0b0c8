// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PMU_OBSERVER_H
#define PMUSIM_PMU_OBSERVER_H

#include "pmusim/arch/branch.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/base/bus.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/msr/register.h"

/// What the hardware does, reported as it happens, for whoever wants to watch a Pmu at work:
///
///     struct OverflowCount : Observer {
///       u64 overflows = 0;
///       void on_overflow(const observed::Overflow&) override { ++overflows; }
///     };
///     OverflowCount count;
///     pmu.set_observer(&count);
///
/// docs/observer.md has more. Cycles are absolute core cycles; counters are numbered as in GLOBAL_STATUS: GP
/// n is n, fixed m is 32 + m.
namespace pmusim {

class Pmu;

namespace observed {

/// A WRMSR that did not fault. LVTPC of a local APIC that is not in MSRs is reported under its x2APIC number.
struct RegisterWrite {
  u64 cycle = 0;
  u32 address = 0;
  u64 value = 0;  ///< as software wrote it
};

/// A counter wrapped. Number 48 stands for the internal counters of PERF_METRICS.
struct Overflow {
  u64 cycle = 0;
  unsigned counter = 0;
  bool sets_status = true;     ///< its bit of GLOBAL_STATUS; a counter that reloads itself by ACR leaves it
  bool asks_for_pmi = false;   ///< because its interrupt is enabled
  bool writes_record = false;  ///< PEBS takes it, and interrupts at its own threshold
};

enum class ReloadCause : u8 { acr, pebs };
/// Hardware gave a counter a new value.
struct Reload {
  u64 cycle = 0;
  unsigned counter = 0;
  u64 value = 0;
  ReloadCause cause = ReloadCause::acr;
};

enum class FrozenUnit : u8 { counters, lbr };
/// A request for a PMI stopped a unit that was running (DEBUGCTL.FREEZE_*_ON_PMI).
struct Freeze {
  u64 cycle = 0;
  FrozenUnit unit = FrozenUnit::counters;
};

enum class PmiCause : u8 { overflow, pebs_threshold, bts_threshold, ibs_sample };
enum class PmiFate : u8 {
  on_its_way,
  merged,  ///< with one that is on its way
  lost,    ///< LVTPC is masked, and policy pmi_while_masked does not keep requests
};
/// Something asked for a PMI.
struct PmiRequest {
  u64 cycle = 0;
  PmiCause cause = PmiCause::overflow;
  PmiFate fate = PmiFate::on_its_way;
  u64 due_cycle = 0;  ///< from when on an instruction boundary takes it
};

/// A PMI enters its handler, or has left it.
struct PmiDelivery {
  u64 cycle = 0;
  u64 ip = 0;  ///< of the interrupted code
  Cpl cpl = Cpl::user;
};
/// The handler of a PMI has returned.
struct PmiReturn {
  u64 cycle = 0;
};

/// The PEBS assist of a counter that wrapped begins to get ready.
struct AssistArmed {
  u64 cycle = 0;
  unsigned counter = 0;
};

/// A PEBS assist came to its instruction.
struct PebsRecord {
  u64 cycle = 0;
  u64 counters = 0;  ///< that it serves, as a mask
  u64 ip = 0;        ///< the sampled instruction
  AssistOutcome outcome = AssistOutcome::wrote;
  /// Of the record, where one was written. Where it or the management area is not mapped: the address that
  /// is not.
  u64 address = 0;
  u32 bytes = 0;  ///< length of the record that was written
};
/// A branch came to the branch trace store.
struct BtsRecord {
  u64 cycle = 0;
  u64 from = 0, to = 0;
  bool written = true;
  AssistOutcome outcome = AssistOutcome::wrote;  ///< why it was not
  u64 address = 0;                               ///< as PebsRecord::address
};

/// The LBR took in a branch. (A return that a call stack takes an entry away for is none.)
struct LbrRecord {
  u64 cycle = 0;
  u64 from = 0, to = 0;
  BranchKind kind = BranchKind::none;
  bool mispredicted = false;
};

}  // namespace observed

/// Called with what a Pmu's hardware does, in the order in which it does it and before the call that makes it
/// do so returns. Override what you want to know. An observer may read the Pmu and copy it, but must not
/// change it.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The Pmu whose events it is going to get, from Pmu::set_observer.
  virtual void on_attach(const Pmu&) {}
  virtual void on_register_write(const observed::RegisterWrite&) {}
  virtual void on_access_fault(const observed::AccessFault&) {}
  virtual void on_overflow(const observed::Overflow&) {}
  virtual void on_reload(const observed::Reload&) {}
  virtual void on_freeze(const observed::Freeze&) {}
  virtual void on_pmi_request(const observed::PmiRequest&) {}
  virtual void on_pmi_delivery(const observed::PmiDelivery&) {}
  virtual void on_pmi_return(const observed::PmiReturn&) {}
  virtual void on_assist_armed(const observed::AssistArmed&) {}
  virtual void on_pebs_record(const observed::PebsRecord&) {}
  virtual void on_bts_record(const observed::BtsRecord&) {}
  virtual void on_lbr_record(const observed::LbrRecord&) {}
};

/// Called for every instruction when all that it does is done, short of a PMI that comes after it. Apart from
/// Observer, because most who watch the hardware do not want a call for each instruction.
class RetirementObserver {
 public:
  virtual ~RetirementObserver() = default;
  virtual void on_retirement(const Retirement& retirement) = 0;
};

}  // namespace pmusim

#endif
