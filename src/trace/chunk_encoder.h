// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_CHUNK_ENCODER_H
#define PMUSIM_TRACE_CHUNK_ENCODER_H

#include <array>

#include "pmusim/trace/trace.h"
#include "trace/code_table.h"
#include "trace/extended_codec.h"
#include "trace/format.h"
#include "trace/prediction.h"

namespace pmusim::trace {

struct ThreadId {
  u32 pid = 0, tid = 0;
};

/// Turns runs and side-band records into the streams of one chunk.
///
/// A stretch is a sequence of runs with nothing between them. Within it a run's next_ip is the start of the
/// run that follows, so only the last one's is stored.
class ChunkEncoder {
 public:
  /// `table` holds the blocks of earlier chunks, `thread` is the one that runs when the chunk begins.
  ChunkEncoder(Contents contents, ThreadId thread, const CodeTable& table);

  void add_block(const Block& block, const CodeTable& table);
  void run(const CodedBlock& block, const BlockRun& run);
  void side_band(const SideBandRecord& record);
  /// Closes what is open; after it the streams are complete.
  void finish();

  u32 instructions() const { return instructions_; }
  bool empty() const;
  bool full() const;
  /// The thread that runs now.
  ThreadId thread() const { return thread_; }
  std::span<const u8> stream(Stream s) const { return out_[static_cast<std::size_t>(s)].data(); }
  std::span<const u8> stream(ExtendedStream s) const { return extended_.stream(s); }
  std::span<const u8> stream(TimingStream) const { return cycles_.data(); }

 private:
  ByteWriter& out(Stream s) { return out_[static_cast<std::size_t>(s)]; }
  void successor(u32 from, u32 to);
  void outcome(bool other_than_predicted);
  void addresses(const CodedBlock& block, std::span<const u64> values);
  void registers(const CodedBlock& block, std::span<const Registers> values);
  void end_stretch();

  struct Stretch {
    u64 side_band_before = 0;
    u64 runs = 0;
    u32 first = 0;
    const Block* last = nullptr;
    u64 next_ip = 0;
  };

  Contents contents_;
  ThreadId thread_;
  std::array<ByteWriter, stream_count> out_;
  ExtendedEncoder extended_;
  ByteWriter cycles_;
  Prediction predicted_;
  Stretch stretch_;
  u64 previous_block_end_ = 0;
  u32 instructions_ = 0;
  u8 outcome_bits_ = 0;
  unsigned outcome_count_ = 0;
};

}  // namespace pmusim::trace

#endif
