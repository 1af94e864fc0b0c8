// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_FORMATS_PT_THREAD_H
#define PMUSIM_SRC_FORMATS_PT_THREAD_H

#include "formats/pt_packets.h"
#include "pmusim/trace/trace.h"

namespace pmusim::formats {

/// Tells what one thread executed as a CPU does that traces user mode alone: packets for conditional and
/// indirect branches, an end where the kernel takes over, a beginning where the program goes on (SDM vol. 3,
/// "Intel Processor Trace", "Packet Generation Scenarios"). Returns are not compressed.
class PtThread {
 public:
  /// What tells the time: stamps where tracing begins, or cycles at every packet too.
  enum class Clock : u8 { stamps, cycles };
  explicit PtThread(Clock clock = Clock::stamps) : clock_(clock) {}

  /// Whether this thread ran just before.
  enum class Before : u8 { itself, another };
  /// `tsc` is the time at which the run begins; it ends with its cycles.
  void run(const trace::BlockRun& run, u64 tsc, Before before);
  /// Nothing follows; the bytes are padded to a multiple of 8.
  void stop();

  /// Bytes that nobody took yet. What became of the last few branches comes later.
  std::size_t size() const { return packets_.bytes().size(); }
  /// Takes them, but for those behind the last whole 8-byte word.
  std::vector<std::byte> take_words();

 private:
  void interrupt();
  void synchronize();
  void resume_time();
  void execute(const x86::Instruction& instruction, u64 next_ip);
  void tell_time();

  Clock clock_;
  PtPackets packets_;
  u64 taken_bytes_ = 0;
  u64 next_psb_ = 0;  // a position among all bytes
  u64 now_ = 0;       // the TSC
  u64 stamped_ = 0;   // the same when it was written last
  bool on_ = false;
  u64 ip_ = 0;  // where it is on: of what executes next unless something interrupts
};

}  // namespace pmusim::formats

#endif
