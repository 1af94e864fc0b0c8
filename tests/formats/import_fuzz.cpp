// Any bytes as a trace of another tool: the first byte chooses the format.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmusim/formats/formats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  if (size == 0) return 0;
  const auto format = formats::format_names[data[0] % formats::format_names.size()].format;
  const int descriptor = memfd_create("trace", 0);
  if (write(descriptor, data + 1, size - 1) == static_cast<ssize_t>(size - 1)) {
    const std::string output = fmt::format("/tmp/pmusim-import-fuzz-{}", getpid());
    const auto imported = formats::import_trace(
        {.format = format, .input = fmt::format("/proc/self/fd/{}", descriptor), .output = output});
    if (imported.ok()) unlink(output.c_str());
  }
  close(descriptor);
  return 0;
}
