// SPDX-License-Identifier: MIT
#include "annotate/stack_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "annotate/percent.h"
#include "base/printable.h"

namespace pmusim::annotate {

namespace {

/// As perf's default.
constexpr double least_percent = 0.5;
/// Of a tree; deeper calls are not shown.
constexpr std::size_t most_levels = 256;
/// Of the outermost level, under the figures of the symbol.
constexpr std::size_t first_indent = 12;

u64 period_of(const ListedStack& stack) { return stack.weights[0].period; }

}  // namespace

/// What begins at one symbol, and goes on to its callers or callees.
struct StackText::Branching {
  u64 period = 0;
  std::map<u32, Branching> next;
};

StackText::StackText(const Report& report, RankingStacks direction, StackShares shares)
    : report_(report), direction_(direction), shares_(shares) {
  if (direction != RankingStacks::none && !report.stacks.empty()) stacks_ = listed_stacks(report);
}

std::string StackText::below(u32 symbol) const {
  if (stacks_.empty()) return "";
  return direction_ == RankingStacks::flat ? flat(symbol) : tree(symbol);
}

std::string StackText::tree(u32 symbol) const {
  Branching root;
  for (const ListedStack& stack : stacks_) {
    if (std::ranges::find(stack.symbols, symbol) == stack.symbols.end()) continue;
    Branching* at = &root;
    at->period += period_of(stack);
    for (const u32 next : way_from(symbol, stack.symbols)) {
      at = &at->next[next];
      at->period += period_of(stack);
    }
  }
  std::string text;
  print(text, root, first_indent);
  return text;
}

std::string StackText::flat(u32 symbol) const {
  std::vector<const ListedStack*> chosen;
  for (const ListedStack& stack : stacks_)
    if (stack.symbols.back() == symbol && percent(period_of(stack)) >= least_percent)
      chosen.push_back(&stack);
  std::ranges::stable_sort(chosen, std::greater(),
                           [](const ListedStack* stack) { return period_of(*stack); });
  std::string text;
  for (const ListedStack* const stack : chosen) {
    text += fmt::format("{:{}}{:.2f}%  ", "", first_indent, percent(period_of(*stack)));
    for (std::size_t at = 0; at < stack->symbols.size(); ++at)
      text += (at == 0 ? "" : ";") + name(stack->symbols[at]);
    text += '\n';
  }
  return text;
}

double StackText::percent(u64 period) const { return percent_of(period, report_.events[0].total.period); }

double StackText::percent_below(u64 above, u64 period) const {
  return shares_ == StackShares::of_all ? percent(period) : percent_of(period, above);
}

std::string StackText::name(u32 symbol) const { return printable(report_.symbols[symbol].name); }

/// Without the symbol itself.
std::vector<u32> StackText::way_from(u32 symbol, const std::vector<u32>& stack) const {
  std::vector<u32> way;
  if (direction_ == RankingStacks::callees) {
    const auto outermost = std::ranges::find(stack, symbol);
    if (outermost != stack.end()) way.assign(outermost + 1, stack.end());
  } else {
    const auto innermost = std::find(stack.rbegin(), stack.rend(), symbol);
    if (innermost != stack.rend()) way.assign(innermost + 1, stack.rend());
  }
  way.resize(std::min(way.size(), most_levels));
  return way;
}

void StackText::print(std::string& text, const Branching& from, std::size_t indent) const {
  std::vector<std::pair<u32, const Branching*>> ways;
  for (const auto& [symbol, way] : from.next)
    if (percent_below(from.period, way.period) >= least_percent) ways.emplace_back(symbol, &way);
  std::ranges::stable_sort(ways, std::greater(), [](const auto& way) { return way.second->period; });
  for (const auto& [symbol, way] : ways) {
    text += fmt::format("{:{}}--{:.2f}%--{}\n", "", indent, percent_below(from.period, way->period),
                        name(symbol));
    print(text, *way, indent + 2);
  }
}

}  // namespace pmusim::annotate
