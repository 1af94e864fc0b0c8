// SPDX-License-Identifier: MIT
// Any bytes as JSON that others made, counts of `pmusim stat --json` or the file of a sweep as the first byte
// chooses: it is read, or refused with a sentence that names the file.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "tests/support/fuzz_input.h"
#include "tools/stat_file.h"
#include "tools/sweep_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  static const int descriptor = memfd_create("json", 0);
  static const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  if (size == 0) return 0;
  must(ftruncate(descriptor, 0) == 0);
  must(pwrite(descriptor, data + 1, size - 1, 0) == static_cast<ssize_t>(size - 1));
  try {
    if ((*data & 1) != 0)
      static_cast<void>(tools::read_stat_file(path));
    else
      static_cast<void>(tools::read_sweep(path));
  } catch (const tools::CommandError& refused) {
    must(std::string_view(refused.what()).find(':') != std::string_view::npos);
  }
  return 0;
}
