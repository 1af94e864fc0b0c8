#ifndef PMUSIM_EVENTS_BRANCH_FILTER_H
#define PMUSIM_EVENTS_BRANCH_FILTER_H

#include <string_view>

#include "pmusim/base/error.h"
#include "pmusim/base/types.h"

namespace pmusim::events {

/// attr.branch_sample_type of a list of filter names as `perf record -j` takes it: "any_call,u". A list of
/// privilege levels alone means any branch at them. Errors: an empty or unknown name, with near matches.
[[nodiscard]] Result<u64, Error> parse_branch_filter(std::string_view list);

}  // namespace pmusim::events

#endif
