// SPDX-License-Identifier: MIT
// A PMU of one's own beside that of the core: a counter of bytes read from memory, under the perf_event core
// as a kernel has it.
#include <cerrno>
#include <cstdio>
#include <string>

#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"
#include "pmusim/driver/drivers.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perf/core.h"
#include "pmusim/perf/driver.h"
#include "pmusim/pmu/pmu.h"

using namespace pmusim;

namespace {

/// Counts without end and without interrupts, so that events differ only in when they began.
class MemoryTraffic final : public perf::PmuDriver {
 public:
  static constexpr u32 type = 20;  ///< attr.type, which sysfs says in a kernel

  void read_from_memory(u64 bytes) { bytes_ += bytes; }

  perf::PmuCapabilities capabilities() const override {
    return {.interrupts = false, .extended_type = false, .name = "memory_traffic"};
  }
  Result<Done, KernelError> init(perf::Event& event) override {
    if (event.attr.config == 0) return Done{};
    return Failure(KernelError(EINVAL, "config: memory_traffic has event 0 alone"));
  }
  void destroy(perf::Event&) override {}
  void disable() override {}
  void enable() override {}
  void begin() override {}
  bool commit() override { return true; }
  void cancel() override {}
  bool add(perf::Event& event) override { return start(event, StartMode::keep_period), true; }
  void remove(perf::Event& event) override { stop(event, StopMode::update); }
  void start(perf::Event& event, StartMode) override {
    event.hw.previous_count = bytes_;
    event.hw.stopped = false;
  }
  void stop(perf::Event& event, StopMode) override {
    read(event);
    event.hw.stopped = true;
  }
  void read(perf::Event& event) override {
    if (!event.hw.stopped) event.count += bytes_ - event.hw.previous_count;
    event.hw.previous_count = bytes_;
  }
  void context_switch(SwitchDirection, perf::TaskId) override {}

 private:
  u64 bytes_ = 0;
};

u64 count_of(perf::PerfCore& perf, perf::Event& event) { return perf.read(event).value().front(); }

}  // namespace

int main() try {
  Pmu pmu(*find_cpu_model("skylake"));
  const auto core_driver = driver::create_driver(pmu);
  MemoryTraffic traffic;
  const auto perf = perf::PerfCore::create(*core_driver);
  perf->register_pmu(MemoryTraffic::type, traffic);
  core_driver->attach(perf->cpu(0));
  perf->task_started(7, 7, "program");
  perf->cpu(0).switch_to(7);

  perf::Attr bytes;
  bytes.type = MemoryTraffic::type;
  perf::Event& of_task = *perf->open(bytes, 7, -1).value();
  perf::Event& of_cpu = *perf->open(bytes, -1, 0).value();
  traffic.read_from_memory(6400);
  perf->cpu(0).switch_to(0);  // idle, but for a device
  traffic.read_from_memory(128);
  std::printf("%llu bytes while the task ran, %llu in all\n",
              static_cast<unsigned long long>(count_of(*perf, of_task)),
              static_cast<unsigned long long>(count_of(*perf, of_cpu)));

  bytes.config = 1;
  const auto refused = perf->open(bytes, 7, -1);
  std::printf("event 1: %s\n", refused.ok() ? "taken" : refused.error().message.c_str());
  const bool right = count_of(*perf, of_task) == 6400 && count_of(*perf, of_cpu) == 6528 && !refused.ok();
  perf->close(of_task);
  perf->close(of_cpu);
  return right ? 0 : 1;
} catch (const NoValue& refused) {
  return std::fprintf(stderr, "%s\n", refused.what()), 2;
}
