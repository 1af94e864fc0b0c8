// SPDX-License-Identifier: MIT
#include "formats/input_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats/unpacker.h"

namespace pmusim::formats {
namespace {

constexpr std::size_t buffer_bytes = 1 << 16;

}  // namespace

Result<InputStream, Error> InputStream::open(const std::string& path) {
  auto file = InputFile::open(path);
  if (!file.ok()) return Failure(file.error());
  InputStream stream(*std::move(file));
  const auto filled = stream.refill();
  if (!filled.ok()) return Failure(filled.error());
  stream.unpacker_ = unpacker_for(stream.rest_);
  return stream;
}

InputStream::InputStream(InputFile file) : file_(std::move(file)), buffer_(buffer_bytes) {}
InputStream::InputStream(InputStream&& other) noexcept = default;
InputStream& InputStream::operator=(InputStream&& other) noexcept = default;
InputStream::~InputStream() = default;

Result<Done, Error> InputStream::refill() {
  const std::span bytes = std::span(buffer_).first(std::min<u64>(buffer_.size(), file_.size() - position_));
  if (const auto read = file_.read(position_, bytes); !read.ok()) return read;
  position_ += bytes.size();
  rest_ = bytes;
  return Done{};
}

Result<std::size_t, Error> InputStream::read(std::span<std::byte> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const auto piece = unpack(out.subspan(filled));
    if (!piece.ok()) return Failure(piece.error());
    if (*piece == 0) break;
    filled += *piece;
  }
  offset_ += filled;
  return filled;
}

// Some bytes; none at the end of the file.
Result<std::size_t, Error> InputStream::unpack(std::span<std::byte> out) {
  for (;;) {
    if (rest_.empty())
      if (const auto filled = refill(); !filled.ok()) return Failure(filled.error());
    if (!unpacker_) {
      const std::size_t bytes = std::min(out.size(), rest_.size());
      std::copy_n(rest_.begin(), bytes, out.begin());
      rest_ = rest_.subspan(bytes);
      return bytes;
    }
    const bool at_end = rest_.empty();
    const Unpacker::Progress progress = unpacker_->unpack(rest_, out);
    rest_ = rest_.subspan(progress.taken);
    packed_bytes_ += progress.taken;
    if (progress.state == Unpacker::State::damaged)
      return Failure(damaged(packed_bytes_, "this is not what its packer writes"));
    if (offset_ + progress.made > free_expansion_bytes + max_expansion * packed_bytes_)
      return Failure(
          damaged(packed_bytes_, fmt::format("it unpacks to more than {} times its size", max_expansion)));
    if (progress.made != 0) return progress.made;
    if (!at_end) continue;
    ended_early_ = progress.state == Unpacker::State::within;
    return std::size_t{0};
  }
}

// Of the line that begins in the buffer. Of one that is too long, the end of the buffer.
Result<std::size_t, Error> LineReader::find_end() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', begin_);
    if (end != std::string::npos) return end;
    if (ended_ || buffer_.size() - begin_ > max_line_bytes) return buffer_.size();
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t kept = buffer_.size();
    buffer_.resize(kept + max_line_bytes);
    const auto got = stream_.read(std::as_writable_bytes(std::span(buffer_).subspan(kept)));
    if (!got.ok()) return got;
    buffer_.resize(kept + *got);
    ended_ = *got < max_line_bytes;
  }
}

Result<std::optional<std::string_view>, Error> LineReader::next() {
  for (;;) {
    const auto end = find_end();
    if (!end.ok()) return Failure(end.error());
    if (begin_ == buffer_.size()) return std::optional<std::string_view>();
    const std::string_view line = std::string_view(buffer_).substr(begin_, *end - begin_);
    const bool has_end = *end < buffer_.size(), is_rest = std::exchange(goes_on_, !has_end && !ended_);
    if (!is_rest) line_offset_ = next_offset_;
    begin_ += line.size() + (has_end ? 1 : 0);
    next_offset_ += line.size() + (has_end ? 1 : 0);
    if (is_rest) continue;
    is_cut_ = !has_end && ended_;
    is_long_ = line.size() > max_line_bytes;
    return std::optional(line);
  }
}

}  // namespace pmusim::formats
