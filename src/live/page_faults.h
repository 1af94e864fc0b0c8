// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_PAGE_FAULTS_H
#define PMUSIM_SRC_LIVE_PAGE_FAULTS_H

#include <array>
#include <optional>
#include <set>

#include "live/page_map.h"
#include "pmusim/perf/abi.h"

namespace pmusim::live {

bool counts_page_faults(const perf::Attr& attr);

/// Page faults of a task in user mode, as this machine's kernel counts them: single steps do not change them,
/// so each can be attributed to its instruction.
class PageFaults {
 public:
  struct Count {
    u64 all = 0;  ///< those that end in a signal included
    u64 minor = 0, major = 0;
  };

  /// Of a thread, from now on. None, with errno, where the kernel forbids it.
  static std::optional<PageFaults> of(u32 tid);
  /// Before the supervisor reads an instruction, and so brings in a page in the program's place.
  void code_is_read(u64 ip);
  /// The instruction between these addresses is executed: it would have brought in its pages by itself.
  void executes(u64 ip, u64 end);
  /// Those since the call before this one.
  Count take();

 private:
  PageFaults(std::array<FileDescriptor, 3> group, PageMap pages)
      : group_(std::move(group)), pages_(std::move(pages)) {}

  std::array<FileDescriptor, 3> group_;  // as in Count
  PageMap pages_;
  std::set<u64> brought_in_;  // pages, by number
  u64 fetches_ = 0;           // that would have brought one in
  Count taken_;
};

}  // namespace pmusim::live

#endif
