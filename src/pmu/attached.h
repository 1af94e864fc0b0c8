// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PMU_ATTACHED_H
#define PMUSIM_PMU_ATTACHED_H

#include <type_traits>

namespace pmusim {

/// Somebody who is told what an object does. Attached to that object, not to its state: a copy has nobody
/// attached, and an assignment leaves whoever is.
template <class T>
class Attached {
 public:
  Attached() = default;
  Attached(const Attached&) {}
  Attached& operator=(const Attached&) { return *this; }  // NOLINT(bugprone-unhandled-self-assignment)
  ~Attached() = default;

  void attach(T* somebody) { somebody_ = somebody; }
  explicit operator bool() const { return somebody_ != nullptr; }

  /// Calls `told` with `event` if somebody is there.
  template <class Event>
  void tell(void (T::*told)(const Event&), const std::type_identity_t<Event>& event) const {
    if (somebody_ != nullptr) [[unlikely]]
      (somebody_->*told)(event);
  }

 private:
  T* somebody_ = nullptr;
};

}  // namespace pmusim

#endif
