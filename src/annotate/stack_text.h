// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_STACK_TEXT_H
#define PMUSIM_SRC_ANNOTATE_STACK_TEXT_H

#include <string>
#include <vector>

#include "annotate/stack_list.h"
#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

/// The call stacks of a report as lines below its symbols: percentages of the first event's total, or of
/// the line above. What has less than 0.5 % is left out. Of a symbol that is in a stack more than once, the
/// innermost call counts for who called it and the outermost for what it called.
class StackText {
 public:
  StackText(const Report& report, RankingStacks direction, StackShares shares);

  std::string below(u32 symbol) const;

 private:
  struct Branching;
  std::string tree(u32 symbol) const;
  std::string flat(u32 symbol) const;
  double percent(u64 period) const;
  double percent_below(u64 above, u64 period) const;
  std::string name(u32 symbol) const;
  std::vector<u32> way_from(u32 symbol, const std::vector<u32>& stack) const;
  void print(std::string& text, const Branching& from, std::size_t indent) const;

  const Report& report_;
  RankingStacks direction_;
  StackShares shares_;
  std::vector<ListedStack> stacks_;
};

}  // namespace pmusim::annotate

#endif
