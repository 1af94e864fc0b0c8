// SPDX-License-Identifier: MIT
// Any bytes as a trace of another tool, whose format the first byte chooses: importing it ends.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "pmusim/formats/formats.h"
#include "tests/support/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  static const int descriptor = memfd_create("foreign", 0);
  static const std::string output =
      std::filesystem::temp_directory_path() / fmt::format("pmusim-fuzz-{}", getpid());
  FuzzInput input(data, size);
  const formats::Format format = input.pick(formats::format_names).format;
  const std::size_t bytes = size == 0 ? 0 : size - 1;
  must(ftruncate(descriptor, static_cast<off_t>(bytes)) == 0);
  must(pwrite(descriptor, data + (size - bytes), bytes, 0) == static_cast<ssize_t>(bytes));
  const auto imported = formats::import_trace(
      {.format = format, .input = fmt::format("/proc/self/fd/{}", descriptor), .output = output});
  if (imported.ok()) std::filesystem::remove(output);
  return 0;
}
