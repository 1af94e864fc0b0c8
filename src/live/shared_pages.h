// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_SHARED_PAGES_H
#define PMUSIM_SRC_LIVE_SHARED_PAGES_H

#include <memory>
#include <optional>

#include "live/file_descriptor.h"
#include "pmusim/base/types.h"

namespace pmusim::live {

/// Zeroed memory of this process that another can map, too.
struct SharedPages {
  FileDescriptor file;
  std::shared_ptr<std::byte> memory;  ///< unmapped with its last owner
};

/// Nothing where there is no memory. The file cannot be cut: what is mapped here stays readable.
std::optional<SharedPages> make_shared_pages(std::size_t bytes);

}  // namespace pmusim::live

#endif
