// SPDX-License-Identifier: MIT
#include "qemu/guest_block.h"

#include <algorithm>
#include <numeric>

namespace pmusim::qemu {

std::size_t GuestBlock::boundary(u64 address) const {
  u64 at = start;
  for (std::size_t n = 0; n < lengths.size() && at <= address; at += lengths[n++])
    if (at == address) return n;
  return 0;
}

const GuestBlock& BlockStore::find_or_add(u64 start, std::span<const std::byte> code,
                                          std::span<const u8> lengths) {
  const auto [entry, is_new] = blocks_.try_emplace({start, {code.begin(), code.end()}});
  GuestBlock& block = entry->second;
  if (!is_new) return block;
  block.start = start;
  block.code.assign(code.begin(), code.end());
  block.lengths.assign(lengths.begin(), lengths.end());
  while (!lengths.empty()) {
    const auto part = lengths.first(std::min(lengths.size(), trace::max_block_instructions));
    const std::size_t bytes = std::accumulate(part.begin(), part.end(), std::size_t{0});
    block.parts.push_back(&writer_.add_block(start, code.first(bytes), part));
    lengths = lengths.subspan(part.size());
    code = code.subspan(bytes);
    start += bytes;
  }
  return block;
}

const GuestBlock& BlockStore::first_of(const GuestBlock& block, std::size_t instructions) {
  const auto lengths = std::span(block.lengths).first(instructions);
  const std::size_t bytes = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  return find_or_add(block.start, std::span(block.code).first(bytes), lengths);
}

}  // namespace pmusim::qemu
