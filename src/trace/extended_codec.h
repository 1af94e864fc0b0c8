// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_EXTENDED_CODEC_H
#define PMUSIM_TRACE_EXTENDED_CODEC_H

#include <array>
#include <boost/container/small_vector.hpp>
#include <map>
#include <vector>

#include "pmusim/trace/trace.h"
#include "trace/bytes.h"
#include "trace/format.h"

/// Extended registers of a chunk: which qwords instructions changed, and the new values.
///
/// A run begins with 0, or with 1 and the thread's whole state: where a chunk meets the thread for the first
/// time, and where something else than an instruction has changed it (a signal, a system call's kernel). Then
/// each instruction has 0 if it changed the same qwords as the last time, or 1 and which ones. Values are
/// qwords as they are: they compress better than differences.
namespace pmusim::trace {

/// Qwords of one component.
struct ExtendedRange {
  StateComponent component = StateComponent::sse;
  u16 first = 0, count = 0;
  friend bool operator==(const ExtendedRange&, const ExtendedRange&) = default;
};

/// What an instruction changed, without the values.
struct ExtendedShape {
  u64 in_use_toggled = 0;
  boost::container::small_vector<ExtendedRange, 2> ranges;
  friend bool operator==(const ExtendedShape&, const ExtendedShape&) = default;
};

class ExtendedEncoder {
 public:
  void run(u32 tid, std::span<const u32> contexts, const BlockRun& run);
  bool full() const;
  std::span<const u8> stream(ExtendedStream s) const { return out_[static_cast<std::size_t>(s)].data(); }

 private:
  ByteWriter& shapes() { return out_[static_cast<std::size_t>(ExtendedStream::shapes)]; }
  ByteWriter& values() { return out_[static_cast<std::size_t>(ExtendedStream::values)]; }
  void state(const ExtendedState& state);
  void shape(const ExtendedShape& shape);
  void value(std::span<const u64> qwords);

  std::array<ByteWriter, extended_stream_count> out_;
  std::map<u32, ExtendedState> states_;           // by thread
  std::map<u32, ExtendedShape> expected_shapes_;  // by instruction context
};

class ExtendedDecoder {
 public:
  using Data = std::array<std::vector<u8>, extended_stream_count>;
  explicit ExtendedDecoder(Data data);
  ExtendedDecoder(const ExtendedDecoder&) = delete;
  ExtendedDecoder& operator=(const ExtendedDecoder&) = delete;

  /// Decodes the next run, which is of this thread, into `run`; false where the data is damaged. What the run
  /// then refers to stays until the next one.
  [[nodiscard]] bool decode(u32 tid, std::span<const u32> contexts, BlockRun& run);
  bool at_end() const;

 private:
  struct Part {
    u32 instruction = 0;
    u64 in_use = 0;
    std::size_t first_write = 0, writes = 0;
  };
  ByteReader& shapes() { return in_[static_cast<std::size_t>(ExtendedStream::shapes)]; }
  ByteReader& values() { return in_[static_cast<std::size_t>(ExtendedStream::values)]; }
  void finish_last_run();
  bool decode_state(ExtendedState& state);
  bool decode_shape(ExtendedShape& shape);
  bool decode_values(const ExtendedShape& shape);
  void publish(BlockRun& run);

  Data data_;
  std::array<ByteReader, extended_stream_count> in_;
  std::map<u32, ExtendedState> states_;
  std::vector<ExtendedShape> expected_shapes_;  // by instruction context
  ExtendedState* current_ = nullptr;            // of the last run's thread, as it was before it

  // The last run.
  std::vector<u64> qwords_;
  std::vector<ExtendedRange> ranges_;
  std::vector<Part> parts_;
  std::vector<ExtendedWrite> writes_;
  std::vector<InstructionChange> changes_;
};

}  // namespace pmusim::trace

#endif
