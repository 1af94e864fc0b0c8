// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/kernel_address.h"
#include "pmusim/trace/trace.h"
#include "trace/rings.h"
#include "trace/synthetic_kernel.h"

namespace pmusim::trace {
namespace {

using Entry = SyntheticKernel::Entry;

constexpr u32 timer_vector = 0xEC;
constexpr u64 kernel_stacks = 0xFFFF'C900'0000'0000, stack_bytes = 0x4000;
constexpr u64 unknown_number = ~u64{0};

bool comes_back(u64 system_call) {
  constexpr u64 exit = 60, exit_group = 231;
  return system_call != exit && system_call != exit_group;
}

/// What a CPU takes for the reason of a signal that no system call has brought: the exceptions of a program's
/// own, and the timer.
u32 vector_of(u32 signal) {
  switch (signal) {
    case 4:  // SIGILL
      return 6;
    case 5:  // SIGTRAP
      return 3;
    case 8:  // SIGFPE
      return 0;
    case 7:   // SIGBUS
    case 11:  // SIGSEGV
      return 14;
    default:
      return timer_vector;
  }
}

/// The program and the kernel, whose blocks have numbers that follow those of neither.
class Blocks {
 public:
  /// The program's, under its number here.
  const Block& copy(const Block& block) {
    if (block.id >= copies_.size()) copies_.resize(block.id + 1);
    const Block*& known = copies_[block.id];
    if (known == nullptr) known = &add(Block(block));
    return *known;
  }
  const Block& at(const SyntheticKernel& kernel, u64 ip) {
    const Block*& known = at_[ip];
    if (known == nullptr) known = &add(make(kernel, ip));
    return *known;
  }

 private:
  const Block& add(Block block) {
    block.id = static_cast<u32>(blocks_.size());
    return blocks_.emplace_back(std::move(block));
  }
  static Block make(const SyntheticKernel& kernel, u64 ip) {
    Block block{.ring = Cpl::kernel};
    for (bool goes_on = true; goes_on;) {
      const SyntheticKernel::Step& step = kernel.step(ip);
      const auto code = kernel.code(ip, step.length);
      const x86::Instruction& decoded = block.instructions.emplace_back(x86::decode(code, ip));
      block.code.insert(block.code.end(), code.begin(), code.end());
      block.operands += decoded.memory_operands;
      ip += step.length;
      goes_on = !SyntheticKernel::is_branch(step.effect);
    }
    return block;
  }

  std::deque<Block> blocks_;
  std::vector<const Block*> copies_;          // by the program's number
  std::unordered_map<u64, const Block*> at_;  // the kernel's
};

/// Everything of the program, with the kernel's blocks where it enters it.
class EnteredProgram final : public Source {
 public:
  EnteredProgram(std::unique_ptr<Source> program, const KernelEntries& entries)
      : program_(std::move(program)),
        entries_(entries),
        kernel_(entries),
        contents_(program_->contents()),
        wanted_(contents_) {
    contents_.kernel = true;
  }

  const Contents& contents() const override { return contents_; }
  std::optional<u64> length() const override { return {}; }
  const std::optional<std::string>& truncation() const override { return program_->truncation(); }
  bool has_page_tables() const override { return program_->has_page_tables(); }
  std::optional<u64> physical_address(u32 pid, u64 address) const override {
    return program_->physical_address(pid, address);
  }
  std::vector<std::byte> memory(u32 pid, u64 address, std::size_t bytes) const override {
    return program_->memory(pid, address, bytes);
  }
  std::vector<std::byte> code(u32 pid, u64 address, std::size_t bytes) const override {
    if (!is_kernel_address(address)) return program_->code(pid, address, bytes);
    const auto code = kernel_.code(address, bytes);
    return {code.begin(), code.end()};
  }
  void leave_out(Detail detail) override {
    (detail == Detail::addresses ? wanted_.addresses : wanted_.registers) = false;
    program_->leave_out(detail);
  }
  Result<std::unique_ptr<Source>, Error> again() const override {
    auto program = program_->again();
    if (!program.ok()) return program;
    auto entered = std::make_unique<EnteredProgram>(std::move(program).value(), entries_);
    entered->wanted_ = wanted_;
    return std::unique_ptr<Source>(std::move(entered));
  }

  Result<Items, Error> read() override { return items_of(next_item()); }

 private:
  /// What is known of a thread in user mode, behind its last instruction.
  struct Thread {
    u64 next_ip = 0;
    Registers registers;  // if the trace has them
    u64 kernel_stack = 0;
  };

