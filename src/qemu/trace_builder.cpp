// SPDX-License-Identifier: MIT
#include "qemu/trace_builder.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/base_name.h"

namespace pmusim::qemu {
namespace {

using trace::SideBandRecord;

constexpr i64 restarts = -512;  // qemu: the call is repeated
constexpr std::size_t call_words = 9, result_words = 10;
constexpr u64 max_blocks = u64{1} << 24;  // of a process

/// Where in a `result` packet each thing stands.
enum ResultWord : std::size_t { number, arguments, result = 7, parent, path_bytes, path };
/// And in a `call` packet, behind the same arguments.
enum CallWord : std::size_t { return_ip = 7, return_sp };

/// Text as the plugin packs it: its length, then its bytes. Empty where the packet is too short for it.
std::string_view text_at(std::span<const u64> words, std::size_t at) {
  if (at >= words.size()) return {};
  const std::size_t room = (words.size() - at - 1) * sizeof(u64);
  if (words[at] > room) return {};
  return {reinterpret_cast<const char*>(words.data() + at + 1), static_cast<std::size_t>(words[at])};
}

std::size_t words_of_text(std::size_t bytes) { return 1 + (bytes + sizeof(u64) - 1) / sizeof(u64); }

std::string command_name(std::string_view path) { return base_name(path).substr(0, 15); }

bool goes_anywhere(BranchKind kind) {
  return kind != BranchKind::none && kind != BranchKind::conditional && kind != BranchKind::direct_jump &&
         kind != BranchKind::direct_call;
}

/// Whether the instruction leads to `next` by itself.
bool leads_to(const x86::Instruction& last, u64 next) {
  if (last.branch == BranchKind::none) return next == last.end();
  if (last.branch == BranchKind::conditional && next == last.end()) return true;
  return goes_anywhere(last.branch) || next == last.target;
}

/// Signals that an instruction raises before it retires. qemu delivers the others between blocks.
bool is_fault(u64 signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP;
}

}  // namespace

Result<Done, Error> TraceBuilder::take(const wire::Header& header, std::span<const u64> words) {
  switch (header.kind) {
    case wire::Kind::start:
      started(header, words);
      break;
    case wire::Kind::block:
      translated(header, words);
      break;
    case wire::Kind::runs:
      ran(thread_of(header), words);
      break;
    case wire::Kind::call:
      if (words.size() >= call_words) call_began(thread_of(header), words);
      break;
    case wire::Kind::result:
      if (words.size() >= result_words) call_returned(header, words);
      break;
    case wire::Kind::signals:
      if (!words.empty()) signalled(thread_of(header), words);
      break;
    case wire::Kind::unknown_cpu:
      error_ = Error(
          "signals cannot be followed under this release of qemu: it keeps the emulated registers elsewhere "
          "(record with --step)");
      break;
    case wire::Kind::exit:
      if (!words.empty()) exited(header, static_cast<i32>(words[0]));
      break;
    case wire::Kind::done:
      return finish();
  }
  if (error_) return Failure(*error_);
  return Done{};
}

Result<Done, Error> TraceBuilder::finish() {
  for (auto& [tid, thread] : threads_) close_killed(thread);
  if (error_) return Failure(*error_);
  return Done{};
}

std::set<u32> TraceBuilder::pids() const {
  std::set<u32> result;
  for (const auto& [tid, thread] : threads_) result.insert(thread.pid);
  return result;
}

void TraceBuilder::started(const wire::Header& header, std::span<const u64> words) {
  const std::string_view program = text_at(words, 0);
  const std::string_view maps = text_at(words, words_of_text(program.size()));
  const bool known = threads_.contains(header.tid);
  if (known) end_by_exec(threads_[header.tid]);
  if (!known) ++thread_count_;
  if (!processes_.contains(header.pid)) ++process_count_;
  threads_[header.tid] = Thread{.pid = header.pid, .tid = header.tid};
  processes_[header.pid] = Process();
  add_side_band(trace::ProcessStart{header.pid, header.tid, command_name(program), true});
  current_tid_ = 0;
  add_side_band(processes_[header.pid].maps.start(header.pid, maps));
}

void TraceBuilder::end_by_exec(Thread& thread) {
  if (thread.open == nullptr) return;
  thread.after.emplace_back(trace::Syscall{SYS_execve, 0});
  close(thread, thread.open->end());
}

void TraceBuilder::translated(const wire::Header& header, std::span<const u64> words) {
  constexpr std::size_t fixed = 4;
  if (words.size() < fixed) return;
  const u64 address = words[0], block_number = words[1], count = words[2], bytes = words[3];
  const auto* const packed = reinterpret_cast<const std::byte*>(words.data() + fixed);
  const std::size_t code_at = (count + sizeof(u64) - 1) / sizeof(u64) * sizeof(u64);
  if (count == 0 || count > wire::max_block_instructions || bytes > 15 * count ||
      code_at + bytes > (words.size() - fixed) * sizeof(u64) || block_number > max_blocks) {
    error_ = Error("the recorder's plugin sent a block that cannot be");
    return;
  }
  auto& blocks = processes_[header.pid].blocks;
  if (blocks.size() <= block_number) blocks.resize(block_number + 1);
  blocks[block_number] =
      &store_.find_or_add(address, {packed + code_at, bytes}, {reinterpret_cast<const u8*>(packed), count});
}

void TraceBuilder::ran(Thread& thread, std::span<const u64> words) {
  for (const u64 word : words) {
    if ((word & wire::run_bit) != 0) {
      entered(thread, word & ~wire::run_bit);
    } else if (thread.open != nullptr) {
      thread.accesses.push_back(word + (u64{thread.first_access} << wire::Access::instruction_shift));
    }
  }
}

const GuestBlock* TraceBuilder::block_of(const Thread& thread, u64 block_number) const {
  const auto& blocks = processes_.at(thread.pid).blocks;
  return block_number < blocks.size() ? blocks[block_number] : nullptr;
}

void TraceBuilder::entered(Thread& thread, u64 block_number) {
  const GuestBlock* const block = block_of(thread, block_number);
  if (block == nullptr) {
    error_ = Error("the recorder's plugin ran a block that it has not shown");
    return;
  }
  // qemu enters a REP instruction again for each iteration.
  if (thread.open != nullptr && thread.open->last().rep && block->start == thread.open->last().ip) {
    thread.first_access = static_cast<unsigned>(thread.open->instructions() - 1);
    return;
  }
  close(thread, block->start);
  thread.open = block;
}

// A handler's first block looks like this whenever it is entered with the registers that the kernel gave it:
// a loop to there and a return from a signal that came before its first instruction do, too. It is a delivery
// if the thread was where the frame says.
void TraceBuilder::signalled(Thread& thread, std::span<const u64> words) {
  std::vector<wire::SignalFrame> frames(words.size() * sizeof(u64) / sizeof(wire::SignalFrame));
  if (frames.empty()) return;
  std::memcpy(frames.data(), words.data() + 1, frames.size() * sizeof frames[0]);
  const GuestBlock* const block = block_of(thread, words[0]);
  if (block == nullptr || block->start != frames.back().handler) return;
  const auto was_there = [&](const wire::SignalFrame& frame) {
    if (thread.open != nullptr) return leads_to(thread.open->last(), frame.ip) || thread.open->has(frame.ip);
    return (thread.next.ip == 0 || thread.next.ip == frame.ip) &&
           (thread.next.sp == 0 || thread.next.sp == frame.sp);
  };
  for (auto frame = std::ranges::find_if(frames, was_there); frame != frames.end(); ++frame)
    deliver(thread, *frame);
}

void TraceBuilder::deliver(Thread& thread, const wire::SignalFrame& frame) {
  if (is_fault(frame.signal)) forget_from(thread, frame.ip);
  close(thread, frame.ip);
  thread.after.emplace_back(trace::SignalDelivery{static_cast<u32>(frame.signal), frame.handler});
  tell_what_followed(thread);
  thread.next = {frame.handler, 0};
}

/// Of the open block nothing from this instruction on has retired.
void TraceBuilder::forget_from(Thread& thread, u64 ip) {
  if (thread.open == nullptr || !thread.open->has(ip)) return;
  keep_first(thread, thread.open->boundary(ip));
}

void TraceBuilder::keep_first(Thread& thread, std::size_t instructions) {
  thread.open = instructions == 0 ? nullptr : &store_.first_of(*thread.open, instructions);
}

void TraceBuilder::call_began(Thread& thread, std::span<const u64> words) {
  const u64 call = words[0];
  if (call == SYS_rt_sigreturn) thread.returns_to = {words[return_ip], words[return_sp]};
  const bool never_returns = call == SYS_exit || call == SYS_exit_group;
  if (!never_returns) return;
  thread.after.emplace_back(trace::Syscall{call, 0});
  close(thread, thread.open == nullptr ? 0 : thread.open->end());
}

void TraceBuilder::call_returned(const wire::Header& header, std::span<const u64> words) {
  const auto value = static_cast<i64>(words[ResultWord::result]);
  const u64 call = words[ResultWord::number];
  const auto parent_pid = static_cast<u32>(words[ResultWord::parent]);
  Thread& thread = thread_of(header, parent_pid);
  if (parent_pid != 0) return;  // a child's first return: the call was its parent's
  if (value == restarts) return repeat_call(thread);
  thread.after.emplace_back(trace::Syscall{call, value});
  if (call == SYS_rt_sigreturn) return signal_returned(thread);
  close(thread, thread.open == nullptr ? 0 : thread.open->end());
  mapped(header.pid, words, value);
}

/// The thread is in front of the call again, perhaps in a handler first.
void TraceBuilder::repeat_call(Thread& thread) {
  if (thread.open == nullptr) return;
  const u64 call_ip = thread.open->last().ip;
  forget_from(thread, call_ip);
  close(thread, call_ip);
}

// Where to is not known if no handler was seen: then the next block tells.
void TraceBuilder::signal_returned(Thread& thread) {
  const Position to = std::exchange(thread.returns_to, {});
  if (to.ip == 0) return;
  close(thread, to.ip);
  thread.next = to;
}

void TraceBuilder::mapped(u32 pid, std::span<const u64> words, i64 value) {
  if (value < 0) return;
  GuestMaps& maps = processes_[pid].maps;
  const auto argument = [&](std::size_t n) { return words[arguments + n]; };
  switch (words[number]) {
    case SYS_mmap:
      return add_side_band(maps.map(pid, {static_cast<u64>(value),
                                          argument(1),
                                          argument(5),
                                          static_cast<u32>(argument(2)),
                                          static_cast<u32>(argument(3) & (MAP_SHARED | MAP_PRIVATE)),
                                          std::string(text_at(words, path_bytes)),
                                          {}}));
    case SYS_munmap:
      return add_side_band(maps.unmap(pid, argument(0), argument(1)));
    case SYS_mprotect:
    case SYS_pkey_mprotect:
      return add_side_band(maps.protect(pid, argument(0), argument(1), static_cast<u32>(argument(2))));
    default:
      return;
  }
}

void TraceBuilder::exited(const wire::Header& header, i32 status) {
  const auto found = threads_.find(header.tid);
  if (found == threads_.end()) return;
  close_killed(found->second);
  add_side_band(trace::ThreadExit{found->second.pid, header.tid, status});
  if (current_tid_ == header.tid) current_tid_ = 0;
  threads_.erase(found);
}

// A thread is first heard of when it has executed something, a forked process when its fork returns.
TraceBuilder::Thread& TraceBuilder::thread_of(const wire::Header& header, u32 parent_pid) {
  const auto known = threads_.find(header.tid);
  if (known != threads_.end()) return known->second;
  if (parent_pid != 0) {
    ++process_count_;
    processes_[header.pid] = processes_[parent_pid];
  }
  ++thread_count_;
  const u32 parent = parent_pid != 0 ? parent_pid : header.pid;
  add_side_band(trace::ThreadStart{header.pid, header.tid, parent, parent});
  return threads_[header.tid] = Thread{.pid = header.pid, .tid = header.tid};
}

void TraceBuilder::close(Thread& thread, u64 next_ip) {
  if (thread.open != nullptr) write_in_region(thread, ending_of(thread, next_ip));
  tell_what_followed(thread);
  thread.open = nullptr;
  thread.accesses.clear();
  thread.first_access = 0;
  thread.next = {next_ip, 0};
}

void TraceBuilder::tell_what_followed(Thread& thread) {
  if (!thread.after.empty() && gate_.is_open()) make_current(thread);
  add_side_band(thread.after);
  thread.after.clear();
}

TraceBuilder::Ending TraceBuilder::ending_of(const Thread& thread, u64 next_ip) {
  const GuestBlock& block = *thread.open;
  if (leads_to(block.last(), next_ip)) return {&block, next_ip};
  if (block.has(next_ip)) {
    const std::size_t executed = block.boundary(next_ip);
    return {executed == 0 ? nullptr : &store_.first_of(block, executed), next_ip};
  }
  return {&block, block.end()};
}

/// How far a killed thread came in its last block is seen from its accesses.
void TraceBuilder::close_killed(Thread& thread) {
  if (thread.open != nullptr) {
    const std::size_t executed = executed_before_fault(thread);
    if (executed < thread.open->instructions()) keep_first(thread, executed);
  }
  close(thread, thread.open == nullptr ? 0 : thread.open->end());
}

// qemu reports an access when it is done: the first instruction without one of its own has not retired.
std::size_t TraceBuilder::executed_before_fault(const Thread& thread) const {
  const GuestBlock& block = *thread.open;
  if (addresses_ == RecordedAddresses::none) return block.instructions();
  auto access = thread.accesses.begin();
  std::size_t n = 0;
  for (const trace::Block* const part : block.parts) {
    for (const x86::Instruction& instruction : part->instructions) {
      const auto begin = access;
      while (access != thread.accesses.end() && wire::Access(*access).instruction == n) ++access;
      if (instruction.memory_operands != 0 && !instruction.rep && access == begin) return n;
      ++n;
    }
  }
  return n;
}

void TraceBuilder::write_in_region(const Thread& thread, const Ending& ending) {
  if (ending.executed == nullptr) return;
  if (gate_.decides()) gate_.reach(ending.executed->start);
  if (gate_.is_open()) {
    make_current(thread);
    write(thread, ending);
  }
  if (gate_.decides())
    gate_.executed(ending.executed->code, ending.executed->instructions(), writer_.stored_bytes());
}

void TraceBuilder::write(const Thread& thread, const Ending& ending) {
  const auto& parts = ending.executed->parts;
  std::span<const u64> accesses = thread.accesses;
  std::size_t first = 0;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    write_part(*parts[n], n + 1 < parts.size() ? parts[n + 1]->start() : ending.next_ip, accesses, first);
    first += parts[n]->instructions.size();
  }
  instructions_ += first;
}

