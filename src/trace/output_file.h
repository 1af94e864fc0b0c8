#ifndef PMUSIM_TRACE_OUTPUT_FILE_H
#define PMUSIM_TRACE_OUTPUT_FILE_H

#include <span>
#include <string>

#include "pmusim/base/error.h"
#include "pmusim/base/types.h"

namespace pmusim::trace {

/// A file that has its name only when it is complete: written under a temporary name in the same directory,
/// renamed by `commit`, removed by the destructor otherwise.
class OutputFile {
 public:
  static Result<OutputFile, Error> create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  Result<Done, Error> write(std::span<const std::byte> bytes);
  Result<Done, Error> commit();
  u64 size() const { return size_; }

 private:
  OutputFile(std::string path, std::string temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}
  Error problem(int error_number) const;

  std::string path_, temporary_;
  int descriptor_ = -1;  // -1: moved from or committed
  u64 size_ = 0;
};

}  // namespace pmusim::trace

#endif
