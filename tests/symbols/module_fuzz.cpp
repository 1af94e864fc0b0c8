// SPDX-License-Identifier: MIT
#include <cstdint>

#include "base/demangle.h"
#include "symbols/module.h"

/// Any bytes are an ELF file with debug information: asking everything of it ends.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim::symbols;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  Module module = Module::from_memory("fuzz", {bytes, bytes + size});
  (void)module.build_id();
  (void)module.address_of(size / 2);
  std::size_t asked = 0;
  for (const Symbol& symbol : module.symbols()) {
    if (++asked > 64) break;
    (void)pmusim::demangled(symbol.name);
    (void)module.code(symbol.start, 64);
    (void)module.position(symbol.start);
    (void)module.inlined_calls(symbol.start, symbol.end);
  }
  return 0;
}
