#include "trace/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace pmusim::trace {

Result<OutputFile, Error> OutputFile::create(const std::string& path) {
  struct stat existing {};
  if (::stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode)) {
    return Failure(
        Error(fmt::format("{}: cannot write: there is something that is not a regular file", path)));
  }
  // The process id keeps two writers of the same name apart.
  std::string temporary = fmt::format("{}.partial-{}", path, ::getpid());
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return Failure(Error(fmt::format("{}: cannot write: {}", path, std::strerror(errno))));
  return OutputFile(path, std::move(temporary), descriptor);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

Result<Done, Error> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failure(problem(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    size_ += static_cast<u64>(written);
  }
  return Done{};
}

Result<Done, Error> OutputFile::commit() {
  const int descriptor = std::exchange(descriptor_, -1);
  const bool stored = ::close(descriptor) == 0 && std::rename(temporary_.c_str(), path_.c_str()) == 0;
  if (stored) return Done{};
  const Error error = problem(errno);
  ::unlink(temporary_.c_str());
  return Failure(error);
}

Error OutputFile::problem(int error_number) const {
  return Error(fmt::format("{}: cannot write at offset {}: {}", path_, size_, std::strerror(error_number)));
}

}  // namespace pmusim::trace
