// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_BUILD_ID_H
#define PMUSIM_TRACE_BUILD_ID_H

#include <span>
#include <string>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::trace {

/// The GNU build id of an ELF file; empty where there is none or the file is not one.
std::vector<u8> build_id_of_file(const std::string& path);
/// The same of an ELF image in memory (the vDSO).
std::vector<u8> build_id_of_image(std::span<const std::byte> image);

}  // namespace pmusim::trace

#endif
