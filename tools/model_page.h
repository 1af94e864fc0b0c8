// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_MODEL_PAGE_H
#define PMUSIM_TOOLS_MODEL_PAGE_H

#include <string>
#include <vector>

#include "pmusim/cpu/model.h"

namespace pmusim::tools {

/// What the models claim, each claim with where it is from, as Markdown: docs/models.md is that of all
/// presets.
std::string page_of(const std::vector<const CpuModel*>& models);

}  // namespace pmusim::tools

#endif
