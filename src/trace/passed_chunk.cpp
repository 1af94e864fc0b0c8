// SPDX-License-Identifier: MIT
#include "trace/passed_chunk.h"

#include <utility>

#include "trace/happening_codec.h"

namespace pmusim::trace {

PassedChunk::PassedChunk(std::vector<u8> code, std::vector<u8> happenings, CodeTable& table)
    : data_(std::move(happenings)), happenings_(data_) {
  problem_ = table.define(std::move(code));
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
