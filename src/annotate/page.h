// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_PAGE_H
#define PMUSIM_SRC_ANNOTATE_PAGE_H

#include <string>
#include <string_view>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

/// What stands on a page beside a profile, as JSON.
struct PageParts {
  std::string_view why = "null";         ///< as why/page.cpp makes it for page/why.js
  std::string_view difference = "null";  ///< as difference_output.cpp makes it for page/difference.js
};

std::string page_of(const Report& report, const PageParts& parts);

}  // namespace pmusim::annotate

#endif
