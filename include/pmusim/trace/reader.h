// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_READER_H
#define PMUSIM_TRACE_READER_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pmusim/trace/source.h"

/// A recorded program, read from its first instruction to its last:
/// @code
/// auto trace = trace::Reader::open("program.pmutrace");
/// u64 branches_taken = 0;
/// while (auto item = trace->next()) {
///   if (!item->has_value()) break;
///   if (const auto* run = std::get_if<trace::BlockRun>(&**item))
///     branches_taken += run->next_ip != run->block->end();
/// }
/// @endcode
namespace pmusim::trace {

class TraceBytes;

/// Reads a native trace from beginning to end. The file carries everything (code bytes, maps, names): nothing
/// else is opened. Memory is bounded by one chunk and the code that the trace executes, which a file cannot
/// have more of than is in proportion to its size.
class Reader final : public Source {
 public:
  /// Errors: cannot open or read; not a regular file; not a trace; unsupported version; truncated before the
  /// end of the first chunk; checksum mismatch (with offset).
  static Result<Reader, Error> open(const std::string& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader() override;

  /// Begins with the block that holds this instruction (0 is the first), before the first next(). What
  /// happened before to processes, threads and mappings comes first, and which thread runs; code() knows
  /// what is executed from somewhere before it. What ran before is not decoded.
  /// Errors: the trace has no such instruction.
  Result<Done, Error> begin_at(u64 instruction);
  /// Decodes on a thread of its own, some thousand blocks ahead of next(), which says the same as without. A
  /// trace with extended registers is decoded when it is asked for all the same. Before the first next().
  void decode_ahead();
  /// Instructions before the first block, known with it.
  u64 instructions_before() const;

  const Contents& contents() const override;
  /// Retired instructions in the whole trace.
  u64 instruction_count() const;
  /// From where it begins; its first block may add some.
  std::optional<u64> length() const override;
  /// For a trace that ends early (its recorder was killed, the disk was full): one sentence for the user. All
  /// whole chunks are there and are read as a whole trace is.
  const std::optional<std::string>& truncation() const override;
  u64 file_bytes() const;
  /// Sizes per kind of data over the whole trace.
  std::vector<StreamSize> streams() const;

  /// The next item, nothing at the end of the trace. Errors: damaged or truncated chunk, with file offset.
  Result<NextItem, Error> next() override;
  void leave_out(Detail detail) override;
  /// With what was left out, and how it is decoded. Errors: as open(), if the file is not what it was.
  Result<std::unique_ptr<Source>, Error> again() const override;
  std::vector<std::byte> code(u32 pid, u64 address, std::size_t bytes) const override;

 private:
  friend class LiveTrace;
  /// Of a trace that comes through a pipe: what stands at its end is not known before. Errors as open().
  static Result<Reader, Error> open_stream(std::shared_ptr<const TraceBytes> bytes);

  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pmusim::trace

#endif
