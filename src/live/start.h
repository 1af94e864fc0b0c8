// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_START_H
#define PMUSIM_SRC_LIVE_START_H

#include <csignal>

#include "live/keeper.h"
#include "live/listener.h"
#include "live/machine_view.h"
#include "pmusim/base/types.h"

namespace pmusim::live {

/// A program under the filter, about to begin.
struct Started {
  Keeper keeper;  ///< of its process
  Listener listener;
  Shown shown;  ///< of the machine
};

/// Starts `command` as a process that sees `view`, under the filter, with this signal mask. Errors: what is
/// forbidden here, or the program cannot be started; nothing is left running then.
Result<Started, Error> start(const std::vector<std::string>& command, const MachineView& view,
                             NumberRange numbers, const sigset_t& signal_mask);

}  // namespace pmusim::live

#endif
