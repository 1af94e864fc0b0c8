// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_INPUT_STREAM_H
#define PMUSIM_FORMATS_INPUT_STREAM_H

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_file.h"

namespace pmusim::formats {

class Unpacker;

/// A regular file read from its beginning to its end, and unpacked on the way where it is gzip, xz or zstd.
///
/// Packed data that end early end the file there: what was unpacked before is whole.
///
/// Memory is bounded: buffers, and 128 MiB at most for what a packer looks back. A file that unpacks to more
/// than `max_expansion` times its size is an error, so that small files take no time without end.
class InputStream {
 public:
  static constexpr u64 max_expansion = 16384;
  static constexpr u64 free_expansion_bytes = u64{64} << 20;  // that any file may have

  static Result<InputStream, Error> open(const std::string& path);
  InputStream(InputStream&&) noexcept;
  InputStream& operator=(InputStream&&) noexcept;
  ~InputStream();

  /// Fills `out` and gives the number of bytes: fewer only at the end. Errors: the disk, damaged packing.
  Result<std::size_t, Error> read(std::span<std::byte> out);
  /// The end that was reached is that of packed data that end early.
  bool ended_early() const { return ended_early_; }
  /// Unpacked bytes that were read so far.
  u64 offset() const { return offset_; }
  const std::string& path() const { return file_.path(); }
  /// The sentence "FILE: damaged at offset N: WHAT".
  Error damaged(u64 offset, std::string_view what) const { return file_.damaged(offset, what); }

 private:
  explicit InputStream(InputFile file);
  Result<Done, Error> refill();
  Result<std::size_t, Error> unpack(std::span<std::byte> out);

  InputFile file_;
  u64 position_ = 0;                    // in the file, of what the buffer has next
  std::unique_ptr<Unpacker> unpacker_;  // none: plain
  std::vector<std::byte> buffer_;
  std::span<const std::byte> rest_;  // of the buffer
  u64 packed_bytes_ = 0, offset_ = 0;
  bool ended_early_ = false;
};

/// Reads text line by line.
class LineReader {
 public:
  static constexpr std::size_t max_line_bytes = 1 << 16;
  explicit LineReader(InputStream stream) : stream_(std::move(stream)) {}

  /// The next line without its end, valid until the next call; nothing at the end. Of a line that is too
  /// long, the beginning. Errors: as InputStream::read.
  Result<std::optional<std::string_view>, Error> next();
  /// The sentence about the line that `next` gave last.
  Error damaged(std::string_view what) const { return stream_.damaged(line_offset_, what); }
  u64 line_offset() const { return line_offset_; }
  /// That line had no end: the file was cut within it.
  bool is_cut() const { return is_cut_; }
  /// It has more than max_line_bytes.
  bool is_long() const { return is_long_; }
  bool ended_early() const { return stream_.ended_early(); }

 private:
  Result<std::size_t, Error> find_end();

  InputStream stream_;
  std::string buffer_;
  std::size_t begin_ = 0;
  u64 line_offset_ = 0, next_offset_ = 0;
  bool ended_ = false, is_cut_ = false, is_long_ = false;
  bool goes_on_ = false;  // the long line that was given last
};

/// The sentence about packed data that end early.
inline constexpr std::string_view packed_data_end_early =
    "the packed data end early: what lies before is all that is there";

}  // namespace pmusim::formats

#endif
