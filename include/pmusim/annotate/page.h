#ifndef PMUSIM_ANNOTATE_PAGE_H
#define PMUSIM_ANNOTATE_PAGE_H

#include <string>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

/// The report as one page for a browser: HTML with style, script and the report's JSON inside, so that it
/// needs no network and says what to_json() says. Its size follows that of the report.
///
///   std::ofstream("profile.html") << to_html(*analyze("perf.data", {}));
std::string to_html(const Report& report);

}  // namespace pmusim::annotate

#endif
