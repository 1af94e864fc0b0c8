// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_PATH_FINDER_H
#define PMUSIM_SRC_ANNOTATE_PATH_FINDER_H

#include <functional>
#include <vector>

#include "code_counts.h"

namespace pmusim::annotate {

using PlaceOf = std::function<Place(const Location&)>;

/// The hottest paths, about `count`: each starts at the target of the most often taken branch that no path
/// has yet, and goes on with the most frequent line and its most frequent branch until it meets a path that
/// is known, or itself, or the branches become four times rarer than the first. What comes back to itself is
/// a loop; what led into it is a path of its own.
std::vector<HotPath> find_paths(const CodeCounts& code, Resolver& resolver, u32 count, const PlaceOf& place);

}  // namespace pmusim::annotate

#endif
