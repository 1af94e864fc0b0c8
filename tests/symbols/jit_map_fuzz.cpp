// SPDX-License-Identifier: MIT
// Any bytes are what a JIT compiler left: its functions are in order and do not overlap.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/demangle.h"
#include "symbols/module.h"
#include "tests/support/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  static const int descriptor = memfd_create("jit", 0);
  must(ftruncate(descriptor, static_cast<off_t>(size)) == 0);
  must(pwrite(descriptor, data, size, 0) == static_cast<ssize_t>(size));
  const auto module = symbols::Module::from_jit_map(fmt::format("/proc/self/fd/{}", descriptor));
  u64 end = 0;
  for (const symbols::Symbol& symbol : module.symbols()) {
    must(symbol.start >= end && symbol.start < symbol.end);
    must(module.find(symbol.start) == &symbol && module.find(symbol.end - 1) == &symbol);
    end = symbol.end;
    (void)demangled(symbol.name);
  }
  return 0;
}
