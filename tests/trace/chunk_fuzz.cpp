// SPDX-License-Identifier: MIT
// Any bytes as the streams of a chunk, behind compression, where a fuzzer of files does not get.
#include "trace/chunk_decoder.h"

namespace {

using namespace pmusim;

/// A stream is its length, in a byte, and its bytes.
void fill(std::span<std::vector<u8>> streams, trace::ByteReader& in) {
  for (std::vector<u8>& stream : streams) {
    const auto bytes = in.bytes(in.byte());
    stream.assign(bytes.begin(), bytes.end());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trace::ByteReader in({data, size});
  const u8 contents = in.byte(), instructions = in.byte();
  trace::StreamData streams;
  fill(streams.plain, in);
  fill(streams.extended, in);
  fill(streams.timing, in);
  trace::CodeTable table;
  trace::DecoderMemory memory;
  trace::ChunkDecoder decoder(std::move(streams),
                              {.addresses = (contents & 1) != 0,
                               .registers = (contents & 2) != 0,
                               .extended = (contents & 4) != 0,
                               .timing = (contents & 8) != 0},
                              {instructions, 1}, table, memory);
  while (!decoder.read().empty()) continue;
  return 0;
}