void TraceBuilder::write_part(const trace::Block& part, u64 next_ip, std::span<const u64>& accesses,
                              std::size_t first) {
  operands_.clear();
  std::array<u32, 1> iterations{};
  std::span<const u32> rep_counts;
  for (std::size_t n = 0; n < part.instructions.size(); ++n) {
    const x86::Instruction& instruction = part.instructions[n];
    if (instruction.memory_operands == 0 && accesses.empty()) continue;
    std::size_t count = 0;
    while (count < accesses.size() && wire::Access(accesses[count]).instruction == first + n) ++count;
    if (instruction.rep) {  // ends a block: there is one at most
      iterations[0] = static_cast<u32>(count / std::max<std::size_t>(instruction.memory_operands, 1));
      rep_counts = iterations;
    }
    if (addresses_ == RecordedAddresses::all) address_operands(instruction, accesses.first(count));
    accesses = accesses.subspan(count);
  }
  check(writer_.run({&part, next_ip, operands_, rep_counts, {}}));
}

// qemu splits wide accesses and reports a read-modify-write as one or as two: each operand takes the first
// access of its kind that lies in no operand before it.
void TraceBuilder::address_operands(const x86::Instruction& instruction, std::span<const u64> accesses) {
  const std::size_t first = operands_.size();
  for (const x86::MemoryOperand& operand : instruction.accesses()) {
    const auto fits = [&](u64 word) {
      const wire::Access access(word);
      if (operand.load != operand.store && access.store != operand.store) return false;
      for (std::size_t n = first; n < operands_.size(); ++n) {
        const x86::MemoryOperand& earlier = instruction.memory[n - first];
        if (access.store == earlier.store && access.address - operands_[n] < earlier.bytes) return false;
      }
      return true;
    };
    const auto found = std::ranges::find_if(accesses, fits);
    const bool known = found != accesses.end();
    if (!known && !instruction.rep) ++unknown_addresses_;
    const u64 otherwise = accesses.empty() ? 0 : wire::Access(accesses.back()).address;
    operands_.push_back(known ? wire::Access(*found).address : otherwise);
  }
}

void TraceBuilder::make_current(const Thread& thread) {
  if (current_tid_ == thread.tid) return;
  current_tid_ = thread.tid;
  add_side_band(trace::ThreadSwitch{thread.pid, thread.tid});
}

void TraceBuilder::add_side_band(const SideBandRecord& record) {
  if (gate_.decides()) {
    if (const auto* const map = std::get_if<trace::Map>(&record)) gate_.mapped(map->mapping);
    if (!gate_.admits(record)) return;
  }
  check(writer_.side_band(record));
}

void TraceBuilder::add_side_band(const std::vector<SideBandRecord>& records) {
  for (const SideBandRecord& record : records) add_side_band(record);
}

void TraceBuilder::check(const Result<Done, Error>& written) {
  if (!written.ok() && !error_) error_ = written.error();
}

}  // namespace pmusim::qemu
