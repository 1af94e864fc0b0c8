// SPDX-License-Identifier: MIT
#ifndef PMUSIM_QEMU_TRACE_BUILDER_H
#define PMUSIM_QEMU_TRACE_BUILDER_H

#include <map>
#include <optional>
#include <set>

#include "pmusim/qemu/recorder.h"
#include "qemu/guest_block.h"
#include "qemu/guest_maps.h"
#include "qemu/wire.h"
#include "trace/region_gate.h"

namespace pmusim::qemu {

/// Makes a trace of what the plugin tells.
///
/// A block is known when it is entered; whether all of it executed, and where it went, when the next one is.
/// So each thread has one open block, which is written when it is closed.
class TraceBuilder {
 public:
  TraceBuilder(trace::Writer& writer, RecordedAddresses addresses, const trace::Region& region = {})
      : writer_(writer), store_(writer), addresses_(addresses), gate_(region) {}

  /// Takes the next packet. Errors: the trace cannot be written; the packet is damaged.
  Result<Done, Error> take(const wire::Header& header, std::span<const u64> words);
  /// Closes what is open in every thread: nothing follows.
  Result<Done, Error> finish();

  /// Of the processes that have not ended.
  std::set<u32> pids() const;

  u64 instructions() const { return instructions_; }
  u64 processes() const { return process_count_; }
  u64 threads() const { return thread_count_; }
  u64 gaps() const { return gaps_; }
  /// Nothing that programs do from here on is in the region.
  bool is_over() const { return gate_.is_over(); }
  /// Empty unless nothing of the program was in the region that was asked for.
  std::string why_nothing_recorded() const {
    return instructions_ == 0 ? gate_.why_not_begun() : std::string();
  }
  u64 unknown_addresses() const { return unknown_addresses_; }

 private:
  struct Process {
    std::vector<const GuestBlock*> blocks;  ///< by the plugin's numbers
    GuestMaps maps;
  };
  /// Where a thread goes on; 0 where that is not known.
  struct Position {
    u64 ip = 0, sp = 0;
  };
  struct Thread {
    u32 pid = 0, tid = 0;
    const GuestBlock* open = nullptr;
    std::vector<u64> accesses;  ///< words of the open block
    unsigned first_access = 0;  ///< added to an access's instruction: a REP goes on in a block of its own
    std::vector<trace::SideBandRecord> after;  ///< to follow the open block
    Position next;                             ///< without an open block
    Position returns_to;                       ///< during rt_sigreturn
  };
  /// How an open block ended.
  struct Ending {
    const GuestBlock* executed = nullptr;  ///< null: nothing of it
    u64 next_ip = 0;
  };

  void started(const wire::Header& header, std::span<const u64> words);
  void end_by_exec(Thread& thread);
  void translated(const wire::Header& header, std::span<const u64> words);
  void ran(Thread& thread, std::span<const u64> words);
  void entered(Thread& thread, u64 number);
  void call_began(Thread& thread, std::span<const u64> words);
  void signalled(Thread& thread, std::span<const u64> words);
  void deliver(Thread& thread, const wire::SignalFrame& frame);
  void forget_from(Thread& thread, u64 ip);
  void keep_first(Thread& thread, std::size_t instructions);
  void repeat_call(Thread& thread);
  void signal_returned(Thread& thread);
  void call_returned(const wire::Header& header, std::span<const u64> words);
  void mapped(u32 pid, std::span<const u64> words, i64 result);
  void exited(const wire::Header& header, i32 status);

  Thread& thread_of(const wire::Header& header, u32 parent_pid = 0);
  const GuestBlock* block_of(const Thread& thread, u64 number) const;
  void close(Thread& thread, u64 next_ip);
  void close_killed(Thread& thread);
  void tell_what_followed(Thread& thread);
  Ending ending_of(const Thread& thread, u64 next_ip);
  std::size_t executed_before_fault(const Thread& thread) const;
  void write(const Thread& thread, const Ending& ending);
  void write_in_region(const Thread& thread, const Ending& ending);
  void write_part(const trace::Block& part, u64 next_ip, std::span<const u64>& accesses, std::size_t first);
  void address_operands(const x86::Instruction& instruction, std::span<const u64> accesses);
  void add_side_band(const trace::SideBandRecord& record);
  void add_side_band(const std::vector<trace::SideBandRecord>& records);
  void make_current(const Thread& thread);
  void check(const Result<Done, Error>& written);

  trace::Writer& writer_;
  BlockStore store_;
  RecordedAddresses addresses_;
  trace::RegionGate gate_;
  std::map<u32, Process> processes_;
  std::map<u32, Thread> threads_;  // by tid
  u32 current_tid_ = 0;
  std::vector<u64> operands_;  // of the part being written
  std::optional<Error> error_;
  u64 instructions_ = 0, process_count_ = 0, thread_count_ = 0, gaps_ = 0, unknown_addresses_ = 0;
};

}  // namespace pmusim::qemu

#endif
