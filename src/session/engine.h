// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_ENGINE_H
#define PMUSIM_SRC_SESSION_ENGINE_H

#include <functional>
#include <memory>
#include <vector>

#include "core/machine_caches.h"
#include "session/monitored_cpu.h"

namespace pmusim {

/// What makes time of a program: a core of some level, in steps of some size, under the eyes of monitors. The
/// rest of a session does not know which. Of the CPUs that are one core's threads one runs at a time, on the
/// same caches and predictors.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  /// A thread of this core under another monitor, before the first block; it must outlive the engine.
  virtual void add(MonitoredCpu& cpu, u32 thread = 0) = 0;
  /// That thread runs from now on, which has been halted. The first runs at first.
  virtual void resume(u32 thread) = 0;
  /// A block runs, and the monitors get it: at once, or when they are asked to settle.
  virtual void run(const trace::BlockRun& run) = 0;
  /// The monitors know all that ran. Needed before anybody looks at them or tells them of something else.
  virtual void settle() = 0;
  /// The program is over, and the monitors know all of it.
  virtual void finish() { settle(); }
  /// Called behind each window of core `sampled`, with how many instructions it had, when the monitors know
  /// all of them; never at other levels.
  virtual void on_window(std::function<void(u64)>) {}
  /// Before the first block: the core begins with what a run of the program leaves in caches, TLBs and
  /// predictors. Asks now and then whether to go on. Errors: those of the program.
  virtual Result<Done, Error> warm_up(trace::Source& program, const std::function<bool()>& go_on) = 0;
  /// Behind warm_up(), before the first block: the core's caches are those of a core of this machine, which
  /// must outlive the engine. Nothing at levels that have no caches.
  virtual void join(MachineCaches& machine, const CorePlace& place) = 0;
  /// A signal enters its handler.
  virtual void interrupt() = 0;
  /// An interrupt or exception enters its handler, behind settle().
  virtual void enter_handler(const trace::Interrupt& interrupt) = 0;
};

/// Errors: the model's parameters make no machine; a core that does not go by recorded time, for a program
/// that has one; windows on a machine of many CPUs.
Result<std::unique_ptr<Engine>, Error> make_engine(const SessionOptions& options,
                                                   const trace::Contents& contents);

}  // namespace pmusim

#endif
