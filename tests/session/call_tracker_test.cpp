// SPDX-License-Identifier: MIT
// CallTracker against a model that is told what a program does, of which the tracker sees blocks only.
#include "session/call_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace pmusim::test::call_tracker_test {
namespace {

enum class Slots : u8 { unknown, known };

/// Blocks by address, each with one instruction: all that a tracker looks at.
class Code {
 public:
  const trace::Block& at(u64 ip, BranchKind kind) {
    trace::Block& block = blocks_[ip];
    if (block.instructions.empty()) {
      block.id = static_cast<u32>(blocks_.size() - 1);
      x86::Instruction& instruction = block.instructions.emplace_back();
      instruction.ip = ip;
      instruction.length = 5;
      instruction.branch = kind;
    }
    return block;
  }

 private:
  std::map<u64, trace::Block> blocks_;
};

struct Frame {
  u64 resume = 0, slot = 0;
  u64 function = 0;  // 0: a signal
  u64 number = 0;    // no other frame has it
};

/// A thread that calls, returns, jumps out of calls, throws, gets signals and switches between stacks. What
/// it really is in, is known to it.
class Program {
 public:
  Program(u64 seed, Slots slots) : random_(seed), slots_(slots), tracker_({.addresses = true}) {
    tracker_.on_side_band(trace::ProcessStart{1, 1, "test", true});
    states_.push_back({tracker_.before(), {}});
  }

  void step() {
    before_ = chain();
    switch (below(slots_ == Slots::known ? 12 : 9)) {
      case 0:
      case 1:
      case 2:
        return call(function(below(6)));
      case 3:
      case 4:
        return ret();
      case 5:
        return jump_within();
      case 6:
        return below(4) == 0 ? set_jump() : call(function(below(6)));
      case 7:
        return long_jump();
      case 8:
        return below(3) == 0 ? deliver_signal() : ret();
      case 9:
        return below(4) == 0 ? switch_stack() : ret();
      case 10:
        return below(3) == 0 ? throw_exception() : ret();
      default:
        return push_and_return();
    }
  }

  void check(u64 step) {
    ASSERT_EQ(tracker_.callers_at(ip_, ~std::size_t{0}), chain()) << "step " << step << ": " << last_;
    ASSERT_EQ(tracker_.callers(tracker_.before(), ~std::size_t{0}), before_)
        << "step " << step << ": " << last_;
    states_.push_back({tracker_.before(), before_});
    const State& old = states_[states_.size() - 1 - below(std::min<u64>(states_.size(), 8))];
    if (const auto callers = tracker_.callers(old.version, ~std::size_t{0})) {
      ASSERT_EQ(*callers, old.chain);
      ++looked_back_;
    }
  }
  u64 looked_back() const { return looked_back_; }

 private:
  struct State {
    u64 version = 0;
    std::vector<u64> chain;
  };
  struct Stack {
    std::vector<Frame> frames;
    u64 pointer = 0;
    u64 ip = 0;  // where it goes on, while another runs
  };
  struct JumpBuffer {
    std::size_t stack = 0, depth = 0;
    u64 frame = 0, target = 0, pointer = 0;
  };

  u64 below(u64 n) { return random_() % n; }
  static u64 function(u64 number) { return 0x10000 * (number + 1); }
  u64 current_function() const {
    if (frames().empty()) return function(8);
    return frames().back().function == 0 ? function(7) : frames().back().function;
  }
  Stack& stack() { return stacks_[running_]; }
  std::vector<Frame>& frames() { return stacks_[running_].frames; }
  const std::vector<Frame>& frames() const { return stacks_[running_].frames; }
  std::vector<u64> chain() const {
    std::vector<u64> all;
    for (auto frame = frames().rbegin(); frame != frames().rend(); ++frame) all.push_back(frame->resume);
    return all;
  }
  bool in_handler() const {
    return std::ranges::any_of(frames(), [](const Frame& frame) { return frame.function == 0; });
  }

  void run(u64 ip, BranchKind kind, u64 next_ip, u64 slot = 0) {
    const u64 addresses[] = {slot};
    trace::BlockRun run;
    run.block = &code_.at(ip, kind);
    run.next_ip = next_ip;
    if (slot != 0 && slots_ == Slots::known) run.addresses = addresses;
    tracker_.take(run);
    ip_ = next_ip;
  }

