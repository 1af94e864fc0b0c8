// SPDX-License-Identifier: MIT
#include "why/heap_blocks.h"

#include <algorithm>
#include <iterator>

namespace pmusim::why {

namespace {

struct HeapFunction {
  std::string_view name;
  HeapCall call;
};
/// glibc's dynamic symbols have either of two names for the same address.
constexpr HeapFunction heap_functions[] = {
    {"malloc", HeapCall::size},
    {"__libc_malloc", HeapCall::size},
    {"valloc", HeapCall::size},
    {"pvalloc", HeapCall::size},
    {"calloc", HeapCall::count_and_size},
    {"__libc_calloc", HeapCall::count_and_size},
    {"realloc", HeapCall::block_and_size},
    {"__libc_realloc", HeapCall::block_and_size},
    {"reallocarray", HeapCall::block_count_and_size},
    {"__libc_reallocarray", HeapCall::block_count_and_size},
    {"aligned_alloc", HeapCall::alignment_and_size},
    {"memalign", HeapCall::alignment_and_size},
    {"__libc_memalign", HeapCall::alignment_and_size},
    {"free", HeapCall::block},
    {"cfree", HeapCall::block},
    {"__libc_free", HeapCall::block},
    {"_Znwm", HeapCall::size},
    {"_Znam", HeapCall::size},
    {"_ZnwmRKSt9nothrow_t", HeapCall::size},
    {"_ZnamRKSt9nothrow_t", HeapCall::size},
    {"_ZnwmSt11align_val_t", HeapCall::size},
    {"_ZnamSt11align_val_t", HeapCall::size},
};

/// What was asked for. Products that do not fit are refused by the function itself.
u64 bytes_of(HeapCall call, u64 first, u64 second, u64 third) {
  switch (call) {
    case HeapCall::size:
      return first;
    case HeapCall::count_and_size:
      return first * second;
    case HeapCall::block_and_size:
    case HeapCall::alignment_and_size:
      return second;
    case HeapCall::block_count_and_size:
      return second * third;
    case HeapCall::block:
      break;
  }
  return 0;
}

bool takes_block(HeapCall call) {
  return call == HeapCall::block || call == HeapCall::block_and_size ||
         call == HeapCall::block_count_and_size;
}

}  // namespace

std::optional<HeapCall> heap_call(std::string_view function) {
  const auto known = std::ranges::find(heap_functions, function, &HeapFunction::name);
  return known == std::end(heap_functions) ? std::nullopt : std::optional(known->call);
}

void HeapBlocks::take(const trace::SideBandRecord& record) {
  if (const auto* const start = std::get_if<trace::ProcessStart>(&record)) {
    processes_[start->pid] = {};
    pid_ = start->pid;
    tid_ = start->tid;
    threads_[tid_] = {};
  }
  if (const auto* const start = std::get_if<trace::ThreadStart>(&record)) {
    threads_[start->tid] = {};
    if (start->pid != start->parent_pid) processes_[start->pid] = Process(processes_[start->parent_pid]);
  }
  if (const auto* const change = std::get_if<trace::ThreadSwitch>(&record)) {
    pid_ = change->pid;
    tid_ = change->tid;
  }
}

/// Registers are those behind the call: the return address is on the stack.
HeapChange HeapBlocks::enter(Process& process, Thread& thread, HeapCall call) {
  const Registers& at = *thread.registers;
  const u64 first = at[Gpr::rdi];
  const u64 replaced = takes_block(call) ? first : 0;
  if (call == HeapCall::block) return {.released = process.blocks.erase(replaced) != 0};
  thread.call = Call{at[Gpr::rsp], bytes_of(call, first, at[Gpr::rsi], at[Gpr::rdx]), replaced};
  return {};
}

/// Where it fails nothing is given, and nothing is taken away.
HeapChange HeapBlocks::leave(Process& process, const Call& call, u64 result, u64 site) {
  if (result == 0) return {};
  process.blocks.erase(call.replaced);
  const HeapBlock block{result, result + std::max<u64>(call.bytes, 1), site};
  return {.given = &process.blocks.insert_or_assign(result, block).first->second};
}

HeapChange HeapBlocks::run(const trace::BlockRun& run) {
  if (run.registers.empty()) return {};
  Process& process = processes_[pid_];
  Thread& thread = threads_[tid_];
  HeapChange change;
  if (!thread.call && thread.registers) {
    const auto function = process.functions.find(run.block->start());
    if (function != process.functions.end()) change = enter(process, thread, function->second);
  }
  thread.registers = run.registers.back();
  // A return leaves the stack pointer above the return address; so does an exception that passes.
  const u64 stack_pointer = (*thread.registers)[Gpr::rsp];
  if (!thread.call || stack_pointer <= thread.call->stack_pointer) return change;
  const Call call = *thread.call;
  thread.call.reset();
  const bool returned = run.block->instructions.back().branch == BranchKind::near_return &&
                        stack_pointer == call.stack_pointer + sizeof(u64);
  return returned ? leave(process, call, (*thread.registers)[Gpr::rax], run.next_ip) : change;
}

const HeapBlock* HeapBlocks::find(u64 address) const {
  const auto process = processes_.find(pid_);
  if (process == processes_.end()) return nullptr;
  const auto after = process->second.blocks.upper_bound(address);
  if (after == process->second.blocks.begin()) return nullptr;
  const HeapBlock& block = std::prev(after)->second;
  return address < block.end ? &block : nullptr;
}

}  // namespace pmusim::why
