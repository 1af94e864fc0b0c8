// SPDX-License-Identifier: MIT
#include "trap/thread.h"

#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "pmusim/cpu/retirement.h"
#include "trap/context.h"

namespace pmusim::trap {

namespace {

// Of a kind that needs no memory when a signal's handler is the first to ask.
[[gnu::tls_model("initial-exec")]] constinit thread_local Thread* current_thread = nullptr;

long arch_prctl(int code, u64 argument) { return syscall(SYS_arch_prctl, code, argument); }

u64 segment_base(int code) {
  u64 base = 0;
  return arch_prctl(code, reinterpret_cast<u64>(&base)) == 0 ? base : 0;
}

bool is_stepping_register(const Code& code, const Registers& registers) {
  return code.special == Special::wrmsr && static_cast<u32>(registers[Gpr::rcx]) == Trap::stepping_register;
}

/// Whether code can go on at an address behind an instruction, as far as its bytes say.
bool can_lead_to(const x86::Instruction& instruction, u64 ip) {
  if (instruction.length == 0) return false;
  switch (instruction.branch) {
    case BranchKind::none:
      return ip == instruction.end() || (instruction.rep && ip == instruction.ip);
    case BranchKind::conditional:
      return ip == instruction.end() || ip == instruction.target;
    case BranchKind::direct_jump:
    case BranchKind::direct_call:
      return ip == instruction.target;
    default:
      return true;
  }
}

/// Branches that jump whatever registers hold; the others are seen to when they went elsewhere.
bool is_taken(const x86::Instruction& instruction, u64 next_ip) {
  return instruction.branch != BranchKind::none &&
         (instruction.branch != BranchKind::conditional || next_ip != instruction.end());
}

}  // namespace

Thread::Thread(Pmu& pmu, TrapOptions options) : pmu_(pmu), options_(std::move(options)) {}

Thread* Thread::current() { return current_thread; }

Result<Done, Error> Thread::attach() {
  if (options_.timing == TrapTiming::core) {
    Result<Core, Error> core = Core::create(pmu_.model());
    if (!core.ok()) return Failure(core.error());
    core_.emplace(std::move(core).value()).attach(pmu_);
    block_.instructions.resize(1);
  }
  if (!stack_.install()) return Failure(Error("Trap: the system gives this thread no stack for its signals"));
  fs_base_ = segment_base(ARCH_GET_FS);
  gs_base_ = segment_base(ARCH_GET_GS);
  current_thread = this;
  if (options_.cpuid == TrapCpuid::emulated) traps_cpuid_ = arch_prctl(ARCH_SET_CPUID, 0) == 0;
  return Done{};
}

Thread::~Thread() {
  if (current_thread != this) return;
  if (traps_cpuid_) arch_prctl(ARCH_SET_CPUID, 1);
  current_thread = nullptr;
}

// --- signals

Verdict Thread::on_fault(ucontext_t& context, int signal) {
  Registers registers = registers_of(context);
  const Code code = code_at(registers.rip);
  const bool stepped = steps() && (registers.rflags & flags::TRAP) != 0;
  const bool is_ours =
      signal == SIGILL ? is_privileged(code.special) || (is_transactional(code.special) && pmu_.model().rtm)
                       : may_fault(code.special) || (code.special == Special::xgetbv && stepped);
  if (!is_ours) return Verdict::foreign;

  if (is_stepping_register(code, registers)) {
    registers.rip += code.instruction.length;
    control(registers[Gpr::rax] & low_bits(32), registers);
  } else if (stepped) {
    if (!emulate(code, registers)) return Verdict::foreign;
    prepare(registers);
  } else if (!emulate_aside(code, registers)) {
    return Verdict::foreign;
  }
  set_registers(context, registers);
  return Verdict::ours;
}

// Code without TF is not what is being stepped: the handler of another signal, or where one has jumped to.
bool Thread::emulate_aside(const Code& code, Registers& registers) {
  ++nesting_;
  const bool goes_on = emulate(code, registers);
  --nesting_;
  return goes_on;
}

Verdict Thread::fault_of_another(const siginfo_t& info, const ucontext_t& context) {
  if (info.si_code != SI_KERNEL) return Verdict::foreign;
  if (code_at(registers_of(context).rip).special != Special::cpuid) return Verdict::foreign;
  return arch_prctl(ARCH_SET_CPUID, 1) == 0 ? Verdict::ours : Verdict::foreign;
}

Verdict Thread::on_step(ucontext_t& context) {
  if (!steps()) return Verdict::foreign;
  Registers registers = registers_of(context);
  retire_executed(registers);
  prepare(registers);
  set_registers(context, registers);
  return Verdict::ours;
}

// What faulted has not retired, and does not if he has moved RIP.
void Thread::after_foreign(ucontext_t& context, bool stepped) {
  if (!stepped) return;
  stepping_ = true;
  if (!steps()) return;
  Registers registers = registers_of(context);
  if (registers.rip == before_.rip) {
    before_ = registers;
    return;
  }
  repeating_since_.reset();
  prepare(registers);
  set_registers(context, registers);
}

void Thread::control(u64 request, Registers& registers) {
  if (nesting_ != 0) return;
  stepping_ = request != 0;
  registers.rflags &= ~flags::TRAP;
  repeating_since_.reset();
  if (!stepping_) return;
  if (core_) core_->synchronize();
  cpl_ = request == 1 ? Cpl::kernel : Cpl::user;
  registers.rflags |= flags::TRAP;
  prepare(registers);
}

bool Thread::emulate(const Code& code, Registers& registers) {
  const Registers before = registers;
  if (const Fault fault = execute(code, registers); fault != Fault::none)
    return after_fault(fault, code, before, registers);
  if (steps()) retire(code, before, registers);
  return true;
}

bool Thread::after_fault(Fault fault, const Code& code, const Registers& before, Registers& registers) {
  registers = before;
  AfterFault after = AfterFault::deliver;
  const observed::AccessFault access = access_fault(code, before);
  if (options_.on_fault) in_pmu([&] { after = options_.on_fault({fault, before.rip, access}, registers); });
  if (after == AfterFault::deliver) return false;
  if (after == AfterFault::skip) registers.rip = code.instruction.end();
  if (steps()) registers.rflags |= flags::TRAP;
  return true;
}

// --- steps

// TF traps behind the instruction that follows SYSCALL or a load of SS, and after every iteration of a
// repeated string instruction.
void Thread::retire_executed(const Registers& after) {
  Code code = code_at(before_.rip);
  const bool went_on = after.rip != code.instruction.end();
  if ((code.special == Special::syscall || code.special == Special::load_stack_segment) && went_on) {
    Registers between = before_;
    between.rip = code.instruction.end();
    retire(code.instruction, before_, between);
    pass_boundary(between);
    before_ = between;
    code = code_at(between.rip);
  }
  // The handler of a signal that this has not taken may have skipped an instruction that faulted.
  if (!can_lead_to(code.instruction, after.rip)) {
    const Code behind = code_at(code.instruction.end());
    if (can_lead_to(behind.instruction, after.rip)) code = behind;
  }
  if (code.instruction.rep && after.rip == code.instruction.ip) {
    if (!repeating_since_) repeating_since_ = before_;
    return;
  }
  const Registers before = repeating_since_.value_or(before_);
  repeating_since_.reset();
  retire(code.instruction, before, after);
}

void Thread::retire(const Code& code, const Registers& before, const Registers& after) {
  if (code.special != Special::xbegin) return retire(code.instruction, before, after);
  Registers begun = before;
  begun.rip = code.instruction.end();
  retire(code.instruction, before, begun);
  abort_transaction(code.instruction, after);
}

void Thread::retire(const x86::Instruction& instruction, const Registers& before, const Registers& after) {
  std::array<MemoryAccess, 2> accesses;
  std::size_t count = 0;
  for (const x86::MemoryOperand& operand : instruction.accesses())
    accesses[count++] = {.address = x86::effective_address(instruction, operand, before, fs_base_, gs_base_),
                         .bytes = operand.bytes,
                         .kind = operand.store && !operand.load ? AccessKind::store : AccessKind::load,
                         .locked = instruction.locked};
  if (shadowed_ != 0) --shadowed_;
  const auto made = std::span(accesses).first(count);
  if (core_)
    retire_in_core(instruction, made, before[Gpr::rcx] - after[Gpr::rcx], as_seen(after));
  else
    retire_flat(instruction, made, as_seen(after));
  ++retired_;
}

void Thread::retire_flat(const x86::Instruction& instruction, std::span<const MemoryAccess> accesses,
                         const Registers& after) {
  const bool taken = is_taken(instruction, after.rip);
  Retirement retirement{
      .ip = instruction.ip,
      .next_ip = after.rip,
      .cycle = pmu_.now(),
      .signals = instruction.signals | outcome_signals(instruction.branch, {.taken = taken}),
      .length = instruction.length,
      .branch = instruction.branch,
      .taken = taken,
      .cpl = cpl_,
      .cpl_after = cpl_,
      .latency_cycles = 1,
      .retire_latency_cycles = 1,
      .memory = accesses,
      .registers = &after};
  retirement.quantities[static_cast<unsigned>(Quantity::uops)] = instruction.uops;
  retirement.quantities[static_cast<unsigned>(Quantity::cycles)] = 1;
  in_pmu([&] { pmu_.retire(retirement); });
}

// The core does not see transactions: it would have to find out that this one has aborted.
void Thread::retire_in_core(const x86::Instruction& instruction, std::span<const MemoryAccess> accesses,
                            u64 iterations, const Registers& after) {
  block_.instructions.front() = instruction;
  block_.instructions.front().transaction = x86::TransactionRole::none;
  block_.operands = instruction.memory_operands;
  block_.reps = instruction.rep ? 1 : 0;
  std::array<u64, 2> addresses{};
  std::ranges::transform(accesses, addresses.begin(), &MemoryAccess::address);
  const u32 repetitions = static_cast<u32>(iterations);
  const trace::BlockRun run{.block = &block_,
                            .next_ip = after.rip,
                            .addresses = std::span(addresses).first(accesses.size()),
                            .rep_counts = {&repetitions, block_.reps},
                            .registers = {&after, 1}};
  in_pmu([&] { core_->run(run, cpl_, cpl_); });
}

// No instruction of its own.
void Thread::abort_transaction(const x86::Instruction& begin, const Registers& after) {
  const Registers seen = as_seen(after);
  if (core_) core_->interrupt();
  in_pmu([&] {
    pmu_.retire({.ip = begin.ip,
                 .next_ip = after.rip,
                 .cycle = pmu_.now(),
                 .signals = {Signal::tx_abort, Signal::tx_abort_event},
                 .branch = BranchKind::tsx_abort,
                 .taken = true,
                 .cpl = cpl_,
                 .cpl_after = cpl_,
                 .tx = TxState::aborting,
                 .registers = &seen});
  });
}

// In front of an instruction: time passes, unless it is the core's, a PMI may come, and what the machine
// would execute by itself but must not is executed here.
void Thread::prepare(Registers& registers) {
  for (;;) {
    pass_boundary(registers);
    const Code code = code_at(registers.rip);
    const Registers before = registers;
    if (!is_quiet(code.special)) break;
    if (execute(code, registers) != Fault::none) {
      registers = before;
      break;
    }
    retire(code, before, registers);
  }
  before_ = registers;
}

void Thread::pass_boundary(const Registers& registers) {
  const InterruptFrame frame{.registers = as_seen(registers), .cpl = cpl_, .registers_known = true};
  in_pmu([&] {
    if (!core_) pmu_.wait_until(pmu_.now() + 1, frame);
    if (options_.on_boundary) options_.on_boundary(frame.registers);
  });
}

/// With the flags of the emulated processor.
Registers Thread::as_seen(Registers registers) const {
  registers.rflags &= ~(flags::TRAP | flags::INTERRUPT);
  if (interrupts_ && shadowed_ == 0) registers.rflags |= flags::INTERRUPT;
  return registers;
}

// A PMI handler's own privileged instructions arrive here while it runs; it returns with IRET, which brings
// back the flags.
template <class Call>
void Thread::in_pmu(Call call) {
  const bool interrupts = interrupts_;
  ++nesting_;
  call();
  --nesting_;
  interrupts_ = interrupts;
}

}  // namespace pmusim::trap
