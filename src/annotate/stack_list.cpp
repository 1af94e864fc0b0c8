// SPDX-License-Identifier: MIT
#include "stack_list.h"

#include <algorithm>

namespace pmusim::annotate {

namespace {

bool weighs_nothing(const Weights& weights) {
  return std::ranges::all_of(weights, [](const Weight& weight) { return weight == Weight{}; });
}

}  // namespace

std::vector<ListedStack> listed_stacks(const Report& report) {
  std::vector<ListedStack> stacks;
  if (report.stacks.empty()) {
    for (u32 symbol = 0; symbol < report.symbols.size(); ++symbol)
      if (!weighs_nothing(report.symbols[symbol].weights))
        stacks.push_back({{symbol}, report.symbols[symbol].weights});
    return stacks;
  }
  for (const StackNode& node : report.stacks) {
    if (node.symbol == nothing || weighs_nothing(node.self)) continue;
    ListedStack stack{{}, node.self};
    for (const StackNode* at = &node; at->symbol != nothing; at = &report.stacks[at->parent])
      stack.symbols.push_back(at->symbol);
    std::ranges::reverse(stack.symbols);
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

}  // namespace pmusim::annotate
