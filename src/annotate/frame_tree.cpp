// SPDX-License-Identifier: MIT
#include "annotate/frame_tree.h"

#include "base/printable.h"

namespace pmusim::annotate {

std::string frame_name(const Report& report, u32 symbol) {
  const std::string name = printable(report.symbols[symbol].name);
  return name.empty() ? "[unknown]" : name;
}

std::string module_name(const Report& report, u32 symbol) {
  return printable(report.modules[report.symbols[symbol].module].path);
}

u32 FrameTree::add(const std::vector<u32>& outermost_first) {
  std::optional<u32> at;
  for (const u32 symbol : outermost_first) {
    const auto [known, is_new] = numbers_.try_emplace({at, symbol}, static_cast<u32>(nodes_.size()));
    if (is_new) nodes_.push_back({at, symbol});
    at = known->second;
  }
  return *at;
}

}  // namespace pmusim::annotate
