// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_CHUNK_DECODER_H
#define PMUSIM_TRACE_CHUNK_DECODER_H

#include <array>
#include <optional>

#include "pmusim/trace/trace.h"
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
  /// The waypoint of a block that was decoded now; there is room for what it predicts.
  void decoded(const CodedBlock& block, const Contents& contents, const CodeTable& table);

  Followers followers;
  u32 chunk = 0;                       // counted from 1
  u64 stay = 0;                        // between two side-band records of a chunk, counted from 1
  std::vector<Operand> operands;       // by number
  std::vector<u32> register_masks;     // what the instruction changed last, by instruction context
  std::map<u32, Registers> registers;  // by thread
};

/// Turns the streams of one chunk back into runs and side-band records: the mirror of ChunkEncoder.
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

  /// Some runs or a side-band record; none at the end of the chunk, or when it turns out to be damaged.
  Items read();
  /// Which of the runs read last, a bit each, may be the first of its block in its process: it is the first
  /// in this chunk, or since the latest side-band record.
  u64 may_be_first() const { return first_; }
  bool damaged() const { return damaged_; }
  /// What is wrong with a damaged chunk.
  std::string_view problem() const { return problem_; }

 private:
  /// Which way runs go, as far as the streams say it in few bits.
  struct Turns {
    u64 outcomes = 0;  // the next lowest
    unsigned outcomes_left = 0;
    ByteReader targets;
  };

  ByteReader& in(Stream s) { return in_[static_cast<std::size_t>(s)]; }
  BlockRun& run(std::size_t n) { return *std::get_if<BlockRun>(&runs_[n]); }
  Items damage();
  Items decode_side_band_record();
  Items end();
  bool open_stretch();
  Items decode_runs();
  std::size_t find_way();
  std::size_t decode_details(std::size_t count);
  bool decode_rare_details(const CodedBlock& block, BlockRun& run);
  bool is_decoded(u32 id);
  bool decode_block(u32 id);
  u32 successor(u32 from, Waypoint& waypoint);
  u32 rare_successor(u32 from);
  bool refill_outcomes();
  std::size_t addresses(std::size_t count);
  std::size_t rep_counts(std::size_t count);
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

  u64 side_band_left_ = 0, runs_left_ = 0;
  u32 next_block_ = 0;    // of the stretch
  u64 stretch_exit_ = 0;  // next_ip of the stretch's last run, from that block's end
  Turns turns_;
  bool damaged_ = false;
  std::string_view problem_ = does_not_decode;

  // Runs are decoded some at a time: where they lead first, while what they take is fetched from memory.
  static constexpr std::size_t most_runs = 64, most_addresses = 1024, most_rep_counts = 256;
  std::size_t runs_at_a_time_;
  bool has_details_;  // beside where they lead, and how often instructions repeat
  u64 first_ = 0;     // a bit per run
  std::array<Item, most_runs> runs_;
  std::array<const Waypoint*, most_runs> way_{};
  // What their spans refer to.
  std::size_t reps_ahead_ = 0;  // REP instructions among them
  std::array<u64, most_addresses + max_block_operands> addresses_{};
  std::array<u32, most_rep_counts + max_block_instructions> rep_counts_{};
  std::vector<Registers> registers_;  // of one run
  Item side_band_;
};

}  // namespace pmusim::trace

#endif
