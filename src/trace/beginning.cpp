// SPDX-License-Identifier: MIT
#include "trace/beginning.h"

namespace pmusim::trace {

bool Beginning::tells(const SideBandRecord& record) {
  if (const auto* to = std::get_if<ThreadSwitch>(&record)) running_ = *to;
  if (const auto* exit = std::get_if<ThreadExit>(&record)) {
    if (exit->tid == running_.tid) running_ = {};
    if (exit->tid == emitted_.tid) emitted_ = {};
  }
  return !std::holds_alternative<ThreadSwitch>(record) && !std::holds_alternative<Syscall>(record) &&
         !flushes(record);
}

std::optional<ThreadSwitch> Beginning::switch_before(const SideBandRecord& record) {
  if (!std::holds_alternative<Map>(record) || emitted_.tid != 0) return std::nullopt;
  return switch_at_beginning();
}

std::optional<ThreadSwitch> Beginning::switch_at_beginning() {
  if (running_.tid == 0 || running_ == emitted_) return std::nullopt;
  emitted_ = running_;
  return emitted_;
}

}  // namespace pmusim::trace
