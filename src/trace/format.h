// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_FORMAT_H
#define PMUSIM_TRACE_FORMAT_H

#include <algorithm>
#include <array>
#include <boost/endian/arithmetic.hpp>
#include <cstddef>
#include <string_view>

#include "base/crc32.h"
#include "pmusim/base/types.h"

/// The native trace file:
///
///     FileHeader
///     chunk*   ChunkHeader, then each stream's stored bytes in the order of Stream; in a trace with extended
///              registers ExtendedHeader and the stored bytes of its streams behind them; in one with timing
///              TimingHeader and its stream, last
///     index    IndexHeader, then an IndexEntry per chunk, then ExtendedTotals and TimingTotals of such
///     traces Trailer
///
/// Each stream is one kind of data, compressed by itself (zstd). All prediction state starts anew in each
/// chunk: given the `code` and `side-band records` streams before it, a chunk decodes without the others.
namespace pmusim::trace {

/// The newest. A trace is written as the oldest version that has what it holds: 6 is for ring 0, whose
/// threads may change their names (in 5 they could not), 4 for timing, 3 for stand-in code, 2 for extended
/// registers.
inline constexpr u32 format_version = 6;
inline constexpr u32 format_version_without_kernel = 4;
inline constexpr u32 format_version_without_timing = 3;
inline constexpr u32 format_version_without_stand_ins = 2;
inline constexpr u32 format_version_without_extended = 1;

enum class Stream : u8 {
  code,             ///< blocks first executed in this chunk
  stretches,        ///< runs without an interruption: how many, from where, to where
  outcomes,         ///< one bit per run: 0 the successor is the block's last one
  targets,          ///< where the bit is 1: which successor
  addresses,        ///< of data accesses, against a stride per operand
  rep_counts,       ///< iterations of REP instructions
  register_masks,   ///< which registers an instruction changed, against what it changed before
  register_values,  ///< changed values, against the old ones
  flags,            ///< changed RFLAGS
  side_band,
  count_
};
inline constexpr std::size_t stream_count = static_cast<std::size_t>(Stream::count_);
inline constexpr std::array<std::string_view, stream_count> stream_names{
    "code",       "stretches",      "outcomes",        "targets", "addresses",
    "rep counts", "register masks", "register values", "flags",   "side band"};

/// Streams of a trace with extended registers.
enum class ExtendedStream : u8 {
  shapes,  ///< which qwords of which components an instruction changed
  values,  ///< the new qwords
  count_
};
inline constexpr std::size_t extended_stream_count = static_cast<std::size_t>(ExtendedStream::count_);
inline constexpr std::array<std::string_view, extended_stream_count> extended_stream_names{"extended shapes",
                                                                                           "extended values"};

/// Streams of a trace with timing.
enum class TimingStream : u8 {
  cycles,  ///< of each run
  count_
};
inline constexpr std::size_t timing_stream_count = static_cast<std::size_t>(TimingStream::count_);
inline constexpr std::array<std::string_view, timing_stream_count> timing_stream_names{"cycles"};

// Limits that writers keep and readers insist on, so that no file can ask for unbounded memory.
inline constexpr u32 chunk_instructions = 1u << 20;  // a chunk ends with the run that reaches this,
inline constexpr u32 chunk_stream_bytes = 4u << 20;  // or that makes a stream this long
inline constexpr u32 max_chunk_instructions = 2 * chunk_instructions;
inline constexpr u32 max_stream_bytes = chunk_stream_bytes + (1u << 20);
inline constexpr u32 max_extended_threads = 256;  // whose extended registers are in one chunk
inline constexpr u32 max_live_threads = 1u << 15;
inline constexpr u64 max_run_cycles = 0xFFFF'FFFF;
inline constexpr std::size_t max_command_bytes = 15;  // TASK_COMM_LEN without its end
inline constexpr std::size_t max_path_bytes = 4095;   // PATH_MAX likewise
inline constexpr std::size_t max_build_id_bytes = 64;

/// Distinct instructions that the first `file_bytes` of a trace may define. Code takes some 2.5 stored bytes
/// per instruction, and a few hundred of memory.
constexpr u64 static_instruction_limit(u64 file_bytes) {
  constexpr u64 always = 1u << 17, most = 1u << 24, per_byte = 2;
  return std::min(most, always + per_byte * file_bytes);
}

using le32 = boost::endian::little_uint32_t;
using le64 = boost::endian::little_uint64_t;
using Magic = std::array<char, 8>;

inline constexpr Magic file_magic{'P', 'M', 'U', 'T', 'R', 'A', 'C', 'E'};
inline constexpr Magic trailer_magic{'P', 'M', 'U', 'T', 'R', 'E', 'N', 'D'};
inline constexpr u32 chunk_magic = 0x4B4E4843;  // "CHNK"

namespace contents_bits {
inline constexpr u32 ADDRESSES = 1;
inline constexpr u32 REGISTERS = 2;
inline constexpr u32 EXTENDED = 4;       // since version 2
inline constexpr u32 STAND_IN_CODE = 8;  // since version 3
inline constexpr u32 TIMING = 16;        // since version 4
inline constexpr u32 KERNEL = 32;        // since version 5
}  // namespace contents_bits

struct FileHeader {
  Magic magic;
  le32 version;
  le32 contents;
  le32 reserved;
  le32 crc;  // of the bytes before it, as in every structure here
};
static_assert(sizeof(FileHeader) == 24);

struct StreamHeader {
  le32 raw_bytes;
  le32 stored_bytes;
};

struct ChunkHeader {
  le32 magic;
  le32 instructions;
  le64 first_instruction;
  le32 pid;  // of the thread that runs when the chunk begins
  le32 tid;
  std::array<StreamHeader, stream_count> streams;
  le32 payload_crc;
  le32 crc;
};
static_assert(sizeof(ChunkHeader) == 32 + 8 * stream_count);

inline constexpr u32 extended_magic = 0x54584558;  // "XEXT"
inline constexpr u32 timing_magic = 0x454D4954;    // "TIME"

/// Begins the streams that only some traces have.
template <std::size_t count>
struct PartHeader {
  le32 magic;
  std::array<StreamHeader, count> streams;
  le32 payload_crc;
  le32 crc;
};
using ExtendedHeader = PartHeader<extended_stream_count>;
using TimingHeader = PartHeader<timing_stream_count>;
static_assert(sizeof(ExtendedHeader) == 12 + 8 * extended_stream_count);
static_assert(sizeof(TimingHeader) == 12 + 8 * timing_stream_count);

struct IndexEntry {
  le64 offset;
  le64 first_instruction;
};
static_assert(sizeof(IndexEntry) == 16);

struct StreamTotal {
  le64 raw_bytes;
  le64 stored_bytes;
};

struct IndexHeader {
  le64 instructions;
  std::array<StreamTotal, stream_count> streams;
};
static_assert(sizeof(IndexHeader) == 8 + 16 * stream_count);

template <std::size_t count>
struct PartTotals {
  std::array<StreamTotal, count> streams;
};
using ExtendedTotals = PartTotals<extended_stream_count>;
using TimingTotals = PartTotals<timing_stream_count>;
static_assert(sizeof(ExtendedTotals) == 16 * extended_stream_count);
static_assert(sizeof(TimingTotals) == 16 * timing_stream_count);

struct Trailer {
  le64 index_offset;
  le32 index_bytes;
  le32 index_crc;
  Magic magic;
  le32 reserved;
  le32 crc;
};
static_assert(sizeof(Trailer) == 32);

/// The checksum that belongs into the last member of a structure.
template <class T>
u32 crc_of(const T& structure) {
  return crc32(&structure, sizeof(T) - sizeof(le32));
}

}  // namespace pmusim::trace

#endif
