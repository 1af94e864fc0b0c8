// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_SHADOW_STACK_H
#define PMUSIM_SRC_SESSION_SHADOW_STACK_H

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {

/// What is under way on a call stack: a call that has not returned, or a signal.
struct ShadowFrame {
  u64 resume = 0;  ///< return address; of a signal the interrupted instruction
  /// Where the return address lies in memory: the stack grows down from there. 0: not known, as of a signal
  /// and where the trace has no addresses.
  u64 slot = 0;
  u64 function = 0;  ///< where the call went; 0: a signal
  u64 serial = 0;    ///< no other frame of the process has it
};

/// Stacks that a process has left without unwinding them (swapcontext, coroutines) and may come back to, and
/// where its functions begin.
struct SuspendedStacks {
  static constexpr std::size_t most = 256;
  std::deque<std::vector<ShadowFrame>> stacks;  ///< newest first
  std::set<u64> functions;                      ///< that were called
  u64 frames = 0;                               ///< that there were; what serials are taken from
};

/// The call stack of one thread, kept by its calls and returns.
///
/// A return that is not to the newest frame ends all above the frame that it belongs to: the one whose return
/// address was pushed where the return pops, or if that is not known, the newest with this return address.
/// Belongs it to none, a stack that was left before may have it (a coroutine); else it is a jump. Addresses
/// of the stack also show what longjmp and exceptions have ended.
///
/// Some steps back are remembered: a PEBS record is of an instruction before the interrupt that brings it.
class ShadowStack {
 public:
  explicit ShadowStack(std::shared_ptr<SuspendedStacks> suspended) : suspended_(std::move(suspended)) {}
  /// Of a forked process: what its parent was in.
  ShadowStack(const ShadowStack& parent, std::shared_ptr<SuspendedStacks> suspended);

  /// `slot`: where `resume` was pushed; 0 not known.
  void call(u64 resume, u64 function, u64 slot) {
    const bool elsewhere = slot != 0 && !frames_.empty() && frames_.back().slot - slot - 1 >= far_bytes;
    if (elsewhere) [[unlikely]]
      make_way(slot);
    push({resume, slot, function, ++suspended_->frames});
  }
  void ret(u64 target, u64 slot) {
    const bool matches = !frames_.empty() && frames_.back().function != 0 &&
                         (slot != 0 && frames_.back().slot != 0 ? frames_.back().slot == slot
                                                                : frames_.back().resume == target);
    if (matches) [[likely]]
      return pop();
    unwind(target, slot);
  }
  /// An indirect jump to `target`, which follows a call that was last made by the frame `caller`
  /// (`current()` then; nothing: never by this thread): back from setjmp, or into another coroutine.
  void jump_behind_call(u64 target, std::optional<u64> caller);
  void enter_handler(u64 interrupted);
  void return_from_handler();
  void clear();

  /// Serial of the newest frame; 0: none.
  u64 current() const { return frames_.empty() ? 0 : frames_.back().serial; }
  std::size_t depth() const { return frames_.size(); }
  /// Counts changes: names a state of the stack.
  u64 version() const { return version_; }
  /// Where its frames resume, innermost first, at most `limit`. Nothing: the version is too long ago.
  std::optional<std::vector<u64>> callers(u64 version, std::size_t limit) const;

 private:
  /// A frame so much further down is on another stack.
  static constexpr u64 far_bytes = u64{8} << 20;
  /// A return that much below the newest frame may be of an address that was pushed to be jumped to.
  static constexpr u64 near_bytes = 4096;

  struct Step {
    ShadowFrame frame;
    bool pushed = false;
  };

  void push(const ShadowFrame& frame) {
    frames_.push_back(frame);
    log_[version_++ % log_.size()] = {frame, true};
  }
  void pop() {
    if (frames_.back().function == 0) [[unlikely]]
      signals_.pop_back();
    log_[version_++ % log_.size()] = {frames_.back(), false};
    frames_.pop_back();
  }
  void pop_to(std::size_t depth);
  void return_from(std::size_t depth, u64 slot);
  void remember(std::vector<ShadowFrame> stack);
  void unwind(u64 target, u64 slot);
  void land(u64 target);
  void move_to(u64 slot);
  void make_way(u64 slot);
  void suspend();
  bool resume(u64 target, u64 slot);
  void resume_around(u64 slot);
  bool in_handler() const { return !frames_.empty() && frames_.back().function == 0; }
  /// Where the frames begin that the newest signal's handler has called; without a signal 0.
  std::size_t segment() const { return signals_.empty() ? 0 : signals_.back() + 1; }
  void take_over(const std::vector<ShadowFrame>& frames);
  std::optional<std::size_t> frame_with_slot(u64 slot) const;
  std::optional<std::size_t> frame_returning_to(u64 target) const;
  std::optional<std::size_t> frame_of_function_with(u64 address) const;
  void pop_below(u64 slot);

  std::shared_ptr<SuspendedStacks> suspended_;
  std::vector<ShadowFrame> frames_;   // newest last
  std::vector<std::size_t> signals_;  // which of them are signals
  u64 version_ = 0;
  std::array<Step, 1024> log_;
};

}  // namespace pmusim

#endif