  void call_from(u64 site, u64 to) {
    stack().pointer -= 8 * (1 + below(20));
    frames().push_back({site + 5, stack().pointer, to, ++numbers_});
    run(site, BranchKind::indirect_call, to, stack().pointer);
  }
  void call(u64 to) {
    last_ = "call";
    if (frames().size() > 60) return ret();
    call_from(current_function() + 0x10 * below(5), to);
  }
  void ret() {
    last_ = "ret";
    if (frames().empty()) return call(function(below(6)));
    const Frame frame = frames().back();
    if (frame.function == 0) return return_from_handler();
    frames().pop_back();
    run(current_block(0x8000), BranchKind::near_return, frame.resume, frame.slot);
    stack().pointer = frame.slot + 8;
  }
  u64 current_block(u64 offset) const { return current_function() + offset; }
  void jump_within() {
    last_ = "jump";
    // Behind a call that this function may have made in any of its frames, as a switch statement does.
    run(current_block(0x8100), BranchKind::indirect_jump, current_function() + 0x10 * below(5) + 5);
  }
  void set_jump() {
    last_ = "setjmp";
    constexpr u64 setjmp = 0x900000;
    const u64 site = current_function() + 0x100'0000 * ++numbers_;  // of its own
    const std::size_t depth = frames().size();
    const u64 caller = depth == 0 ? 0 : frames().back().number;
    call_from(site, setjmp);
    before_ = chain();
    const Frame frame = frames().back();
    frames().pop_back();
    run(setjmp, BranchKind::near_return, frame.resume, frame.slot);
    stack().pointer = frame.slot + 8;
    jumps_.push_back({running_, depth, caller, frame.resume, stack().pointer});
  }
  void long_jump() {
    last_ = "longjmp";
    const auto is_over = [&](const JumpBuffer& jump) {
      if (jump.stack != running_ || jump.depth == 0) return false;
      return jump.depth > frames().size() || frames()[jump.depth - 1].number != jump.frame;
    };
    std::erase_if(jumps_, is_over);
    const auto jump = std::ranges::find(jumps_, running_, &JumpBuffer::stack);
    if (jump == jumps_.end()) return ret();
    constexpr u64 longjmp = 0xA00000;
    call_from(current_function() + 0x2000, longjmp);
    before_ = chain();
    frames().resize(jump->depth);
    run(longjmp, BranchKind::indirect_jump, jump->target);
    stack().pointer = jump->pointer;
  }
  void deliver_signal() {
    last_ = "signal";
    if (in_handler()) return ret();
    frames().push_back({ip_, 0, 0, ++numbers_});
    tracker_.on_side_band(trace::SignalDelivery{10, function(7)});
    before_ = chain();
    ip_ = function(7);
    stack().pointer -= 2048;
  }
  void return_from_handler() {
    last_ = "return from a handler";
    constexpr u64 restorer = 0xB00000;
    run(function(7) + 0x8000, BranchKind::near_return, restorer, stack().pointer - 8);
    ASSERT_EQ(tracker_.callers_at(restorer, ~std::size_t{0}), chain());
    before_ = chain();
    const u64 interrupted = frames().back().resume;
    frames().pop_back();
    stack().pointer += 2048;
    run(restorer, BranchKind::syscall, interrupted);
  }
  void switch_stack() {
    last_ = "switch";
    if (in_handler()) return ret();
    constexpr u64 switcher = 0xC00000;
    const std::size_t to = below(stacks_.size());
    if (to == running_) return ret();
    call_from(current_function() + 0x4000, switcher);
    before_ = chain();
    Stack& next = stacks_[to];
    running_ = to;
    if (next.pointer == 0) {  // begins
      next.pointer = 0x7000'0000 + 0x10'0000 * to;
      run(switcher, BranchKind::near_return, function(8), next.pointer - 8);
    } else {
      const Frame frame = next.frames.back();
      next.frames.pop_back();
      run(switcher, BranchKind::near_return, frame.resume, frame.slot);
      next.pointer = frame.slot + 8;
    }
  }
  void throw_exception() {
    last_ = "exception";
    if (in_handler() || frames().size() < 3) return ret();
    const std::size_t depth = 1 + below(frames().size() - 1);  // left of the frames
    const u64 slot = frames()[depth].slot, landing = frames()[depth - 1].function + 0x7000;
    frames().resize(depth);
    run(0xD00000, BranchKind::near_return, landing, slot);
    stack().pointer = slot + 8;
  }
  void push_and_return() {
    last_ = "push and return";
    run(current_block(0x8200), BranchKind::near_return, current_function() + 0x500, stack().pointer - 8);
  }

