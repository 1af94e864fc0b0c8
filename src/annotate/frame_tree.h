// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_FRAME_TREE_H
#define PMUSIM_SRC_ANNOTATE_FRAME_TREE_H

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

/// Of a frame: a name on one line that is valid UTF-8.
std::string frame_name(const Report& report, u32 symbol);
/// The path of its module, likewise.
std::string module_name(const Report& report, u32 symbol);

/// Stacks whose outer frames are the same share them: what viewers of other tools load.
class FrameTree {
 public:
  struct Node {
    std::optional<u32> parent;  ///< among nodes(), before this one
    u32 symbol = nothing;
  };

  /// The node of a stack's innermost frame.
  u32 add(const std::vector<u32>& outermost_first);
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::map<std::pair<std::optional<u32>, u32>, u32> numbers_;
  std::vector<Node> nodes_;
};

}  // namespace pmusim::annotate

#endif
