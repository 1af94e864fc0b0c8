// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_PMU_HARDWARE_FILES_H
#define PMUSIM_MACHINE_PMU_HARDWARE_FILES_H

#include <memory>
#include <string>
#include <vector>

#include "pmusim/observe/observer_file.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::machine {

/// The log and the timeline of what a CPU's PMU does (docs/observer.md), in the guest's time: nanoseconds
/// since the machine began, which are the ticks of its time-stamp counter.
///
/// The Pmu's cycles stand still while nothing retires that it is told of, so that each event's is moved by as
/// much as the time-stamp counter is ahead.
class HardwareFiles final : public Observer {
 public:
  /// Those that the environment asks for (PMUSIM_MACHINE_HW_LOG and PMUSIM_MACHINE_HW_TIMELINE): the files of
  /// CPU 0 have that name, those of CPU N have ".N" behind it. Null without. Ends the program where a file
  /// cannot be made.
  static std::unique_ptr<HardwareFiles> from_environment(unsigned cpu, const Pmu& pmu);
  HardwareFiles(unsigned cpu, const Pmu& pmu) : cpu_(cpu), pmu_(pmu) {}
  /// The files are complete, and get their names.
  ~HardwareFiles() override;
  HardwareFiles(const HardwareFiles&) = delete;
  HardwareFiles& operator=(const HardwareFiles&) = delete;

  /// Where an access to registers is made; 0: not by an instruction, or it is not known by which.
  struct Place {
    u64 ip = 0, stack = 0;
  };
  /// Of those that follow.
  void access_from(const Place& place) { place_ = place; }

  void on_attach(const Pmu& pmu) override { all_.on_attach(pmu); }
  void on_register_write(const observed::RegisterWrite& e) override;
  void on_access_fault(const observed::AccessFault& e) override { tell(&Observer::on_access_fault, e); }
  void on_overflow(const observed::Overflow& e) override { tell(&Observer::on_overflow, e); }
  void on_reload(const observed::Reload& e) override { tell(&Observer::on_reload, e); }
  void on_freeze(const observed::Freeze& e) override { tell(&Observer::on_freeze, e); }
  void on_pmi_request(const observed::PmiRequest& e) override;
  void on_pmi_delivery(const observed::PmiDelivery& e) override { tell(&Observer::on_pmi_delivery, e); }
  void on_assist_armed(const observed::AssistArmed& e) override { tell(&Observer::on_assist_armed, e); }
  void on_pebs_record(const observed::PebsRecord& e) override { tell(&Observer::on_pebs_record, e); }
  void on_bts_record(const observed::BtsRecord& e) override { tell(&Observer::on_bts_record, e); }
  void on_lbr_record(const observed::LbrRecord& e) override { tell(&Observer::on_lbr_record, e); }
  // When a handler has returned the Pmu does not know here: it is the guest's.

 private:
  u64 time_of(u64 cycle) const { return pmu_.tsc() + (cycle - pmu_.now()); }
  template <class Event>
  void tell(void (Observer::*callback)(const Event&), Event event) {
    event.cycle = time_of(event.cycle);
    (all_.*callback)(event);
  }

  std::string note() const;

  unsigned cpu_;
  const Pmu& pmu_;
  Place place_;
  std::vector<std::unique_ptr<observe::ObserverFile>> files_;
  observe::ObserverGroup all_;
};

}  // namespace pmusim::machine

#endif
