// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_PAGE_H
#define PMUSIM_SRC_ANNOTATE_PAGE_H

#include <string>
#include <string_view>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

/// The report as a page, with what `pmusim why` knows beside it: JSON, as why/page.cpp makes it for
/// page/why.js.
std::string page_of(const Report& report, std::string_view why_json);

}  // namespace pmusim::annotate

#endif
