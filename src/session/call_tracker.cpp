// SPDX-License-Identifier: MIT
#include "session/call_tracker.h"

#include <utility>

namespace pmusim {

// Of other tools' traces the code is a stand-in, whose calls and returns need not push and pop.
CallTracker::CallTracker(const trace::Contents& contents)
    : has_slots_(contents.addresses && !contents.stand_in_code) {
  switch_to(0, 0);
}

CallTracker::Kind CallTracker::kind_of(const trace::Block& block) {
  const x86::Instruction& last = block.instructions.back();
  switch (last.branch) {
    case BranchKind::direct_call:
      return last.target == last.end() ? Kind::plain : Kind::call;  // call to read the instruction pointer
    case BranchKind::indirect_call:
      return Kind::indirect_call;
    case BranchKind::near_return:
      return Kind::ret;
    case BranchKind::indirect_jump:
      return Kind::indirect_jump;
    case BranchKind::syscall:
      return Kind::syscall;
    default:
      return Kind::plain;
  }
}

CallTracker::Kind CallTracker::learn(const trace::Block& block) {
  if (block.id >= kinds_.size()) {
    kinds_.resize(block.id + 1, Kind::unknown);
    targets_.resize(block.id + 1);
  }
  const Kind kind = kinds_[block.id] = kind_of(block);
  if (kind == Kind::call || kind == Kind::indirect_call) call_before_[block.end()] = block.id;
  return kind;
}

void CallTracker::take_branch(const trace::BlockRun& run, Kind kind) {
  if (kind == Kind::unknown) kind = learn(*run.block);
  switch (kind) {
    case Kind::unknown:
    case Kind::plain:
      return;
    case Kind::call:
    case Kind::indirect_call:
      return take_call(run, kind);
    case Kind::ret:
      return thread_->stack.ret(run.next_ip, slot_of(run));
    case Kind::indirect_jump:
      return take_jump(run);
    case Kind::syscall:
      if (run.next_ip != run.block->end()) thread_->stack.return_from_handler();
      return;
  }
}

/// Of what happens at ring 0 only where it leads matters: back, or out of a signal's handler.
void CallTracker::cross_rings(const trace::BlockRun& run) {
  if (run.block->ring == Cpl::user) next_ip_ = run.block->end();
  if (run.next_ring == Cpl::kernel || run.block->ring == Cpl::user) return;
  if (run.next_ip != next_ip_) thread_->stack.return_from_handler();
  next_ip_ = run.next_ip;
}

void CallTracker::take_call(const trace::BlockRun& run, Kind kind) {
  const u32 id = run.block->id;
  const u64 resume = run.block->end();
  if (kind == Kind::indirect_call && run.next_ip == resume) return;
  if (std::exchange(targets_[id].address, run.next_ip) != run.next_ip)
    thread_->suspended->functions.insert(run.next_ip);
  if (id >= thread_->callers.size()) thread_->callers.resize(kinds_.size());
  thread_->callers[id] = thread_->stack.current();
  thread_->stack.call(resume, run.next_ip, slot_of(run));
}

void CallTracker::take_jump(const trace::BlockRun& run) {
  Target& target = targets_[run.block->id];
  if (target.address != run.next_ip || target.known != call_before_.size()) {
    const auto call = call_before_.find(run.next_ip);
    target = {run.next_ip, call == call_before_.end() ? no_block : call->second, call_before_.size()};
  }
  if (target.behind == no_block) return;
  const auto& callers = thread_->callers;
  thread_->stack.jump_behind_call(run.next_ip,
                                  target.behind < callers.size() ? callers[target.behind] : std::nullopt);
}

std::vector<u64> CallTracker::callers_at(u64 ip, std::size_t limit) const {
  const u64 version = ip == next_ip_ ? thread_->stack.version() : before_;
  return thread_->stack.callers(version, limit).value_or(std::vector<u64>{});
}

std::shared_ptr<SuspendedStacks>& CallTracker::process(u32 pid) {
  std::shared_ptr<SuspendedStacks>& process = processes_[pid];
  if (process == nullptr) process = std::make_shared<SuspendedStacks>();
  return process;
}

void CallTracker::switch_to(u32 pid, u32 tid) {
  Thread* const left = thread_;
  if (left != nullptr) left->next_ip = next_ip_;
  std::unique_ptr<Thread>& thread = threads_[tid];
  if (thread == nullptr) thread = std::make_unique<Thread>(process(pid));
  thread_ = thread.get();
  next_ip_ = thread_->next_ip;
  before_ = thread_->stack.version();
  if (left != nullptr && left != thread_ && left->exited)
    std::erase_if(threads_, [&](const auto& each) { return each.second.get() == left; });
}

/// A thread begins with a stack of its own; a forked process with its parent's.
void CallTracker::start_thread(const trace::ThreadStart& start) {
  const auto parent = threads_.find(start.parent_tid);
  const bool forked = start.pid != start.parent_pid && parent != threads_.end();
  if (forked) processes_[start.pid] = std::make_shared<SuspendedStacks>(*parent->second->suspended);
  auto thread = forked ? std::make_unique<Thread>(*parent->second, process(start.pid))
                       : std::make_unique<Thread>(process(start.pid));
  std::unique_ptr<Thread>& place = threads_[start.tid];
  if (place.get() == thread_) thread_ = thread.get();  // its number is used again
  place = std::move(thread);
}

void CallTracker::end_thread(u32 tid) {
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) return;
  thread->second->exited = true;
  if (thread->second.get() != thread_) threads_.erase(thread);
}

void CallTracker::on_side_band(const trace::SideBandRecord& record) {
  struct Visitor {
    CallTracker& t;
    void operator()(const trace::ProcessStart& start) const {
      t.switch_to(start.pid, start.tid);
      t.thread_->stack.clear();
      *t.thread_->suspended = {};
      t.before_ = t.thread_->stack.version();
    }
    void operator()(const trace::ThreadStart& start) const { t.start_thread(start); }
    void operator()(const trace::ThreadExit& exit) const { t.end_thread(exit.tid); }
    void operator()(const trace::ThreadSwitch& to) const { t.switch_to(to.pid, to.tid); }
    void operator()(const trace::Map&) const {}
    void operator()(const trace::Unmap&) const {}
    void operator()(const trace::Syscall&) const {}
    void operator()(const trace::SignalDelivery& delivery) const {
      t.thread_->stack.enter_handler(t.next_ip_);
      t.next_ip_ = delivery.handler;
      t.before_ = t.thread_->stack.version();
    }
    void operator()(const trace::Interrupt&) const {}
    void operator()(const trace::ThreadName&) const {}
  };
  std::visit(Visitor{*this}, record);
}

}  // namespace pmusim
