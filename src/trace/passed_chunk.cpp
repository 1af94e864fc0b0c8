// SPDX-License-Identifier: MIT
#include "trace/passed_chunk.h"

#include <utility>

#include "trace/side_band_codec.h"

namespace pmusim::trace {

PassedChunk::PassedChunk(std::vector<u8> code, std::vector<u8> records, CodeTable& table)
    : data_(std::move(records)), side_band_(data_) {
  problem_ = table.define(std::move(code));
}

Items PassedChunk::read() {
  if (damaged() || side_band_.at_end()) return {};
  auto record = decode_side_band(side_band_);
  problem_ = record ? problem_of(*record) : does_not_decode;
  if (damaged()) return {};
  item_ = *std::move(record);
  return {&item_, 1};
}

}  // namespace pmusim::trace
