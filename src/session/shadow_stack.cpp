// SPDX-License-Identifier: MIT
#include "session/shadow_stack.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pmusim {

ShadowStack::ShadowStack(const ShadowStack& parent, std::shared_ptr<SuspendedStacks> suspended)
    : suspended_(std::move(suspended)), frames_(parent.frames_), signals_(parent.signals_) {}

void ShadowStack::clear() { pop_to(0); }

void ShadowStack::pop_to(std::size_t depth) {
  while (frames_.size() > depth) pop();
}

/// Returns from the frame at `depth`. What was above it may be a coroutine's that this returns out of, and be
/// come back to; where stack addresses are known those are on a stack of their own.
void ShadowStack::return_from(std::size_t depth, u64 slot) {
  constexpr std::size_t returned = 1;
  if (slot == 0 && frames_.size() > depth + returned)
    remember({frames_.begin() + static_cast<std::ptrdiff_t>(depth + returned), frames_.end()});
  pop_to(depth);
}

void ShadowStack::remember(std::vector<ShadowFrame> stack) {
  auto& stacks = suspended_->stacks;
  stacks.push_front(std::move(stack));
  if (stacks.size() > SuspendedStacks::most) stacks.pop_back();
}

void ShadowStack::suspend() {
  if (frames_.empty()) return;
  remember(frames_);
  pop_to(0);
}

/// The frames of a stack that was left.
void ShadowStack::take_over(const std::vector<ShadowFrame>& frames) {
  suspend();
  for (const ShadowFrame& frame : frames) {
    if (frame.function == 0) signals_.push_back(frames_.size());
    push(frame);
  }
}

std::optional<std::size_t> ShadowStack::frame_with_slot(u64 slot) const {
  for (std::size_t at = frames_.size(); at-- > 0;) {
    if (frames_[at].slot == slot) return at;
    if (frames_[at].slot > slot && signals_.empty()) break;  // those before it lie above
  }
  return std::nullopt;
}

std::optional<std::size_t> ShadowStack::frame_returning_to(u64 target) const {
  for (std::size_t at = frames_.size(); at-- > 0;)
    if (frames_[at].function != 0 && frames_[at].resume == target) return at;
  return std::nullopt;
}

/// The newest frame, short of the one that runs, in whose function the address is: of those that were called,
/// the function that begins next before it.
std::optional<std::size_t> ShadowStack::frame_of_function_with(u64 address) const {
  const auto& functions = suspended_->functions;
  const auto next = functions.upper_bound(address);
  if (next == functions.begin() || frames_.empty()) return std::nullopt;
  const u64 function = *std::prev(next);
  for (std::size_t at = frames_.size() - 1; at-- > 0;)
    if (frames_[at].function == function) return at;
  return std::nullopt;
}

/// The stack pointer is at `slot`: what lies below is over.
void ShadowStack::pop_below(u64 slot) {
  while (!frames_.empty() && frames_.back().slot != 0 && frames_.back().slot < slot) pop();
}

void ShadowStack::unwind(u64 target, u64 slot) {
  const bool placed = slot != 0 && !frames_.empty() && frames_.back().slot != 0;
  if (const auto frame = slot != 0 ? frame_with_slot(slot) : frame_returning_to(target))
    return return_from(*frame, slot);
  if (resume(target, slot) || in_handler()) return;
  if (slot == 0) return land(target);
  if (placed) move_to(slot);
}

/// Where an exception is caught or cleaned up after. The first instruction of a function is jumped to.
void ShadowStack::land(u64 target) {
  if (suspended_->functions.contains(target)) return;
  if (const auto frame = frame_of_function_with(target)) pop_to(*frame + 1);
}

/// An address was popped and gone to that no call has left there.
void ShadowStack::move_to(u64 slot) {
  const u64 newest = frames_.back().slot, oldest = frames_[segment()].slot;
  const bool on_this_stack = slot > newest ? slot <= oldest : newest - slot < near_bytes;
  on_this_stack ? pop_below(slot) : suspend();
}

/// A call pushes at `slot`, which is not where the newest frame would have it.
void ShadowStack::make_way(u64 slot) {
  const u64 newest = frames_.back().slot;
  if (newest == 0) return;  // a signal's handler has its stack anywhere
  const u64 oldest = frames_[segment()].slot;
  if (slot >= newest && slot <= oldest) {
    pop_below(slot);
    if (!frames_.empty() && frames_.back().slot == slot) pop();
    return;
  }
  resume_around(slot);
}

/// Another stack that was left, with a frame that this return belongs to.
bool ShadowStack::resume(u64 target, u64 slot) {
  auto& stacks = suspended_->stacks;
  for (auto stack = stacks.begin(); stack != stacks.end(); ++stack) {
    for (std::size_t at = stack->size(); at-- > 0;) {
      const ShadowFrame& frame = (*stack)[at];
      if (frame.function == 0 || frame.resume != target) continue;
      const bool places = slot != 0 && frame.slot != 0;
      if (places ? frame.slot != slot : at + 1 != stack->size()) continue;
      const std::vector<ShadowFrame> resumed(stack->begin(),
                                             stack->begin() + static_cast<std::ptrdiff_t>(at));
      stacks.erase(stack);
      take_over(resumed);
      return true;
    }
  }
  return false;
}

/// The stack that was left nearest above `slot`, or a new one.
void ShadowStack::resume_around(u64 slot) {
  auto& stacks = suspended_->stacks;
  const auto above = [&](const std::vector<ShadowFrame>& stack) { return stack.back().slot - slot - 1; };
  const auto nearest = std::ranges::min_element(stacks, {}, above);
  std::vector<ShadowFrame> resumed;
  if (nearest != stacks.end() && above(*nearest) < near_bytes) {
    resumed = std::move(*nearest);
    stacks.erase(nearest);
  }
  take_over(resumed);
}

void ShadowStack::enter_handler(u64 interrupted) {
  signals_.push_back(frames_.size());
  push({interrupted, 0, 0, ++suspended_->frames});
}

void ShadowStack::jump_behind_call(u64 target, std::optional<u64> caller) {
  if (caller == current() || resume(target, 0) || !caller) return;
  if (*caller == 0) return pop_to(0);
  for (std::size_t at = frames_.size(); at-- > 0;) {
    if (frames_[at].serial != *caller) continue;
    const bool within = frames_[at].function == frames_.back().function;  // which calls itself
    if (!within) pop_to(at + 1);
    return;
  }
}

void ShadowStack::return_from_handler() {
  if (!signals_.empty()) pop_to(signals_.back());
}

std::optional<std::vector<u64>> ShadowStack::callers(u64 version, std::size_t limit) const {
  if (version > version_ || version_ - version > log_.size()) return std::nullopt;
  std::vector<u64> restored;  // above what is left of the present frames
  std::size_t left = frames_.size();
  for (u64 at = version_; at-- > version;) {
    const Step& step = log_[at % log_.size()];
    if (!step.pushed)
      restored.push_back(step.frame.resume);
    else if (!restored.empty())
      restored.pop_back();
    else
      --left;
  }
  std::vector<u64> chain;
  for (std::size_t at = restored.size(); at-- > 0 && chain.size() < limit;) chain.push_back(restored[at]);
  for (std::size_t at = left; at-- > 0 && chain.size() < limit;) chain.push_back(frames_[at].resume);
  return chain;
}

}  // namespace pmusim
