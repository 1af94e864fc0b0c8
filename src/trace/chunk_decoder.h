// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_CHUNK_DECODER_H
#define PMUSIM_TRACE_CHUNK_DECODER_H

#include <array>
#include <optional>

#include "pmusim/trace/reader.h"
#include "trace/bytes.h"
#include "trace/code_table.h"
#include "trace/extended_codec.h"
#include "trace/format.h"
#include "trace/prediction.h"

namespace pmusim::trace {

/// The streams of a chunk, expanded; `extended` and `timing` are empty where the trace has none.
struct StreamData {
  std::array<std::vector<u8>, stream_count> plain;
  ExtendedDecoder::Data extended;
  std::array<std::vector<u8>, timing_stream_count> timing;
};

/// Turns the streams of one chunk back into runs and happenings: the mirror of ChunkEncoder.
class ChunkDecoder {
 public:
  /// Adds the chunk's blocks to `table`, which must outlive the decoder.
  ChunkDecoder(StreamData streams, Contents contents, u32 instructions, u32 tid, CodeTable& table);
  ChunkDecoder(const ChunkDecoder&) = delete;
  ChunkDecoder& operator=(const ChunkDecoder&) = delete;

  /// Nothing at the end of the chunk, or when it turns out to be damaged.
  NextItem next();
  bool damaged() const { return damaged_; }
  /// What is wrong with a damaged chunk.
  std::string_view problem() const { return problem_; }

 private:
  ByteReader& in(Stream s) { return in_[static_cast<std::size_t>(s)]; }
  NextItem damage();
  NextItem decode_next_happening();
  NextItem end();
  bool open_stretch();
  NextItem decode_run();
  BlockRun& run();
  const CodedBlock* successor(u32 from);
  const CodedBlock* other_successor(u32 from);
  bool refill_outcomes();
  bool addresses(const CodedBlock& block, BlockRun& run);
  bool rep_counts(u32 reps, BlockRun& run);
  bool registers(const CodedBlock& block, BlockRun& run);
  bool cycles(BlockRun& run);

  std::array<std::vector<u8>, stream_count> data_;
  std::array<std::vector<u8>, timing_stream_count> timing_data_;
  ExtendedDecoder extended_;
  std::array<ByteReader, stream_count> in_;
  ByteReader cycles_;
  Contents contents_;
  const CodeTable& table_;
  Prediction predicted_;
  u32 tid_;
  u32 instructions_left_;

  u64 happenings_left_ = 0, runs_left_ = 0;
  const CodedBlock* upcoming_ = nullptr;
  std::vector<const CodedBlock*> followed_;  // by block id: what followed it last, null if nothing did
  u64 stretch_exit_ = 0;                     // next_ip of the stretch's last run, from that block's end
  u8 outcome_bits_ = 0;
  unsigned outcomes_left_ = 0;
  bool damaged_ = false;
  std::string_view problem_ = does_not_decode;

  // What the last run's spans refer to.
  Item item_;
  std::array<u64, max_block_operands> addresses_{};
  std::array<u32, max_block_instructions> rep_counts_{};
  std::vector<Registers> registers_;
};

}  // namespace pmusim::trace

#endif
