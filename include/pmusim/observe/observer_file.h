// SPDX-License-Identifier: MIT
#ifndef PMUSIM_OBSERVE_OBSERVER_FILE_H
#define PMUSIM_OBSERVE_OBSERVER_FILE_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/pmu/observer.h"

/// Observers that write down what a Pmu does, and one that lets several watch it:
/// @code
/// Pmu pmu(*find_cpu_model("skylake"));
/// const auto log = observe::create_hardware_log("hardware.log").value();
/// pmu.set_observer(log.get());
/// // ... instructions retire ...
/// pmu.set_observer(nullptr);
/// log->finish().value();
/// @endcode
namespace pmusim::observe {

/// An observer that writes a file. Without finish() there is none.
class ObserverFile : public Observer {
 public:
  /// Writes the rest and gives the file its name. Call it once. Errors: the file cannot be written, at
  /// whatever time that was found.
  [[nodiscard]] virtual Result<Done, Error> finish() = 0;
};

/// What a log has behind a register access, `name=value` for instance, of one who knows more of it than the
/// Pmu; empty: nothing. Asked while the access is being made.
using AccessNote = std::function<std::string()>;

/// A text with one line for each event, made to be read, searched and compared: docs/observer.md.
/// `path` "-" is standard output. Errors: the file cannot be created.
Result<std::unique_ptr<ObserverFile>, Error> create_hardware_log(const std::string& path,
                                                                 AccessNote note = {});

/// A trace in the JSON format of Chrome's tracing, which Perfetto shows too, with tracks for the driver, the
/// PMI, PEBS, the LBR and each counter. A core cycle is shown as a microsecond. Path and errors as above.
Result<std::unique_ptr<ObserverFile>, Error> create_hardware_timeline(const std::string& path);

/// Calls several observers, in the order in which they were added, what it is called with.
class ObserverGroup final : public Observer {
 public:
  void add(Observer& observer) { observers_.push_back(&observer); }

  void on_attach(const Pmu& pmu) override {
    for (Observer* const observer : observers_) observer->on_attach(pmu);
  }
  void on_register_write(const observed::RegisterWrite& e) override { tell(&Observer::on_register_write, e); }
  void on_access_fault(const observed::AccessFault& e) override { tell(&Observer::on_access_fault, e); }
  void on_overflow(const observed::Overflow& e) override { tell(&Observer::on_overflow, e); }
  void on_reload(const observed::Reload& e) override { tell(&Observer::on_reload, e); }
  void on_freeze(const observed::Freeze& e) override { tell(&Observer::on_freeze, e); }
  void on_pmi_request(const observed::PmiRequest& e) override { tell(&Observer::on_pmi_request, e); }
  void on_pmi_delivery(const observed::PmiDelivery& e) override { tell(&Observer::on_pmi_delivery, e); }
  void on_pmi_return(const observed::PmiReturn& e) override { tell(&Observer::on_pmi_return, e); }
  void on_assist_armed(const observed::AssistArmed& e) override { tell(&Observer::on_assist_armed, e); }
  void on_pebs_record(const observed::PebsRecord& e) override { tell(&Observer::on_pebs_record, e); }
  void on_bts_record(const observed::BtsRecord& e) override { tell(&Observer::on_bts_record, e); }
  void on_lbr_record(const observed::LbrRecord& e) override { tell(&Observer::on_lbr_record, e); }

 private:
  template <class Event>
  void tell(void (Observer::*callback)(const Event&), const Event& event) {
    for (Observer* const observer : observers_) (observer->*callback)(event);
  }
  std::vector<Observer*> observers_;
};

}  // namespace pmusim::observe

#endif