  Result<NextItem, Error> next_item();
  Result<NextItem, Error> take_next();
  Result<Done, Error> look_behind_call();
  NextItem run_program(const BlockRun& run);
  NextItem run_kernel();
  void call_system(BlockRun& run, const Thread& thread, const Registers& before);
  NextItem take(const SideBandRecord& record, NextItem item);
  NextItem interrupt(Entry entry, u32 vector, u64 to);
  bool leaves_next();
  NextItem deliver(SideBandRecord record) {
    record_ = std::move(record);
    return NextItem(record_);
  }
  Thread& thread();

  std::unique_ptr<Source> program_;
  KernelEntries entries_;
  SyntheticKernel kernel_;
  Contents contents_, wanted_;
  Blocks blocks_;
  bool begun_ = false, kernel_is_mapped_ = false;
  std::map<u32, Thread> threads_;
  u64 threads_seen_ = 0;
  u32 tid_ = 0;         // that runs
  u64 since_tick_ = 0;  // instructions of the program

  std::optional<KernelPath::Call> called_;     // that has begun, and of which no more is known yet
  std::optional<KernelPath> path_;             // that is being executed
  std::deque<SideBandRecord> before_leaving_;  // come before its last block
  NextItem held_;                              // of the program, behind all that
  Item run_, record_;
  std::vector<Registers> registers_;  // after the instructions of a block that calls
};

Result<NextItem, Error> EnteredProgram::next_item() {
  if (begun_ && !std::exchange(kernel_is_mapped_, true)) {
    constexpr u32 read_execute = 5, is_private = 2;
    return deliver(Map{kernel_pid,
                       {.start = SyntheticKernel::text,
                        .bytes = kernel_.end() - SyntheticKernel::text,
                        .file_offset = SyntheticKernel::text,
                        .protection = read_execute,
                        .flags = is_private,
                        .path = "[kernel.kallsyms]_text",
                        .build_id = kernel_.build_id()}});
  }
  begun_ = true;
  if (called_)
    if (auto looked = look_behind_call(); !looked.ok()) return Failure(looked.error());
  if (!before_leaving_.empty() && (path_->over() || leaves_next())) {
    SideBandRecord record = std::move(before_leaving_.front());
    before_leaving_.pop_front();
    return deliver(std::move(record));
  }
  if (path_ && !path_->over()) return run_kernel();
  if (entries_.tick_every != 0 && since_tick_ >= entries_.tick_every) {
    since_tick_ -= entries_.tick_every;
    return interrupt(Entry::tick, timer_vector, thread().next_ip);
  }
  return take_next();
}

Result<NextItem, Error> EnteredProgram::take_next() {
  Result<NextItem, Error> item =
      held_ ? Result<NextItem, Error>(std::exchange(held_, NextItem())) : program_->next();
  if (!item.ok() || !*item) return item;
  if (const auto* const run = std::get_if<BlockRun>(&**item)) return run_program(*run);
  return take(std::get<SideBandRecord>(**item), *item);
}

NextItem EnteredProgram::take(const SideBandRecord& record, NextItem item) {
  if (const auto* const start = std::get_if<ProcessStart>(&record)) tid_ = start->tid;
  if (const auto* const to = std::get_if<ThreadSwitch>(&record)) tid_ = to->tid;
  if (const auto* const exit = std::get_if<ThreadExit>(&record)) threads_.erase(exit->tid);
  const auto* const signal = std::get_if<SignalDelivery>(&record);
  if (signal == nullptr) return item;
  before_leaving_.emplace_back(*signal);
  return interrupt(Entry::signal, vector_of(signal->signal), signal->handler);
}

EnteredProgram::Thread& EnteredProgram::thread() {
  const auto [entry, is_new] = threads_.try_emplace(tid_);
  if (is_new) entry->second.kernel_stack = kernel_stacks + stack_bytes * ++threads_seen_;
  return entry->second;
}

NextItem EnteredProgram::run_program(const BlockRun& run) {
  BlockRun& mine = run_.emplace<BlockRun>(run);
  mine.block = &blocks_.copy(*run.block);
  since_tick_ += run.block->instructions.size();
  Thread& runs = thread();
  const Registers before = runs.registers;
  runs.next_ip = run.next_ip;
  if (!run.registers.empty()) runs.registers = run.registers.back();
  const BranchKind last = run.block->instructions.back().branch;
  if (last == BranchKind::syscall || last == BranchKind::software_interrupt) call_system(mine, runs, before);
  return NextItem(run_);
}

/// The registers of a trace are those behind the call.
void EnteredProgram::call_system(BlockRun& run, const Thread& runs, const Registers& before) {
  const bool by_interrupt = run.block->instructions.back().branch == BranchKind::software_interrupt;
  KernelPath::Call& call = called_.emplace();
  call.entry = by_interrupt ? Entry::signal : Entry::system_call;
  call.stack = runs.kernel_stack;
  call.returned = runs.registers;
  call.returned.rip = run.next_ip;
  call.user = run.registers.size() > 1 ? run.registers[run.registers.size() - 2] : before;
  call.user.rip = run.block->end();
  if (!by_interrupt) {
    call.user[Gpr::rcx] = call.user.rip;
    call.user[Gpr::r11] = call.user.rflags;
  }
  run.next_ip = kernel_.entry(call.entry);
  run.next_ring = Cpl::kernel;
  if (run.registers.empty()) return;
  registers_.assign(run.registers.begin(), run.registers.end());
  registers_.back() = call.user;
  registers_.back().rip = run.next_ip;
  run.registers = registers_;
}

/// Which call it was, and whether it goes on in a handler of a signal's.
Result<Done, Error> EnteredProgram::look_behind_call() {
  KernelPath::Call call = *std::exchange(called_, std::nullopt);
  call.number = unknown_number;
  Result<NextItem, Error> item = program_->next();
  const auto record = [&]() -> const SideBandRecord* {
    return item.ok() && *item ? std::get_if<SideBandRecord>(&**item) : nullptr;
  };
  if (const auto* const made = record() != nullptr ? std::get_if<Syscall>(record()) : nullptr) {
    call.number = made->number;
    call.returns = comes_back(made->number);
    before_leaving_.emplace_back(*made);
    item = program_->next();
  }
  if (!item.ok()) return Failure(item.error());
  if (const auto* const signal = record() != nullptr ? std::get_if<SignalDelivery>(record()) : nullptr) {
    call.returned.rip = signal->handler;
    before_leaving_.emplace_back(*signal);
  } else {
    held_ = *item;
  }
  if (!contents_.registers) call.user[Gpr::rax] = call.number;
  path_.emplace(kernel_, call);
  return Done{};
}

NextItem EnteredProgram::interrupt(Entry entry, u32 vector, u64 to) {
  const Thread& runs = thread();
  KernelPath::Call call{.entry = entry, .stack = runs.kernel_stack, .user = runs.registers};
  call.user.rip = runs.next_ip;
  call.returned = call.user;
  call.returned.rip = to;
  path_.emplace(kernel_, call);
  return deliver(Interrupt{vector, runs.next_ip, kernel_.entry(entry), Cpl::user});
}

bool EnteredProgram::leaves_next() {
  const BranchKind last = blocks_.at(kernel_, path_->ip()).instructions.back().branch;
  return last == BranchKind::sysret || last == BranchKind::interrupt_return;
}

NextItem EnteredProgram::run_kernel() {
  const Block& block = blocks_.at(kernel_, path_->ip());
  path_->execute(block);
  BlockRun& run = run_.emplace<BlockRun>();
  run.block = &block;
  run.next_ip = path_->next_ip();
  run.next_ring = path_->next_ring();
  if (wanted_.addresses) run.addresses = path_->addresses();
  if (wanted_.registers) run.registers = path_->registers();
  return NextItem(run_);
}

Result<Done, Error> check_length(std::string_view which, u32 instructions, Entry entry) {
  constexpr u32 longest = 10'000'000;
  const u32 shortest = SyntheticKernel::shortest(entry);
  if (instructions >= shortest && instructions <= longest) return Done{};
  return Failure(Error(fmt::format("kernel entries: {}={}: an entry takes {} to {} instructions", which,
                                   instructions, shortest, longest)));
}

}  // namespace

Result<std::unique_ptr<Source>, Error> with_kernel_entries(std::unique_ptr<Source> program,
                                                           const KernelEntries& entries) {
  if (program->contents().kernel)
    return Failure(Error("kernel entries: the trace has code at ring 0 of its own"));
  if (program->contents().timing)
    return Failure(Error(
        "kernel entries: the trace holds recorded time, and nobody knows what an entry would have taken"));
  for (const auto& [which, instructions, entry] :
       {std::tuple("syscall", entries.system_call, Entry::system_call),
        {"tick", entries.tick, Entry::tick},
        {"signal", entries.signal, Entry::signal}})
    if (auto checked = check_length(which, instructions, entry); !checked.ok())
      return Failure(checked.error());
  return std::unique_ptr<Source>(std::make_unique<EnteredProgram>(std::move(program), entries));
}

}  // namespace pmusim::trace
