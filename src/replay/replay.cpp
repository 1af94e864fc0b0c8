// SPDX-License-Identifier: MIT
#include "pmusim/replay/replay.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/kernel_address.h"
#include "core/machine_caches.h"
#include "pmusim/trace/trace.h"
#include "replay/feeder.h"

namespace pmusim {

class Replay::State {
 public:
  State(std::unique_ptr<trace::Source> source, Topology machine, std::vector<std::optional<Feeder>> feeders)
      : source_(std::move(source)),
        machine_(std::move(machine)),
        feeders_(std::move(feeders)),
        feeder_(&*feeders_.front()) {}

  void attach(Pmu& pmu, u32 cpu) {
    core_of(cpu).attach(pmu, machine_.cpus[cpu].thread);
    extended_stale_ = true;
  }
  void run_on(u32 cpu);
  Result<u64, Error> run(u64 at_most);
  void set_ring(ReplayRing ring) { ring_ = ring; }
  const trace::Source& source() const { return *source_; }

 private:
  Feeder& core_of(u32 cpu);
  void join_caches();
  void enter_process(const trace::SideBandRecord& record);
  u64 take(const trace::BlockRun& run);
  void take(const trace::SideBandRecord& record);

  /// `recorded`: by the trace.
  Cpl ring_at(u64 ip, Cpl recorded) const {
    if (ring_ == ReplayRing::user) return recorded;
    return ring_ == ReplayRing::kernel || is_kernel_address(ip) ? Cpl::kernel : Cpl::user;
  }

  std::unique_ptr<trace::Source> source_;
  Topology machine_;
  std::optional<MachineCaches> caches_;         // of several cores
  std::vector<std::optional<Feeder>> feeders_;  // of each core, at its first CPU
  Feeder* feeder_;                              // that runs
  ReplayRing ring_ = ReplayRing::user;
  bool extended_stale_ = true;  // another thread, or the kernel, has brought its own registers
};

Feeder& Replay::State::core_of(u32 cpu) {
  static_cast<void>(machine_.cpus.at(cpu));
  return *feeders_[machine_.first_of_core(cpu)];
}

void Replay::State::run_on(u32 cpu) {
  feeder_ = &core_of(cpu);
  feeder_->resume(machine_.cpus[cpu].thread);
  extended_stale_ = true;
}

/// Where the program begins, as they have to stay where they are from then on.
void Replay::State::join_caches() {
  if (caches_ || std::ranges::count_if(feeders_, [](const auto& core) { return core.has_value(); }) < 2)
    return;
  caches_.emplace(StartState::cold);
  for (u32 cpu = 0; cpu < feeders_.size(); ++cpu)
    if (feeders_[cpu])
      feeders_[cpu]->join(*caches_, {machine_.cpus[cpu].package, machine_.first_of_module(cpu)});
}

Result<u64, Error> Replay::State::run(u64 at_most) {
  join_caches();
  feeder_->synchronize();
  u64 retired = 0;
  while (retired < at_most) {
    const auto item = source_->next();
    if (!item.ok()) return Failure(item.error());
    if (!item->has_value()) break;
    if (const auto* const block_run = std::get_if<trace::BlockRun>(&**item))
      retired += take(*block_run);
    else
      take(std::get<trace::SideBandRecord>(**item));
  }
  return retired;
}

void Replay::State::enter_process(const trace::SideBandRecord& record) {
  if (const auto* const start = std::get_if<trace::ProcessStart>(&record)) caches_->enter(start->pid);
  if (const auto* const to = std::get_if<trace::ThreadSwitch>(&record)) caches_->enter(to->pid);
}

u64 Replay::State::take(const trace::BlockRun& run) {
  if (std::exchange(extended_stale_, extended_stale_ && run.extended == nullptr) && run.extended != nullptr)
    feeder_->set_extended_state(*run.extended);
  feeder_->run(run, ring_at(run.block->start(), run.block->ring), ring_at(run.next_ip, run.next_ring));
  return run.block->instructions.size();
}

void Replay::State::take(const trace::SideBandRecord& record) {
  extended_stale_ = true;
  if (caches_) enter_process(record);
  if (std::holds_alternative<trace::SignalDelivery>(record)) feeder_->interrupt();
  if (const auto* const interrupt = std::get_if<trace::Interrupt>(&record))
    feeder_->enter_handler(*interrupt, ring_at(interrupt->from, interrupt->ring));
}

Result<Replay, Error> Replay::open(const std::string& trace_path, const CpuModel& model) {
  Result<trace::Reader, Error> reader = trace::Reader::open(trace_path);
  if (!reader.ok()) return Failure(reader.error());
  return open(std::make_unique<trace::Reader>(std::move(reader).value()), model);
}

Result<Replay, Error> Replay::open(std::unique_ptr<trace::Source> source, const CpuModel& model) {
  return open(std::move(source), Topology{.name = model.name, .types = {model}, .cpus = {LogicalCpu{}}});
}

Result<Replay, Error> Replay::open(std::unique_ptr<trace::Source> source, Topology machine) {
  std::vector<std::optional<Feeder>> feeders(machine.cpus.size());
  for (u32 cpu = 0; cpu < feeders.size(); ++cpu) {
    if (machine.first_of_core(cpu) != cpu) continue;
    Result<Core, Error> core = Core::create(machine.model(cpu));
    if (!core.ok()) return Failure(core.error());
    feeders[cpu].emplace(std::move(core).value());
  }
  return Replay(std::make_unique<State>(std::move(source), std::move(machine), std::move(feeders)));
}

Replay::Replay(std::unique_ptr<State> state) : state_(std::move(state)) {}
Replay::Replay(Replay&&) noexcept = default;
Replay& Replay::operator=(Replay&&) noexcept = default;
Replay::~Replay() = default;

void Replay::attach(Pmu& pmu) { state_->attach(pmu, 0); }
void Replay::attach(Pmu& pmu, u32 cpu) { state_->attach(pmu, cpu); }
void Replay::run_on(u32 cpu) { state_->run_on(cpu); }
void Replay::set_ring(ReplayRing ring) { state_->set_ring(ring); }
Result<u64, Error> Replay::run(u64 at_most) { return state_->run(at_most); }
const trace::Source& Replay::trace() const { return state_->source(); }

}  // namespace pmusim
