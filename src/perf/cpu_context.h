// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_CPU_CONTEXT_H
#define PMUSIM_SRC_PERF_CPU_CONTEXT_H

#include <vector>

#include "perf/context.h"
#include "perf/pmus.h"
#include "perf/scheduler.h"
#include "perf/software_pmu.h"
#include "pmusim/perf/core.h"

namespace pmusim::perf {

class LinuxCore;

/// What the core keeps of a CPU: who runs there, the time, its PMUs, and what is scheduled on them.
struct CpuContext final : public PerfCpu {
  CpuContext(LinuxCore& owner, u32 n);
  CpuContext(const CpuContext&) = delete;
  CpuContext& operator=(const CpuContext&) = delete;

  LinuxCore& core;
  const u32 id;
  const Target* target;
  u64 time = 0;  ///< perf time, ns
  u64 ticks = 0;
  bool throttled_since_tick = false;
  bool online = true;
  Task* current = nullptr;  ///< null: idle
  SoftwarePmu software;
  Pmus pmus;
  Scheduler scheduler;
  std::vector<Event*> to_disable;  ///< reached their event limit in an interrupt

  /// Events of the CPU, whoever runs on it.
  Context& context() { return scheduler.cpu(); }

  // PerfCpu
  u32 number() const override { return id; }
  void set_target(const Target& what) override { target = &what; }
  void set_time(u64 now) override;
  void advance(u64 now, const InterruptFrame& frame) override;
  u64 next_deadline() const override;
  void switch_to(u32 tid, SwitchReason reason) override;
  u32 current_tid() const override { return current != nullptr ? current->tid : 0; }
  void load_guest() override;
  void put_guest() override { scheduler.put_guest(); }
  void set_online(bool now_online) override;
  void count_software(SoftwareId kind, u64 n, u64 address, const InterruptFrame& frame) override {
    software.count(kind, n, address, frame);
  }

  // SampleSink
  Verdict overflow(Event& event, const SampleData& data, const InterruptFrame& frame) override;
  void output(Event& event, const SampleData& data, const InterruptFrame& frame) override;
  std::optional<SampleTemplate> sample_template(const Event& event,
                                                const InterruptFrame& frame) const override;
  void lost_samples(Event& event, u64 count) override;
  Verdict account_interrupt(Event& event) override;
  u64 time_of_tsc(u64 tsc) const override;
  u64 now() const override { return time; }
  std::vector<std::byte> read_code(u64 address, std::size_t bytes) const override {
    return target->read_code(address, bytes);
  }
};

/// Whether what happens to its task on this CPU is written for the event.
inline bool is_heard(const CpuContext& cpu, const Event& event) {
  return event.state >= EventState::inactive && (event.cpu == -1 || static_cast<u32>(event.cpu) == cpu.id) &&
         (event.cgroup == nullptr || event.cgroup->watch.runs());
}

}  // namespace pmusim::perf

#endif
