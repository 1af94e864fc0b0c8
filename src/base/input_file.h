// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_INPUT_FILE_H
#define PMUSIM_BASE_INPUT_FILE_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {

/// A regular file that is read at offsets: the one way in which files are opened that others made or named.
/// What is there is looked at before it is opened, and again behind: pipes, devices and what the kernel makes
/// up as it is read (/proc, /sys) are refused, so that opening neither waits nor has an effect. Every error
/// names the file.
///
///     const auto file = InputFile::open("perf.data");
///     if (file.ok()) const auto bytes = file->read_all();
class InputFile {
 public:
  static Result<InputFile, Error> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  u64 size() const { return size_; }
  /// For libraries that read from one; it stays this object's.
  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  /// Fills `out` from `offset`. Errors: the file ends before, the disk.
  Result<Done, Error> read(u64 offset, std::span<std::byte> out) const;
  /// Fills `out` from the start with as much as there is: how many bytes. Errors: the disk.
  Result<std::size_t, Error> read_start(std::span<std::byte> out) const;
  Result<std::vector<std::byte>, Error> read_all() const;
  Result<std::string, Error> read_text() const;
  /// The sentence "FILE: damaged at offset N: WHAT".
  Error damaged(u64 offset, std::string_view what) const;

 private:
  InputFile(std::string path, int descriptor, u64 size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  std::string path_;
  int descriptor_ = -1;
  u64 size_ = 0;
};

}  // namespace pmusim

#endif
