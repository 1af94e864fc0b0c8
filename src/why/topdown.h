// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_TOPDOWN_H
#define PMUSIM_SRC_WHY_TOPDOWN_H

#include <optional>
#include <string>
#include <vector>

#include "session/topdown_tree.h"

namespace pmusim::why {

/// What the nodes of a tree are for the whole program, or for one function.
struct TopdownPart {
  std::optional<u32> function;  ///< in Report::functions; nothing: all of them
  u64 slots = 0;
  std::vector<EventTotal> totals;          ///< by TopdownTree::events()
  std::vector<TopdownTree::Value> values;  ///< by TopdownTree::nodes()
};

/// The top-down tree of a program, side by side with those of functions.
struct Topdown {
  std::string problem;              ///< why there is none; empty if there is
  std::optional<TopdownTree> tree;  ///< if there is
  std::vector<TopdownPart> parts;   ///< the whole first
};

}  // namespace pmusim::why

#endif
