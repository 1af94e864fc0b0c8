// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_TRACE_MAKER_H
#define PMUSIM_FORMATS_TRACE_MAKER_H

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "pmusim/trace/trace.h"

namespace pmusim::formats {

/// Makes a native trace of instructions that come one by one: joins them to blocks.
///
/// A run is written when it is known where it went: with the thread's next instruction, or at the end.
class TraceMaker {
 public:
  struct Thread {
    u32 pid = 0, tid = 0;
    friend auto operator<=>(const Thread&, const Thread&) = default;
  };

  explicit TraceMaker(trace::Writer& writer) : writer_(writer) {}

  /// What decoding gives; kept by address, since most instructions come again.
  const x86::Instruction& decode(u64 ip, std::span<const std::byte> code);

  /// `addresses` has one per memory operand as decoded, or is empty in a trace without; `iterations` are
  /// those of a REP instruction. Errors: the trace cannot be written.
  Result<Done, Error> retire(Thread thread, u64 ip, std::span<const std::byte> code,
                             std::span<const u64> addresses, u32 iterations);
  /// The thread's newest instruction took so many core cycles, where the trace has timing.
  void elapse(Thread thread, u64 cycles) { open_[thread].cycles += cycles; }
  /// Happens before what retires next, in whichever thread.
  Result<Done, Error> add_side_band(const trace::SideBandRecord& record);
  /// Where the next instruction of a thread is not what followed.
  Result<Done, Error> interrupt(Thread thread);
  /// The same where it is known that the thread would have gone on at `next_ip`.
  Result<Done, Error> interrupt(Thread thread, u64 next_ip);
  /// Nothing follows. `next_ip` is where the last one went, if it is known.
  Result<Done, Error> finish(u64 next_ip);

  u64 instructions() const { return instructions_; }
  u64 repeats() const { return repeats_; }  ///< of those, string instructions with REP

 private:
  struct Open {
    u64 start = 0;
    std::vector<std::byte> code;
    std::vector<u8> lengths;
    std::vector<u64> addresses;
    std::vector<u32> iterations;
    u64 cycles = 0;
    bool complete = false;  // ends with a branch or is as long as blocks get
    u64 end() const { return start + code.size(); }
  };
  struct Decoded {
    std::vector<std::byte> code;
    x86::Instruction instruction;
  };

  Result<Done, Error> close(Thread thread, Open& open, u64 next_ip);
  const trace::Block* block_of(const Open& open);

  trace::Writer& writer_;
  std::unordered_map<u64, Decoded> decoded_;
  // By start, code and how that is divided: what prints a trace need not divide it as an x86 does.
  std::map<std::tuple<u64, std::vector<std::byte>, std::vector<u8>>, const trace::Block*> blocks_;
  std::map<Thread, Open> open_;
  std::optional<Thread> current_;
  std::size_t static_instructions_ = 0;
  u64 instructions_ = 0, repeats_ = 0;
};

}  // namespace pmusim::formats

#endif
