#ifndef PMUSIM_TOOLS_FAST_RECORDING_H
#define PMUSIM_TOOLS_FAST_RECORDING_H

#include <string>
#include <vector>

#include "pmusim/qemu/recorder.h"

namespace pmusim::tools {

/// What to add to the summary of a fast recording: who recorded, and what it cannot know. Lines.
std::string remarks(const qemu::FastRecordSummary& summary);

}  // namespace pmusim::tools

#endif
