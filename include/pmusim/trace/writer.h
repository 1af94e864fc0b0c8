// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_WRITER_H
#define PMUSIM_TRACE_WRITER_H

#include <memory>
#include <string>

#include "pmusim/base/error.h"
#include "pmusim/trace/block.h"
#include "pmusim/trace/side_band.h"

/// Makes a trace of one's own: of another recorder's data, or of a program that never was.
namespace pmusim::trace {

/// What is left of a trace whose writer is killed, or cannot go on. A file that the trace was to replace
/// stays as it is in any case.
enum class Unfinished : u8 {
  kept,     ///< its whole chunks under its name, which can be read (Reader::truncation); of a recording, say
  dropped,  ///< nothing: it can be made again
};

/// Writes a native trace. The file replaces one of its name when it is complete. Where there is none it
/// appears with its first whole chunk if it is kept unfinished; where writing fails it is cut back to whole
/// chunks. Without a chunk and without `finish` there is no file.
///
/// Blocks are added once and then run by id. Runs and side-band records are in program order of the threads
/// as they were interleaved; a ThreadSwitch tells which thread the following runs belong to.
class Writer {
 public:
  /// A trace with registers is for its owner alone (mode 0600).
  /// Errors: the file cannot be made.
  static Result<Writer, Error> create(const std::string& path, Contents contents,
                                      Unfinished unfinished = Unfinished::kept);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  /// Adds a straight line of code: instruction lengths (1..15 bytes each, 1..max_block_instructions of them)
  /// that cover `code`. The block's reference stays valid as long as the writer.
  const Block& add_block(u64 start, std::span<const std::byte> code, std::span<const u8> lengths);

  /// Appends one execution of a block of this writer. The spans have the sizes that the block and the
  /// contents ask for; `rip` in `registers` is not stored, it follows from the code. Errors: the disk; more
  /// code than a trace can hold.
  Result<Done, Error> run(const BlockRun& run);
  Result<Done, Error> side_band(const SideBandRecord& record);

  /// What became a trace.
  struct Written {
    u64 instructions = 0;
    u64 file_bytes = 0;
  };
  /// Completes the file and gives it its name. Errors: the disk.
  Result<Written, Error> finish();

  u64 instruction_count() const;
  /// Of those, how many would be left in the file now.
  u64 stored_instruction_count() const;
  /// Of the file so far; what is not yet a whole chunk is not in it.
  u64 stored_bytes() const;

 private:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pmusim::trace

#endif
