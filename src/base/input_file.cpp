// SPDX-License-Identifier: MIT
#include "base/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pmusim {

namespace {

Failure<Error> cannot_read(const std::string& path, std::string_view why) {
  return Failure(Error(fmt::format("{}: cannot read: {}", path, why)));
}

bool is_made_by_kernel(const struct statfs& system) {
  switch (static_cast<u32>(system.f_type)) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case DEBUGFS_MAGIC:
    case TRACEFS_MAGIC:
    case SECURITYFS_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
      return true;
    default:
      return false;
  }
}

Result<Done, Error> check(const std::string& path, const struct stat& status, const struct statfs& system) {
  if (S_ISDIR(status.st_mode)) return cannot_read(path, std::strerror(EISDIR));
  if (!S_ISREG(status.st_mode)) return cannot_read(path, "it is a pipe or a device; expected a regular file");
  if (is_made_by_kernel(system))
    return cannot_read(path, "the kernel makes it up as it is read; expected a file of a disk");
  return Done{};
}

}  // namespace

Result<InputFile, Error> InputFile::open(const std::string& path) {
  struct stat status {};
  struct statfs system {};
  if (::stat(path.c_str(), &status) != 0 || ::statfs(path.c_str(), &system) != 0)
    return cannot_read(path, std::strerror(errno));
  if (auto fit = check(path, status, system); !fit.ok()) return Failure(fit.error());
  // Another file may have taken its place: a pipe without a writer would block, a terminal become ours.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return cannot_read(path, std::strerror(errno));
  InputFile file(path, descriptor, 0);
  if (::fstat(descriptor, &status) != 0 || ::fstatfs(descriptor, &system) != 0)
    return cannot_read(path, std::strerror(errno));
  if (auto fit = check(path, status, system); !fit.ok()) return Failure(fit.error());
  file.size_ = static_cast<u64>(status.st_size);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Done, Error> InputFile::read(u64 offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const auto what = fmt::format("{}: cannot read at offset {}: {}", path_, offset, std::strerror(errno));
      return Failure(Error(what));
    }
    if (got == 0) return Failure(Error(fmt::format("{}: truncated: it ends at offset {}", path_, offset)));
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<u64>(got);
  }
  return Done{};
}

Result<std::vector<std::byte>, Error> InputFile::read_all() const {
  std::vector<std::byte> bytes(size_);
  if (auto done = read(0, bytes); !done.ok()) return Failure(done.error());
  return bytes;
}

Result<std::size_t, Error> InputFile::read_start(std::span<std::byte> out) const {
  const std::size_t bytes = std::min<u64>(out.size(), size_);
  if (auto done = read(0, out.first(bytes)); !done.ok()) return Failure(done.error());
  return bytes;
}

Result<std::string, Error> InputFile::read_text() const {
  std::string text(size_, '\0');
  if (auto done = read(0, std::as_writable_bytes(std::span(text))); !done.ok()) return Failure(done.error());
  return text;
}

Error InputFile::damaged(u64 offset, std::string_view what) const {
  return Error(fmt::format("{}: damaged at offset {}: {}", path_, offset, what));
}

}  // namespace pmusim
