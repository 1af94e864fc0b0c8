// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_CHUNK_DECODER_H
#define PMUSIM_TRACE_CHUNK_DECODER_H

#include <array>
#include <optional>

#include "pmusim/trace/reader.h"
#include "trace/bytes.h"
#include "trace/code_table.h"
#include "trace/extended_codec.h"
#include "trace/followers.h"
#include "trace/format.h"
#include "trace/prediction.h"

namespace pmusim::trace {

/// The streams of a chunk, expanded; `extended` and `timing` are empty where the trace has none.
struct StreamData {
  std::array<std::vector<u8>, stream_count> plain;
  ExtendedDecoder::Data extended;
  std::array<std::vector<u8>, timing_stream_count> timing;
};

/// What decoding a chunk remembers of it; kept for the next, which begins with nothing in it.
struct DecoderMemory {
  /// The addresses that one operand of one instruction accessed, and in which chunk.
  struct Operand {
    u64 last = 0, stride = 0;
    u32 chunk = 0;
  };

  /// For a chunk all of whose blocks are in `table`.
  void begin(const Contents& contents, const CodeTable& table);
  /// For more of them having been decoded.
  void fit(const Contents& contents, const CodeTable& table);

  Followers followers;
  u32 chunk = 0;                       // counted from 1
  std::vector<Operand> operands;       // by number
  std::vector<u32> register_masks;     // what the instruction changed last, by instruction context
  std::map<u32, Registers> registers;  // by thread
};

/// Turns the streams of one chunk back into runs and happenings: the mirror of ChunkEncoder.
class ChunkDecoder {
 public:
  /// What a chunk's header says of it.
  struct Facts {
    u32 instructions = 0;
    u32 tid = 0;  ///< of the thread that runs when it begins
  };
  /// Adds the chunk's blocks to `table`, which must outlive the decoder, as `memory` must.
  ChunkDecoder(StreamData streams, Contents contents, Facts facts, CodeTable& table, DecoderMemory& memory);
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
  void foresee();
  const CodedBlock* block(u64 id);
  u32 successor(u32 from);
  u32 rare_successor(u32 from);
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
  CodeTable& table_;
  DecoderMemory& memory_;
  u32 tid_;
  u32 instructions_left_;

  u64 happenings_left_ = 0, runs_left_ = 0;
  // The blocks of the next runs, as far as they are known; null where the trace does not say which it is.
  // Their descriptions are fetched from memory meanwhile.
  static constexpr std::size_t foreseen_runs = 64;
  std::array<const CodedBlock*, foreseen_runs> foreseen_{};
  std::size_t next_foreseen_ = 0, foreseen_count_ = 0;
  u64 unforeseen_runs_ = 0;  // of the stretch, behind these
  u64 stretch_exit_ = 0;     // next_ip of the stretch's last run, from that block's end
  u64 outcome_bits_ = 0;     // the next lowest
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
