#include "pmusim/base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace pmusim {

namespace fs = std::filesystem;

namespace {
constexpr std::size_t buffer_bytes = 256 * 1024;
}

Result<OutputFile, Error> OutputFile::create(const fs::path& path) {
  std::error_code ignored;
  const bool in_place = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
  fs::path written = path;
  // The process id keeps two writers of the same name apart.
  if (!in_place) written += fmt::format(".partial-{}", ::getpid());
  const int flags = O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_TRUNC);
  const int descriptor = ::open(written.c_str(), flags, 0644);
  if (descriptor < 0)
    return Failure(Error(fmt::format("{}: cannot be written: {}", written.string(), std::strerror(errno))));
  return OutputFile(descriptor, path, written);
}

Result<OutputFile, Error> OutputFile::standard_output() {
  const fs::path name = "standard output";
  const int descriptor = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0)
    return Failure(Error(fmt::format("{}: cannot be written: {}", name.string(), std::strerror(errno))));
  return OutputFile(descriptor, name, name);
}

OutputFile::OutputFile(int descriptor, fs::path path, fs::path written)
    : descriptor_(descriptor), path_(std::move(path)), written_(std::move(written)) {
  buffer_.reserve(buffer_bytes);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      written_(std::move(other.written_)),
      buffer_(std::move(other.buffer_)),
      position_(other.position_),
      stored_(other.stored_) {}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  std::error_code ignored;
  if (written_ != path_) fs::remove(written_, ignored);
}

bool OutputFile::seekable() const { return ::lseek(descriptor_, 0, SEEK_CUR) >= 0; }

Error OutputFile::failure(const char* what) const {
  return Error(fmt::format("{}: {} at offset {}: {}", path_.string(), what, stored_, std::strerror(errno)));
}

Result<Done, Error> OutputFile::write(std::span<const std::byte> bytes) {
  position_ += bytes.size();
  if (buffer_.size() + bytes.size() > buffer_bytes) {
    if (const auto flushed = flush(); !flushed) return flushed;
    if (bytes.size() >= buffer_bytes) return write_through(bytes);
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return Done{};
}

Result<Done, Error> OutputFile::flush() {
  auto result = write_through(buffer_);
  buffer_.clear();
  return result;
}

Result<Done, Error> OutputFile::write_through(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failure(failure("cannot write"));
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    stored_ += static_cast<u64>(n);
  }
  return Done{};
}

Result<Done, Error> OutputFile::overwrite(u64 offset, std::span<const std::byte> bytes) {
  if (auto flushed = flush(); !flushed) return flushed;
  const ssize_t n = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (n != static_cast<ssize_t>(bytes.size())) return Failure(failure("completing the header failed"));
  return Done{};
}

Result<Done, Error> OutputFile::commit() {
  if (auto flushed = flush(); !flushed) return flushed;
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (closed && (written_ == path_ || ::rename(written_.c_str(), path_.c_str()) == 0)) return Done{};
  const Error error = failure(closed ? "taking its name failed" : "closing failed");
  std::error_code ignored;
  if (written_ != path_) fs::remove(written_, ignored);
  return Failure(error);
}

}  // namespace pmusim
