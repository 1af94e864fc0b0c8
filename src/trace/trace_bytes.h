// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_TRACE_BYTES_H
#define PMUSIM_TRACE_TRACE_BYTES_H

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/input_file.h"

namespace pmusim::trace {

/// The bytes of a trace, wherever they come from.
class TraceBytes {
 public:
  TraceBytes() = default;
  TraceBytes(const TraceBytes&) = delete;
  TraceBytes& operator=(const TraceBytes&) = delete;
  virtual ~TraceBytes() = default;

  virtual const std::string& path() const = 0;
  /// Fills `out` from `offset`. Errors: the trace ends before, the system's.
  virtual Result<Done, Error> read(u64 offset, std::span<std::byte> out) const = 0;
  /// The sentence "FILE: damaged at offset N: WHAT".
  Error damaged(u64 offset, std::string_view what) const;
};

/// Those of a file: any of them at any time.
class FileBytes final : public TraceBytes {
 public:
  explicit FileBytes(InputFile file) : file_(std::move(file)) {}
  u64 size() const { return file_.size(); }
  const std::string& path() const override { return file_.path(); }
  Result<Done, Error> read(u64 offset, std::span<std::byte> out) const override {
    return file_.read(offset, out);
  }

 private:
  InputFile file_;
};

}  // namespace pmusim::trace

#endif
