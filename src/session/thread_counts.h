// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_THREAD_COUNTS_H
#define PMUSIM_SRC_SESSION_THREAD_COUNTS_H

#include <map>

#include "pmusim/session/stat.h"

namespace pmusim {

/// Divides counts among the threads of a program: what was counted between two switches belongs to the
/// thread that ran.
class ThreadCounts {
 public:
  /// To be called for every side-band record, with the counts so far.
  void on_side_band(const trace::SideBandRecord& record, const std::vector<EventTotal>& now);
  /// The run is over.
  void finish(const std::vector<EventTotal>& now) { attribute(now); }
  /// Whether this side-band record needs counts.
  static bool matters(const trace::SideBandRecord& record);

  std::vector<ThreadTotals> take() { return std::move(threads_); }

 private:
  void attribute(const std::vector<EventTotal>& now);
  void run(u32 pid, u32 tid);
  void rename(u32 tid, std::string command);

  std::map<u32, std::string> commands_;
  std::vector<ThreadTotals> threads_;
  std::size_t running_ = ~std::size_t{0};  // index into threads_
  std::vector<EventTotal> before_;
};

}  // namespace pmusim

#endif
