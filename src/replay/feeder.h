// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_REPLAY_FEEDER_H
#define PMUSIM_SRC_REPLAY_FEEDER_H

#include <map>
#include <utility>
#include <vector>

#include "core/core.h"
#include "core/recorded_instruction.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim {

/// A core with the PMUs that it tells of its retirements, each in its own time. Of a core's threads one runs
/// at a time, the first at first.
class Feeder {
 public:
  explicit Feeder(Core core) : core_(std::move(core)) {}

  void attach(Pmu& pmu, u32 thread = 0) {
    (thread == thread_ ? pmus_ : others_[thread]).push_back({&pmu, 0});
  }
  void join(MachineCaches& machine, const CorePlace& place) { core_.join(machine, place); }
  /// That thread runs from now on, in its PMUs' time.
  void resume(u32 thread) {
    if (thread != thread_) others_[thread_] = std::exchange(pmus_, std::exchange(others_[thread], {}));
    thread_ = thread;
    synchronize();
  }

  /// From here on the core's next cycle is the next one of each PMU, whatever became of their time meanwhile.
  void synchronize() {
    for (Fed& fed : pmus_) fed.offset_cycles = fed.pmu->now() - core_.cycle();
  }
  /// At ring `cpl`; `cpl_after` is where the last instruction leads to.
  void run(const trace::BlockRun& block_run, Cpl cpl, Cpl cpl_after);
  void interrupt() { core_.interrupt(); }
  void enter_handler(const trace::Interrupt& interrupt, Cpl cpl);
  void set_extended_state(const ExtendedState& state) {
    for (const Fed& fed : pmus_) fed.pmu->set_extended_state(&state);
  }

 private:
  struct Fed {
    Pmu* pmu;
    u64 offset_cycles;  // from the core's time to the PMU's, modulo 2^64
  };

  Core core_;
  std::vector<Fed> pmus_;                   // of the thread that runs
  std::map<u32, std::vector<Fed>> others_;  // by thread
  u32 thread_ = 0;                          // that runs
};

inline void Feeder::run(const trace::BlockRun& block_run, Cpl cpl, Cpl cpl_after) {
  const u64 last_ip = block_run.block->instructions.back().ip;
  core_.run(block_run, [&](const Retirement& retirement) {
    for (const Fed& fed : pmus_) {
      Retirement mine = retirement;
      mine.cycle += fed.offset_cycles;
      mine.cpl = cpl;
      mine.cpl_after = retirement.ip == last_ip ? cpl_after : cpl;
      fed.pmu->retire(mine);
    }
  });
  if (!pmus_.empty()) core_.obey_prediction_barriers(pmus_.front().pmu->prediction_barriers());
}

inline void Feeder::enter_handler(const trace::Interrupt& interrupt, Cpl cpl) {
  core_.interrupt();
  for (const Fed& fed : pmus_)
    fed.pmu->retire(handler_entry(interrupt, cpl, core_.cycle() + fed.offset_cycles));
}

}  // namespace pmusim

#endif
