#ifndef PMUSIM_TRACE_INPUT_FILE_H
#define PMUSIM_TRACE_INPUT_FILE_H

#include <optional>
#include <span>
#include <string>

#include "pmusim/base/error.h"
#include "pmusim/base/types.h"

namespace pmusim::trace {

/// A file that is read at offsets. Every error names the file.
class InputFile {
 public:
  static Result<InputFile, Error> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  u64 size() const { return size_; }
  const std::string& path() const { return path_; }
  /// Fills `out` from `offset`. Errors: the file ends before, the disk.
  Result<Done, Error> read(u64 offset, std::span<std::byte> out) const;
  /// The sentence "FILE: damaged at offset N: WHAT".
  Error damaged(u64 offset, std::string_view what) const;

 private:
  InputFile(std::string path, int descriptor, u64 size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  std::string path_;
  int descriptor_ = -1;
  u64 size_ = 0;
};

}  // namespace pmusim::trace

#endif
