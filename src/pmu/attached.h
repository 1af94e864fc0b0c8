// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PMU_ATTACHED_H
#define PMUSIM_PMU_ATTACHED_H

#include <type_traits>

namespace pmusim {

/// The observer of an object. Attached to that object, not to its state: a copy has none, and an assignment
/// leaves the one that is there.
template <class T>
class Attached {
 public:
  Attached() = default;
  Attached(const Attached&) {}
  Attached& operator=(const Attached&) { return *this; }  // NOLINT(bugprone-unhandled-self-assignment)
  ~Attached() = default;

  void attach(T* observer) { observer_ = observer; }
  explicit operator bool() const { return observer_ != nullptr; }

  /// Calls `member` with `event` if there is an observer.
  template <class Event>
  void notify(void (T::*member)(const Event&), const std::type_identity_t<Event>& event) const {
    if (observer_ != nullptr) [[unlikely]]
      (observer_->*member)(event);
  }

 private:
  T* observer_ = nullptr;
};

}  // namespace pmusim

#endif
