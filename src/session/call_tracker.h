// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_CALL_TRACKER_H
#define PMUSIM_SRC_SESSION_CALL_TRACKER_H

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "pmusim/trace/trace.h"
#include "session/shadow_stack.h"

namespace pmusim {

/// The call stacks of a program's threads in user mode, kept while it is replayed.
///
///     tracker.take(run);          // before the engine runs the block
///     tracker.callers_at(ip, 127) // while it does, and after it
class CallTracker {
 public:
  /// Of a trace with these contents.
  explicit CallTracker(const trace::Contents& contents);

  /// The block that runs now.
  void take(const trace::BlockRun& run) {
    before_ = thread_->stack.version();
    if (run.block->ring == Cpl::kernel || run.next_ring == Cpl::kernel) return cross_rings(run);
    next_ip_ = run.next_ip;
    const u32 id = run.block->id;
    const Kind kind = id < kinds_.size() ? kinds_[id] : Kind::unknown;
    if (kind != Kind::plain) take_branch(run, kind);
  }
  void on_side_band(const trace::SideBandRecord& record);

  /// Names the state of the running thread's stack before the block that ran last has left it.
  u64 before() const { return before_; }
  /// What the running thread was in at `ip`: behind the block that ran last if that went there, else within
  /// or before it.
  std::vector<u64> callers_at(u64 ip, std::size_t limit) const;
  /// The same of a state; nothing: it is too long ago.
  std::optional<std::vector<u64>> callers(u64 version, std::size_t limit) const {
    return thread_->stack.callers(version, limit);
  }

 private:
  enum class Kind : u8 { unknown, plain, call, indirect_call, ret, indirect_jump, syscall };
  static constexpr u32 no_block = ~u32{0};

  struct Thread {
    explicit Thread(std::shared_ptr<SuspendedStacks> process)
        : stack(process), suspended(std::move(process)) {}
    Thread(const Thread& parent, std::shared_ptr<SuspendedStacks> process)
        : stack(parent.stack, process), suspended(std::move(process)), callers(parent.callers) {}
    ShadowStack stack;
    std::shared_ptr<SuspendedStacks> suspended;
    std::vector<std::optional<u64>> callers;  // by block that calls: who did so last
    u64 next_ip = 0;
    bool exited = false;
  };
  /// Where an indirect branch went last.
  struct Target {
    u64 address = 0;
    u32 behind = no_block;  // the block with the call that it follows
    std::size_t known = 0;  // how many calls were known then
  };

  static Kind kind_of(const trace::Block& block);
  Kind learn(const trace::Block& block);
  void take_branch(const trace::BlockRun& run, Kind kind);
  void cross_rings(const trace::BlockRun& run);
  void take_call(const trace::BlockRun& run, Kind kind);
  void take_jump(const trace::BlockRun& run);
  u64 slot_of(const trace::BlockRun& run) const {
    return has_slots_ && !run.addresses.empty() ? run.addresses.back() : 0;
  }
  void start_thread(const trace::ThreadStart& start);
  void end_thread(u32 tid);
  void switch_to(u32 pid, u32 tid);
  std::shared_ptr<SuspendedStacks>& process(u32 pid);

  bool has_slots_;
  std::vector<Kind> kinds_;                   // by block
  std::vector<Target> targets_;               // by block
  std::unordered_map<u64, u32> call_before_;  // by return address
  std::map<u32, std::shared_ptr<SuspendedStacks>> processes_;
  std::map<u32, std::unique_ptr<Thread>> threads_;
  Thread* thread_ = nullptr;  // that runs
  u64 before_ = 0, next_ip_ = 0;
};

}  // namespace pmusim

#endif
