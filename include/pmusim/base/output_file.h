#ifndef PMUSIM_BASE_OUTPUT_FILE_H
#define PMUSIM_BASE_OUTPUT_FILE_H

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/base/types.h"

namespace pmusim {

/// A file that appears under its name only when it is complete: written under a temporary name beside it and
/// renamed by commit(). Destroyed before that, it is removed. What is there and is no regular file (a pipe,
/// /dev/stdout) is written in place. Errors name the path, the offset and the system's reason.
class OutputFile {
 public:
  static Result<OutputFile, Error> create(const std::filesystem::path& path);
  /// Whatever the process's standard output is; it stays open.
  static Result<OutputFile, Error> standard_output();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  bool seekable() const;
  /// Bytes written so far.
  u64 position() const { return position_; }
  Result<Done, Error> write(std::span<const std::byte> bytes);
  /// Replaces bytes that were written before.
  Result<Done, Error> overwrite(u64 offset, std::span<const std::byte> bytes);
  Result<Done, Error> commit();

 private:
  OutputFile(int descriptor, std::filesystem::path path, std::filesystem::path written);
  Result<Done, Error> flush();
  Result<Done, Error> write_through(std::span<const std::byte> bytes);
  Error failure(const char* what) const;

  int descriptor_;
  std::filesystem::path path_, written_;
  std::vector<std::byte> buffer_;
  u64 position_ = 0;
  u64 stored_ = 0;  // without what is still in the buffer
};

}  // namespace pmusim

#endif
