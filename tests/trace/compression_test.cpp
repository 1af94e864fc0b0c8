// SPDX-License-Identifier: MIT
#include "trace/compression.h"

#include <gtest/gtest.h>

namespace pmusim::trace {
namespace {

const std::vector<u8> raw(1000, 7);

std::vector<u8> compressed() {
  std::vector<u8> stored;
  const std::size_t bytes = compress(raw, stored);
  EXPECT_EQ(bytes, stored.size());
  return stored;
}

TEST(TraceCompression, BringsBackWhatWasCompressedInOneFrameOrMany) {
  EXPECT_EQ(decompress(compressed(), raw.size()), raw);
  std::vector<u8> frames;
  compress_in_frames(raw, 32, frames);
  EXPECT_EQ(decompress(frames, raw.size()), raw);
}

TEST(TraceCompression, OfNothingIsNothing) {
  EXPECT_EQ(decompress({}, 0), std::vector<u8>());
  EXPECT_EQ(decompress({}, 1), std::nullopt);
  EXPECT_EQ(decompress(compressed(), 0), std::nullopt);
}

TEST(TraceCompression, RefusesFramesOfAnotherSizeThanStated) {
  for (const std::size_t bytes : {raw.size() - 1, raw.size() + 1, std::size_t{5} << 20})
    EXPECT_EQ(decompress(compressed(), bytes), std::nullopt) << bytes;
}

TEST(TraceCompression, RefusesTruncatedFramesAndTrailingBytes) {
  std::vector<u8> stored = compressed();
  stored.push_back(0);
  EXPECT_EQ(decompress(stored, raw.size()), std::nullopt);
  for (std::size_t bytes = 0; bytes + 1 < stored.size(); ++bytes)
    EXPECT_EQ(decompress(std::span(stored).first(bytes), raw.size()), std::nullopt) << bytes;
}

}  // namespace
}  // namespace pmusim::trace
