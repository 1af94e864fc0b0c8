// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_MAPPED_NAME_H
#define PMUSIM_SRC_ANNOTATE_MAPPED_NAME_H

#include <filesystem>
#include <string>

#include "pmusim/base/types.h"

namespace pmusim::annotate {

/// True for memory without a file, where a JIT compiler may have put code: perf's rule.
bool is_anonymous(const std::string& mapped_name);

/// Where a JIT compiler describes the anonymous code of a process.
std::string jit_map(const std::filesystem::path& directory, u32 pid);
bool is_jit_map(const std::string& path);

}  // namespace pmusim::annotate

#endif
