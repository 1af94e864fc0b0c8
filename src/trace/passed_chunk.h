// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_PASSED_CHUNK_H
#define PMUSIM_TRACE_PASSED_CHUNK_H

#include <string_view>
#include <vector>

#include "pmusim/trace/trace.h"
#include "trace/bytes.h"
#include "trace/code_table.h"

namespace pmusim::trace {

/// A chunk before the place where reading begins: its code and its side-band records, which are all that the
/// chunks behind it need. The other streams are not even expanded.
class PassedChunk {
 public:
  /// Adds the chunk's blocks to `table`.
  PassedChunk(std::vector<u8> code, std::vector<u8> records, CodeTable& table);
  PassedChunk(const PassedChunk&) = delete;
  PassedChunk& operator=(const PassedChunk&) = delete;

  /// The next side-band record; none at the end of the chunk, or when it turns out to be damaged.
  Items read();
  bool damaged() const { return !problem_.empty(); }
  /// What is wrong with a damaged chunk.
  std::string_view problem() const { return problem_; }

 private:
  std::vector<u8> data_;
  ByteReader side_band_;
  std::string_view problem_;
  Item item_;
};

}  // namespace pmusim::trace

#endif
