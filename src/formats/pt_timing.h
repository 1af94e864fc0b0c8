// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_FORMATS_PT_TIMING_H
#define PMUSIM_SRC_FORMATS_PT_TIMING_H

#include <vector>

#include "formats/pt_decoder.h"
#include "formats/step.h"
#include "formats/trace_maker.h"

namespace pmusim::formats {

/// Gives instructions the time between the time packets that stand around them.
///
/// Packets say when a few of the instructions executed. The others are held back until the next of these is
/// known, and share the cycles in between evenly. A decoder that looks ahead tells the time at which the
/// program stops with the last instruction before that has a packet: what is left behind it shares with what
/// was before. What follows the last packet of a thread that goes on later takes as long as instructions took
/// on average so far; there is a count of these.
class PtTiming {
 public:
  /// `nominal_ratio` is the core:bus ratio at which a core cycle is a tick of the TSC; 0: not known, they are
  /// taken for the same.
  PtTiming(TraceMaker& maker, u8 nominal_ratio) : maker_(maker), nominal_ratio_(nominal_ratio) {}

  /// What follows executes from here on.
  void begin(PtTime time) { last_ = time; }
  /// Errors: as TraceMaker::retire.
  Result<Done, Error> retire(TraceMaker::Thread thread, const PtItem& instruction);
  /// The thread's instructions up to now are all that there are. Errors: likewise.
  Result<Done, Error> stop(TraceMaker::Thread thread, PtTime time);

  /// Instructions that are held back.
  u64 waiting() const { return waiting_.size(); }
  /// Instructions whose time no packet gave.
  u64 estimated() const { return estimated_; }

 private:
  struct Waiting {
    u64 ip = 0;
    Code code;
  };

  bool has_moved(PtTime now) const { return now.tsc > last_.tsc && last_.tsc != 0; }
  u64 cycles_since_last(PtTime now) const;
  /// What is held back took so long up to this moment.
  Result<Done, Error> know(TraceMaker::Thread thread, PtTime now);
  Result<Done, Error> estimate(TraceMaker::Thread thread);
  /// The first instructions that are held back took so many cycles.
  Result<Done, Error> share(TraceMaker::Thread thread, std::size_t instructions, u64 cycles);

  TraceMaker& maker_;
  u64 nominal_ratio_;
  PtTime last_;
  std::vector<Waiting> waiting_;
  std::size_t timed_ = 0;  // of those, the first, which took
  u64 timed_cycles_ = 0;
  u64 known_instructions_ = 0, known_cycles_ = 0;
  u64 estimated_ = 0;
};

}  // namespace pmusim::formats

#endif
