// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_PIPE_BYTES_H
#define PMUSIM_TRACE_PIPE_BYTES_H

#include <functional>
#include <vector>

#include "trace/trace_bytes.h"

namespace pmusim::trace {

/// Those that come through a pipe, each once and in order; its beginning, as long as it is kept, at any time.
class PipeBytes final : public TraceBytes {
 public:
  /// Calls `between_reads` now and then, while nothing comes too.
  PipeBytes(std::string name, int descriptor, std::function<void()> between_reads)
      : name_(std::move(name)), descriptor_(descriptor), between_reads_(std::move(between_reads)) {}

  const std::string& path() const override { return name_; }
  /// Errors, beside the others: `offset` is behind what was read, or before it and not kept.
  Result<Done, Error> read(u64 offset, std::span<std::byte> out) const override;
  /// From now on nothing more is kept, and what was kept can be read once more.
  void keep_no_more() { keeps_ = false; }
  /// Reads what is left and drops it, until whoever writes has closed the pipe.
  void drain() const;

 private:
  std::size_t read_kept(u64 offset, std::span<std::byte> out) const;
  Result<Done, Error> read_pipe(std::span<std::byte> out) const;
  std::size_t read_some(std::span<std::byte> out) const;

  std::string name_;
  int descriptor_;
  std::function<void()> between_reads_;
  bool keeps_ = true;
  mutable std::vector<std::byte> kept_;
  mutable u64 position_ = 0;  // of the pipe
};

}  // namespace pmusim::trace

#endif
