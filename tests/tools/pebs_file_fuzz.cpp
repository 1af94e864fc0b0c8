// SPDX-License-Identifier: MIT
// Any bytes as a file with a PEBS buffer: it is refused, or is what a file written from it says.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/fuzz_input.h"
#include "tools/pebs_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  static const int descriptor = memfd_create("pebs", 0);
  static const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  must(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, data, size, 0) == static_cast<ssize_t>(size));
  const auto buffer = tools::read_pebs_file(path);
  if (!buffer.ok()) {
    must(!buffer.error().message.empty());
    return 0;
  }
  // Output files are replaced as a whole, which a file without a name cannot be.
  static const std::string copy =
      (std::filesystem::temp_directory_path() / fmt::format("pebs-{}", getpid())).string();
  must(tools::write_pebs_file(copy, *buffer).ok());
  const auto again = tools::read_pebs_file(copy);
  must(again.ok() && again->bytes == buffer->bytes);
  return 0;
}
