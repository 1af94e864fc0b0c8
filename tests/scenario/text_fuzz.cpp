// SPDX-License-Identifier: MIT
// Any text is a scenario or a sentence.
#include "scenario/scenario.h"
#include "tests/support/fuzz_input.h"

namespace {

/// A text may ask for as much work as its author wants to wait for; a fuzzer does not want to.
bool is_short(std::string_view text) {
  constexpr std::string_view statement = "retire";
  for (auto at = text.find(statement); at != text.npos; at = text.find(statement)) {
    text.remove_prefix(at + statement.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.find_first_not_of("0123456789abcdefABCDEFx") > 3) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!is_short(text)) return 0;
  const auto difference = pmusim::scenario::run(text, "fuzz");
  if (!difference.ok()) pmusim::must(!difference.error().message.empty());
  return 0;
}
