// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_OUTPUT_FILE_H
#define PMUSIM_BASE_OUTPUT_FILE_H

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {

/// Who may read a file that did not exist before.
enum class Readers : u8 {
  as_umask_says,
  owner,  ///< mode 0600: for contents of registers and memory, and for a replaced file too
};

/// A file that appears under its name only when it is complete, or from publish() on: until then it has no
/// name at all, or an unguessable one where the file system knows no nameless files. Destroyed before that,
/// it is gone; so it is when the process is killed, but for the unguessable name.
///
/// A regular file of that name is replaced, and its mode kept; a symbolic link is replaced, not followed.
/// What is there and is no regular file (a pipe, /dev/stdout) is written in place.
///
///     auto file = OutputFile::create("perf.data", Readers::owner);
///     if (file.ok() && file->write(bytes).ok()) file->commit();
///
/// Errors name the path, the offset and the system's reason.
class OutputFile {
 public:
  /// Errors: no name, no such directory, not permitted, an existing file that is write-protected.
  static Result<OutputFile, Error> create(const std::filesystem::path& path,
                                          Readers readers = Readers::as_umask_says);
  /// Whatever the process's standard output is; it stays open.
  static Result<OutputFile, Error> standard_output();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// True where overwrite() and cut() are possible.
  bool seekable() const;
  /// Bytes written so far.
  u64 position() const { return position_; }
  Result<Done, Error> write(std::span<const std::byte> bytes);
  /// Replaces bytes that were written before.
  Result<Done, Error> overwrite(u64 offset, std::span<const std::byte> bytes);
  /// Takes back everything behind `offset`, after a write that failed, say.
  Result<Done, Error> cut(u64 offset);
  /// Stores what was written.
  Result<Done, Error> store() { return flush(); }
  /// Stores what was written and gives the file its name before it is complete: it then stays, whatever
  /// becomes of the process. A file that is to be replaced stays instead, until commit().
  Result<Done, Error> publish();
  /// It has its name.
  bool published() const { return name_ == Name::final; }
  /// Waits until all that was written is on the disk: behind commit() it is there whole, also after a loss of
  /// power.
  Result<Done, Error> sync();
  /// Stores the rest, gives the file its name if it has none, and closes it.
  Result<Done, Error> commit();

 private:
  enum class Name : u8 { none, temporary, final };
  OutputFile(int descriptor, std::filesystem::path path, Name name, std::filesystem::path temporary = {});
  Result<Done, Error> flush();
  Result<Done, Error> write_through(std::span<const std::byte> bytes);
  bool take_name_if_free();
  bool take_name();
  bool take_free_name(const std::filesystem::path& free, Name name);
  Error failure(const char* what) const;

  int descriptor_;
  std::filesystem::path path_, temporary_;
  Name name_;
  std::vector<std::byte> buffer_;
  u64 position_ = 0;
  u64 stored_ = 0;  // without what is still in the buffer
};

}  // namespace pmusim

#endif
