// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "pmusim/events/parser.h"

// Any text is a list of events or a sentence.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const pmusim::CpuModel model = pmusim::find_cpu_model("icelake").value();
  const auto groups = pmusim::events::parse_events({reinterpret_cast<const char*>(data), size}, model);
  if (!groups.ok() && groups.error().message.empty()) __builtin_trap();
  return 0;
}
