// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_FIREFOX_EXPORT_H
#define PMUSIM_SRC_ANNOTATE_FIREFOX_EXPORT_H

#include <string>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

/// The processed profile format of the Firefox Profiler (src/types/profile.ts of firefox-devtools/profiler):
/// a thread for each event, with a sample for each stack, as heavy as its period.
std::string to_firefox(const Report& report, u32 event);

}  // namespace pmusim::annotate

#endif
