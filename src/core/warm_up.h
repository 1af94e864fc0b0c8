// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_WARM_UP_H
#define PMUSIM_SRC_CORE_WARM_UP_H

#include <concepts>
#include <utility>

#include "pmusim/base/types.h"
#include "pmusim/trace/trace.h"

namespace pmusim {

/// Runs a program on a copy of a core (BlockCore or IntervalCore) that has run nothing yet; the core then
/// begins with what the caches, TLBs and predictors of the copy hold. Asks now and then whether to go on.
/// Errors: those of the program.
template <class BlocksCore, std::predicate GoOn>
Result<Done, Error> warm_up(BlocksCore& core, trace::Source& program, GoOn&& go_on) {
  constexpr u64 ask_every = 1 << 18;  // instructions
  BlocksCore copy = core;
  for (u64 left = ask_every;;) {
    const Result<trace::NextItem, Error> item = program.next();
    if (!item.ok()) return Failure(item.error());
    if (!item->has_value()) break;
    const auto* const run = std::get_if<trace::BlockRun>(&**item);
    if (run == nullptr) {
      if (trace::flushes(std::get<trace::SideBandRecord>(**item))) copy.interrupt();
      continue;
    }
    copy.execute(*run);
    if (left > run->block->instructions.size()) {
      left -= run->block->instructions.size();
      continue;
    }
    if (!go_on()) break;
    left = ask_every;
  }
  core.warm_from(copy);
  return Done{};
}

}  // namespace pmusim

#endif
