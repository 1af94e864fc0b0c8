// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/suggest.h"
#include "pmusim/base/types.h"
#include "pmusim/events/parser.h"

namespace pmusim::events {

namespace {

/// By perf register number. Segment registers beyond SS are numbered but cannot be sampled.
constexpr std::array<std::string_view, 24> names{"ax", "bx",    "cx",  "dx",  "si",  "di",  "bp",  "sp",
                                                 "ip", "flags", "cs",  "ss",  "",    "",    "",    "",
                                                 "r8", "r9",    "r10", "r11", "r12", "r13", "r14", "r15"};

/// 0: no such register.
u64 mask_of(std::string_view name) {
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (!name.empty() && found != names.end()) return bit(static_cast<unsigned>(found - names.begin()));
  if (!name.starts_with("xmm")) return 0;
  unsigned number = 0;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number > 15) return 0;
  return u64{3} << (32 + 2 * number);
}

}  // namespace

Result<u64, Error> parse_registers(std::string_view list) {
  u64 mask = 0;
  while (true) {
    const std::string_view name = list.substr(0, list.find(','));
    const u64 registers = mask_of(name);
    if (registers == 0) {
      const std::vector<std::string> known = register_names();
      const std::vector<std::string_view> views(known.begin(), known.end());
      return Failure(Error(fmt::format("unknown register '{}'{}", name, did_you_mean(name, views))));
    }
    mask |= registers;
    if (name.size() == list.size()) return mask;
    list.remove_prefix(name.size() + 1);
  }
}

std::vector<std::string> register_names() {
  std::vector<std::string> all;
  for (const std::string_view name : names)
    if (!name.empty()) all.emplace_back(name);
  for (unsigned number = 0; number < 16; ++number) all.push_back(fmt::format("xmm{}", number));
  return all;
}

u64 general_registers() {
  u64 mask = 0;
  for (const std::string_view name : names) mask |= mask_of(name);
  return mask;
}

}  // namespace pmusim::events
