// SPDX-License-Identifier: MIT
#include "session/engine.h"

#include <fmt/format.h>

#include <utility>

#include "core/core.h"
#include "session/block_engine.h"

namespace pmusim {

namespace {

/// The whole core, an instruction at a time.
class IntervalEngine final : public Engine {
 public:
  explicit IntervalEngine(Core core) : core_(std::move(core)) {}

  void add(Monitor& monitor) override { monitors_.push_back(&monitor); }
  void run(const trace::BlockRun& run) override {
    for (Monitor* const monitor : monitors_) monitor->start_block(run);
    core_.run(run, [&](const Retirement& retirement) {
      for (Monitor* const monitor : monitors_) monitor->retire(retirement);
    });
    for (Monitor* const monitor : monitors_) monitor->finish_block(run);
    // The first monitor's processor is the one that runs.
    core_.obey_prediction_barriers(monitors_.front()->pmu().prediction_barriers());
  }
  void settle() override {}
  void interrupt() override { core_.interrupt(); }

 private:
  Core core_;
  std::vector<Monitor*> monitors_;
};

Result<std::unique_ptr<Engine>, Error> interval_engine(const CpuModel& model) {
  auto core = Core::create(model);
  if (!core.ok()) return Failure(core.error());
  return std::unique_ptr<Engine>(std::make_unique<IntervalEngine>(std::move(core).value()));
}

Result<std::unique_ptr<Engine>, Error> block_engine(Result<BlockCore, Error> core, Stepping stepping) {
  if (!core.ok()) return Failure(core.error());
  return std::unique_ptr<Engine>(std::make_unique<BlockEngine>(std::move(core).value(), stepping));
}

}  // namespace

Result<std::unique_ptr<Engine>, Error> make_engine(const SessionOptions& options,
                                                   const trace::Contents& contents) {
  if (options.core != CoreLevel::interval && contents.timing)
    return Failure(Error(
        fmt::format("core '{}' has a time of its own, and this trace holds recorded time: core 'interval' "
                    "goes by it",
                    name_of(options.core))));
  // Extended registers are told with each instruction that changes them; and where PMIs take time, the core's
  // cycles are not the PMU's.
  const bool one_by_one = contents.extended || options.model.policies.pmi_cost_cycles != 0;
  const Stepping stepping = one_by_one ? Stepping::instructions : options.stepping;
  switch (options.core) {
    case CoreLevel::interval:
      break;
    case CoreLevel::simple:
      return block_engine(BlockCore::simple(options.model), stepping);
    case CoreLevel::flat:
      return block_engine(BlockCore::flat(options.model), stepping);
  }
  return interval_engine(options.model);
}

}  // namespace pmusim
