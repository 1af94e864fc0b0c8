// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PMU_SIBLING_LINK_H
#define PMUSIM_PMU_SIBLING_LINK_H

namespace pmusim {

/// From one thread of a core to the other, and back. Of the object, not of its state: a copy has none, and an
/// assignment leaves the one that is there. It ends with either of them.
template <class Thread>
class SiblingLink {
 public:
  SiblingLink() = default;
  SiblingLink(const SiblingLink&) {}
  SiblingLink& operator=(const SiblingLink&) { return *this; }  // NOLINT(bugprone-unhandled-self-assignment)
  ~SiblingLink() { cut(); }

  /// Makes `own`, whose link this is, and `other` the threads of a core.
  void join(Thread& own, SiblingLink& back, Thread& other) {
    cut();
    back.cut();
    back_ = &back;
    thread_ = &other;
    back.back_ = this;
    back.thread_ = &own;
  }
  explicit operator bool() const { return thread_ != nullptr; }
  Thread* get() const { return thread_; }
  Thread* operator->() const { return thread_; }

 private:
  void cut() {
    if (back_ == nullptr) return;
    back_->back_ = nullptr;
    back_->thread_ = nullptr;
    back_ = nullptr;
    thread_ = nullptr;
  }

  Thread* thread_ = nullptr;
  SiblingLink* back_ = nullptr;
};

}  // namespace pmusim

#endif