  std::mt19937_64 random_;
  Slots slots_;
  CallTracker tracker_;
  Code code_;
  std::vector<Stack> stacks_{{{}, 0x7FFF'F000'0000, 0}, {}, {}};
  std::size_t running_ = 0;
  std::vector<JumpBuffer> jumps_;
  u64 numbers_ = 0;
  std::vector<u64> before_;
  std::vector<State> states_;
  std::string last_;
  u64 ip_ = 0, looked_back_ = 0;
};

void walk(u64 seed, Slots slots) {
  Program program(seed, slots);
  for (u64 step = 0; step < 20'000; ++step) {
    program.step();
    program.check(step);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(program.looked_back(), 1000u);
}

TEST(CallTracker, IsRightWhereTheStackPointerIsKnown) {
  for (u64 seed = 1; seed <= 10; ++seed) walk(seed, Slots::known);
}

TEST(CallTracker, IsRightAboutCallsJumpsAndSignalsWithoutIt) {
  for (u64 seed = 1; seed <= 10; ++seed) walk(seed, Slots::unknown);
}

/// Blocks by hand.
class Steps {
 public:
  explicit Steps(Slots slots) : slots_(slots), tracker_({.addresses = true}) {
    tracker_.on_side_band(trace::ProcessStart{1, 1, "test", true});
  }
  void operator()(u64 ip, BranchKind kind, u64 next_ip, u64 slot) {
    const u64 addresses[] = {slot};
    trace::BlockRun run;
    run.block = &code_.at(ip, kind);
    run.next_ip = ip_ = next_ip;
    if (slots_ == Slots::known) run.addresses = addresses;
    tracker_.take(run);
  }
  std::vector<u64> callers() const { return tracker_.callers_at(ip_, 127); }

 private:
  Slots slots_;
  CallTracker tracker_;
  Code code_;
  u64 ip_ = 0;
};

// Behind a setjmp() that ran before the recording began.
TEST(CallTracker, SeesByTheNextCallWhatAJumpHasEnded) {
  Steps step(Slots::known);
  step(0x100, BranchKind::indirect_call, 0x1000, 0x7000);
  step(0x1000, BranchKind::indirect_call, 0x2000, 0x6F00);
  step(0x2000, BranchKind::indirect_call, 0x3000, 0x6E00);
  step(0x3000, BranchKind::indirect_jump, 0x1100, 0);
  step(0x1100, BranchKind::indirect_call, 0x4000, 0x6F80);
  EXPECT_EQ(step.callers(), (std::vector<u64>{0x1105, 0x105}));
}

TEST(CallTracker, KnowsCoroutinesByWhereTheyGoOn) {
  constexpr u64 switcher = 0x9000, coroutine = 0x800;
  Steps step(Slots::unknown);
  step(0x100, BranchKind::indirect_call, 0x1000, 0);
  step(0x1000, BranchKind::indirect_call, switcher, 0);
  step(switcher, BranchKind::near_return, coroutine, 0);
  step(coroutine, BranchKind::indirect_call, 0x6000, 0);
  step(0x6000, BranchKind::indirect_call, switcher, 0);
  step(switcher, BranchKind::near_return, 0x1005, 0);
  EXPECT_EQ(step.callers(), (std::vector<u64>{0x105}));
  for (int round = 0; round < 3; ++round) {
    step(0x1000, BranchKind::indirect_call, switcher, 0);
    step(switcher, BranchKind::near_return, 0x6005, 0);
    EXPECT_EQ(step.callers(), (std::vector<u64>{0x805}));
    step(0x6000, BranchKind::indirect_call, switcher, 0);
    step(switcher, BranchKind::near_return, 0x1005, 0);
    EXPECT_EQ(step.callers(), (std::vector<u64>{0x105}));
  }
}

}  // namespace
}  // namespace pmusim::test::call_tracker_test
