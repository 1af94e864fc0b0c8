// Any bytes as a trace file, and any bytes as the streams of a chunk (behind the checksums, where a fuzzer of
// files does not get).
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmusim/trace/reader.h"
#include "trace/chunk_decoder.h"

namespace {

using namespace pmusim;

void read_file(std::span<const u8> data) {
  const int descriptor = memfd_create("trace", 0);
  if (write(descriptor, data.data(), data.size()) == static_cast<ssize_t>(data.size())) {
    auto reader = trace::Reader::open(fmt::format("/proc/self/fd/{}", descriptor));
    while (reader.ok()) {
      const auto item = reader->next();
      if (!item.ok() || !item->has_value()) break;
    }
  }
  close(descriptor);
}

// One byte of contents, then each stream with a length byte before it.
void decode_chunk(std::span<const u8> data) {
  trace::ByteReader in(data);
  const u8 flags = in.byte();
  trace::StreamData streams;
  for (auto& stream : streams) {
    const auto bytes = in.bytes(in.byte());
    stream.assign(bytes.begin(), bytes.end());
  }
  trace::CodeTable table;
  trace::ChunkDecoder decoder(std::move(streams), {(flags & 1) != 0, (flags & 2) != 0}, flags, 1, table);
  while (decoder.next().has_value()) continue;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_file({data, size});
  decode_chunk({data, size});
  return 0;
}
