// SPDX-License-Identifier: MIT
#include "trace/passed_chunk.h"

#include "trace/happening_codec.h"

namespace pmusim::trace {

PassedChunk::PassedChunk(const std::vector<u8>& code, std::vector<u8> happenings, CodeTable& table)
    : data_(std::move(happenings)), happenings_(data_) {
  ByteReader blocks(code);
  problem_ = decode_blocks(blocks, table);
}

NextItem PassedChunk::next() {
  if (damaged() || happenings_.at_end()) return {};
  auto happening = decode_happening(happenings_);
  problem_ = happening ? problem_of(*happening) : does_not_decode;
  if (damaged()) return {};
  item_ = *std::move(happening);
  return NextItem(item_);
}

}  // namespace pmusim::trace
