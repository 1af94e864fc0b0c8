// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_EVENT_NAME_H
#define PMUSIM_SRC_PERFDATA_EVENT_NAME_H

#include <string>

#include "pmusim/perf/abi.h"

namespace pmusim::perfdata {

/// The name that perf makes of an attribute where nothing names the event: "cycles:u", "L1-dcache-loads:HG",
/// "raw 0x1c2:ppH", "unknown attr type: 11".
std::string event_name(const perf::Attr& attr);

}  // namespace pmusim::perfdata

#endif
