// SPDX-License-Identifier: MIT
// Any bytes as a trace file, but for its checksums, which are made right: reading it ends.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmusim/trace/trace.h"
#include "tests/support/fuzz_input.h"
#include "tests/support/unpacked_trace.h"

namespace {

void read(pmusim::Result<pmusim::trace::Reader, pmusim::Error> reader) {
  while (reader.ok()) {
    const auto item = reader->next();
    if (!item.ok() || !item->has_value()) break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int descriptor = memfd_create("trace", 0);
  static const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  std::vector<pmusim::u8> file(data, data + size);
  pmusim::trace::seal_unpacked(file);
  pmusim::must(ftruncate(descriptor, static_cast<off_t>(size)) == 0);
  pmusim::must(pwrite(descriptor, file.data(), size, 0) == static_cast<ssize_t>(size));
  read(pmusim::trace::Reader::open(path));
  auto from_the_middle = pmusim::trace::Reader::open(path);
  if (from_the_middle.ok()) (void)from_the_middle->begin_at(from_the_middle->instruction_count() / 2);
  read(std::move(from_the_middle));
  return 0;
}
