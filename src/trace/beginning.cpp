// SPDX-License-Identifier: MIT
#include "trace/beginning.h"

namespace pmusim::trace {

bool Beginning::tells(const Happening& happening) {
  if (const auto* to = std::get_if<ThreadSwitch>(&happening)) running_ = *to;
  if (const auto* exit = std::get_if<ThreadExit>(&happening)) {
    if (exit->tid == running_.tid) running_ = {};
    if (exit->tid == told_.tid) told_ = {};
  }
  return !std::holds_alternative<ThreadSwitch>(happening) && !std::holds_alternative<Syscall>(happening) &&
         !std::holds_alternative<SignalDelivery>(happening);
}

std::optional<ThreadSwitch> Beginning::switch_before(const Happening& happening) {
  if (!std::holds_alternative<Map>(happening) || told_.tid != 0) return std::nullopt;
  return switch_at_beginning();
}

std::optional<ThreadSwitch> Beginning::switch_at_beginning() {
  if (running_.tid == 0 || running_ == told_) return std::nullopt;
  told_ = running_;
  return told_;
}

}  // namespace pmusim::trace
