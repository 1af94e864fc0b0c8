// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_PAGE_MAP_H
#define PMUSIM_SRC_LIVE_PAGE_MAP_H

#include <optional>

#include "live/file_descriptor.h"
#include "pmusim/base/types.h"

namespace pmusim::live {

/// A process's page tables, as the kernel tells them in /proc/PID/pagemap.
class PageMap {
 public:
  static constexpr u64 page_bytes = 4096;

  /// Nothing where the process is not to be looked into.
  static std::optional<PageMap> of(u32 pid);
  /// Whether this process sees physical addresses (CAP_SYS_ADMIN of the whole machine), too.
  static bool tells_frames();

  /// Whether a page (by its number, address / page_bytes) is in memory; so it seems where nobody tells.
  bool is_present(u64 page) const;
  /// Nothing where no page is in memory, or its frame is kept from this process.
  std::optional<u64> physical_address(u64 address) const;

 private:
  explicit PageMap(FileDescriptor entries) : entries_(std::move(entries)) {}
  std::optional<u64> entry(u64 page) const;

  FileDescriptor entries_;
};

}  // namespace pmusim::live

#endif
