// SPDX-License-Identifier: MIT
#include "session/engine.h"

#include <fmt/format.h>

#include <utility>

#include "session/block_engine.h"
#include "session/sampling_cost.h"

namespace pmusim {

namespace {

template <class Core>
Result<std::unique_ptr<Engine>, Error> block_engine(Result<Core, Error> core, Stepping stepping) {
  if (!core.ok()) return Failure(core.error());
  return std::unique_ptr<Engine>(std::make_unique<BlockEngine<Core>>(std::move(core).value(), stepping));
}

}  // namespace

Result<std::unique_ptr<Engine>, Error> make_engine(const SessionOptions& options,
                                                   const trace::Contents& contents) {
  if (options.core != CoreLevel::interval && contents.timing)
    return Failure(Error(
        fmt::format("core '{}' has a time of its own, and this trace holds recorded time: core 'interval' "
                    "goes by it",
                    name_of(options.core))));
  if (options.core == CoreLevel::sampled && contents.kernel)
    return Failure(
        Error("core 'sampled' has windows of user mode, and this program has code at ring 0: core 'interval' "
              "runs all of it"));
  if (options.core == CoreLevel::sampled && options.machine)
    return Failure(
        Error("core 'sampled' has windows of one CPU, and a machine has several: core 'interval' runs all of "
              "them"));
  if (!options.model.has_timing_model && options.core != CoreLevel::flat)
    return Failure(Error(
        fmt::format("there is no timing model of {}, which core '{}' needs: '--core flat' replays it, an "
                    "instruction in a cycle",
                    options.model.title, name_of(options.core))));
  // Extended registers come with each instruction that changes them; where sampling takes time, the
  // core's cycles are not the PMU's; and of recorded time a cycle may hold any number of instructions.
  const bool one_by_one = contents.extended || contents.timing || sampling_takes_time(options.model.policies);
  const Stepping stepping = one_by_one ? Stepping::instructions : options.stepping;
  switch (options.core) {
    case CoreLevel::interval:
      break;
    case CoreLevel::sampled:
      return block_engine(SampledCore::create(options.model, contents, options.windows), stepping);
    case CoreLevel::memory:
      return block_engine(MemoryCore::create(options.model, contents), stepping);
    case CoreLevel::simple:
      return block_engine(BlockCore::simple(options.model), stepping);
    case CoreLevel::flat:
      return block_engine(BlockCore::flat(options.model), stepping);
  }
  return block_engine(IntervalCore::create(options.model, contents), stepping);
}

}  // namespace pmusim
