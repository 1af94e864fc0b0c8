// SPDX-License-Identifier: MIT
#include "base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

namespace pmusim {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t buffer_bytes = 256 * 1024;
constexpr int most_links = 40;  // that Linux follows in one path

Error cannot_be_written(const fs::path& path) {
  return Error(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
}

fs::path directory_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

/// A name beside `path` that nobody can guess, and lay a link at.
fs::path random_name(const fs::path& path) {
  u64 number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<u64>(::getpid());
  return directory_of(path) / fmt::format(".pmusim-{:016x}.partial", number);
}

/// /proc/PID/fd/N, or a link that leads there: /dev/stdout.
bool names_a_descriptor(fs::path path) {
  std::error_code error;
  for (int links = 0; links < most_links; ++links) {
    const fs::path directory = fs::canonical(directory_of(path), error);
    if (directory.string().starts_with("/proc/")) return true;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return false;
    path = directory / target;
  }
  return false;
}

/// What has the name now, a link to it not followed; nothing if it is free.
std::optional<struct stat> present(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

bool written_in_place(const fs::path& path) {
  std::error_code ignored;
  return (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) || names_a_descriptor(path);
}

int open_nameless(const fs::path& path, mode_t mode) {
  if (::access("/proc/self/fd", X_OK) != 0) return -1;  // it could not get a name later
  return ::open(directory_of(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
}

}  // namespace

Result<OutputFile, Error> OutputFile::create(const fs::path& path, Readers readers) {
  if (!path.has_filename()) errno = path.empty() ? ENOENT : EISDIR;
  if (!path.has_filename()) return Failure(cannot_be_written(path.empty() ? "\"\"" : path));
  if (written_in_place(path)) {
    std::error_code ignored;
    const int append =
        fs::is_regular_file(path, ignored) ? O_APPEND : 0;  // it is not ours from its beginning
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | append);
    if (descriptor < 0) return Failure(cannot_be_written(path));
    return OutputFile(descriptor, path, Name::final);
  }
  const auto replaced = present(path);
  const bool keep_mode = replaced && S_ISREG(replaced->st_mode);
  if (keep_mode && ::access(path.c_str(), W_OK) != 0) return Failure(cannot_be_written(path));

  const mode_t mode = readers == Readers::owner ? 0600 : 0666;
  fs::path temporary;
  int descriptor = open_nameless(path, mode);
  if (descriptor < 0) {
    temporary = random_name(path);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, mode);
  }
  if (descriptor < 0) return Failure(cannot_be_written(path));
  if (keep_mode) ::fchmod(descriptor, replaced->st_mode & mode);
  return OutputFile(descriptor, path, temporary.empty() ? Name::none : Name::temporary, temporary);
}

Result<OutputFile, Error> OutputFile::standard_output() {
  const fs::path name = "standard output";
  const int descriptor = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) return Failure(cannot_be_written(name));
  return OutputFile(descriptor, name, Name::final);
}

OutputFile::OutputFile(int descriptor, fs::path path, Name name, fs::path temporary)
    : descriptor_(descriptor), path_(std::move(path)), temporary_(std::move(temporary)), name_(name) {
  buffer_.reserve(buffer_bytes);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      name_(std::exchange(other.name_, Name::none)),
      buffer_(std::move(other.buffer_)),
      position_(other.position_),
      stored_(other.stored_) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (name_ == Name::temporary) ::unlink(temporary_.c_str());
}

bool OutputFile::seekable() const {
  const int flags = ::fcntl(descriptor_, F_GETFL);
  return (flags & O_APPEND) == 0 && ::lseek(descriptor_, 0, SEEK_CUR) >= 0;
}

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

Result<Done, Error> OutputFile::cut(u64 offset) {
  if (offset >= stored_) {
    buffer_.resize(std::min<std::size_t>(buffer_.size(), static_cast<std::size_t>(offset - stored_)));
  } else {
    buffer_.clear();
    const auto end = static_cast<off_t>(offset);
    if (::ftruncate(descriptor_, end) != 0 || ::lseek(descriptor_, end, SEEK_SET) != end)
      return Failure(failure("cutting back failed"));
    stored_ = offset;
  }
  position_ = stored_ + buffer_.size();
  return Done{};
}

// A nameless file can be linked to a free name only, but a named one can take another's place.
bool OutputFile::take_free_name(const std::filesystem::path& free, Name name) {
  const std::string nameless = fmt::format("/proc/self/fd/{}", descriptor_);
  if (::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, free.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
  name_ = name;
  return true;
}

// False with EEXIST where another file has the name.
bool OutputFile::take_name_if_free() {
  if (name_ == Name::final) return true;
  if (name_ == Name::none) return take_free_name(path_, Name::final);
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) return false;
  name_ = Name::final;
  return true;
}

bool OutputFile::take_name() {
  // At once if nothing is there: whoever is killed in between leaves a temporary name behind.
  if (take_name_if_free()) return true;
  if (name_ == Name::none) {
    temporary_ = random_name(path_);
    if (!take_free_name(temporary_, Name::temporary)) return false;
  }
  if (name_ == Name::temporary && ::rename(temporary_.c_str(), path_.c_str()) != 0) return false;
  name_ = Name::final;
  return true;
}

Result<Done, Error> OutputFile::publish() {
  if (auto flushed = flush(); !flushed) return flushed;
  // EINVAL: a file system that cannot spare a file of that name.
  if (!take_name_if_free() && errno != EEXIST && errno != EINVAL)
    return Failure(failure("taking its name failed"));
  return Done{};
}

Result<Done, Error> OutputFile::sync() {
  if (auto flushed = flush(); !flushed) return flushed;
  if (::fsync(descriptor_) != 0) return Failure(failure("storing failed"));
  return Done{};
}

Result<Done, Error> OutputFile::commit() {
  if (auto flushed = flush(); !flushed) return flushed;
  if (!take_name()) return Failure(failure("taking its name failed"));
  if (::close(std::exchange(descriptor_, -1)) != 0) return Failure(failure("closing failed"));
  return Done{};
}

}  // namespace pmusim
