// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CAPI_WATCHER_H
#define PMUSIM_SRC_CAPI_WATCHER_H

#include "capi/error.h"
#include "pmusim/pmu/observer.h"

namespace pmusim::capi {

/// Calls a function of C as a Pmu calls an Observer.
class Watcher final : public Observer {
 public:
  struct Callback {
    pmusim_cpu* cpu = nullptr;
    pmusim_observer function = nullptr;
    u64 kinds = 0;
    void* context = nullptr;
  };

  void set(const Callback& callback) { callback_ = callback; }
  bool wants(pmusim_event_kind kind) const {
    return callback_.function != nullptr && (callback_.kinds >> kind & 1) != 0;
  }
  /// Whether the function is being called.
  bool calling() const { return calling_; }
  void tell_retirement(const Retirement& retirement);

 private:
  void on_register_write(const observed::RegisterWrite& what) override;
  void on_access_fault(const observed::AccessFault& what) override;
  void on_overflow(const observed::Overflow& what) override;
  void on_reload(const observed::Reload& what) override;
  void on_freeze(const observed::Freeze& what) override;
  void on_pmi_request(const observed::PmiRequest& what) override;
  void on_pmi_delivery(const observed::PmiDelivery& what) override;
  void on_pmi_return(const observed::PmiReturn& what) override;
  void on_assist_armed(const observed::AssistArmed& what) override;
  void on_pebs_record(const observed::PebsRecord& what) override;
  void on_bts_record(const observed::BtsRecord& what) override;
  void on_lbr_record(const observed::LbrRecord& what) override;
  void tell(pmusim_event_kind kind, pmusim_event event) noexcept;

  Callback callback_;
  bool calling_ = false;
};

}  // namespace pmusim::capi

#endif
