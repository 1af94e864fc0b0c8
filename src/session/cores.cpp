// SPDX-License-Identifier: MIT
#include "session/cores.h"

#include <algorithm>
#include <utility>

namespace pmusim {

/// An engine for each core, at the number of its first CPU.
Result<std::unique_ptr<Cores>, Error> Cores::create(const SessionOptions& options,
                                                    const trace::Contents& contents) {
  std::vector<std::unique_ptr<Engine>> engines(options.machine ? options.machine->cpus.size() : 1);
  for (u32 cpu = 0; cpu < engines.size(); ++cpu) {
    SessionOptions core = options;
    if (options.machine) {
      if (options.machine->first_of_core(cpu) != cpu) continue;
      core.model = options.machine->model(cpu);
    }
    auto engine = make_engine(core, contents);
    if (!engine.ok()) return Failure(engine.error());
    engines[cpu] = std::move(engine).value();
  }
  return std::unique_ptr<Cores>(new Cores(options, std::move(engines)));
}

Cores::Cores(const SessionOptions& options, std::vector<std::unique_ptr<Engine>> engines)
    : machine_(options.machine),
      start_(options.start),
      tick_ns_(options.tick_ns),
      engines_(std::move(engines)),
      engine_(engines_.front().get()) {
  if (machine_) placement_.emplace(*machine_, options.schedule);
}

void Cores::add(Monitor& monitor) {
  monitors_.push_back(&monitor);
  for (u32 cpu = 0; cpu < monitor.cpus(); ++cpu) {
    const u32 first = machine_ ? machine_->first_of_core(cpu) : cpu;
    engines_[first]->add(monitor.cpu(cpu), machine_ ? machine_->cpus[cpu].thread : 0);
  }
}

void Cores::start(u32 tid) {
  tid_ = tid;
  resume_on(placement_->place(tid));
}

/// One core is as it is without a machine.
void Cores::join_caches(u32 pid) {
  const auto is_core = [](const std::unique_ptr<Engine>& engine) { return engine != nullptr; };
  if (std::ranges::count_if(engines_, is_core) < 2) return;
  caches_.emplace(start_);
  enter(pid);
  join(*caches_, [this](u32 cpu) {
    return CorePlace{machine_->cpus[cpu].package, machine_->first_of_module(cpu)};
  });
}

void Cores::join_caches(u32 pid, const MachinePart& part) {
  common_ = part.caches;
  program_ = part.program;
  enter(pid);
  join(common_->caches(), [&](u32 cpu) { return part.places[cpu]; });
}

void Cores::join(MachineCaches& caches, const std::function<CorePlace(u32)>& place) {
  for (u32 cpu = 0; cpu < engines_.size(); ++cpu)
    if (engines_[cpu] != nullptr) engines_[cpu]->join(caches, place(cpu));
}

void Cores::enter(u32 pid) {
  pid_ = pid;
  if (common_ != nullptr) common_->enter(program_, pid);
  if (caches_) caches_->enter(pid);
}

/// What runs until now has stopped there.
void Cores::resume_on(u32 cpu) {
  cpu_ = cpu;
  engine_ = engines_[machine_->first_of_core(cpu)].get();
  engine_->resume(machine_->cpus[cpu].thread);
}

/// Where the thread runs that runs after the record.
u32 Cores::cpu_for(const trace::SideBandRecord& record) {
  if (!placement_) return 0;
  if (const auto* const start = std::get_if<trace::ThreadStart>(&record))
    placement_->start(start->tid, start->parent_tid);
  if (const auto* const exit = std::get_if<trace::ThreadExit>(&record)) placement_->exit(exit->tid);
  if (const auto* const to = std::get_if<trace::ThreadSwitch>(&record)) {
    tid_ = to->tid;
    return placement_->place(tid_);
  }
  return cpu_;
}

void Cores::on_side_band(const trace::SideBandRecord& record) {
  const u32 cpu = cpu_for(record);
  for (Monitor* const monitor : monitors_) monitor->on_side_band(record, cpu);
  if (cpu != cpu_) resume_on(cpu);
  if (const auto* const to = std::get_if<trace::ThreadSwitch>(&record)) enter(to->pid);
}

void Cores::run(const trace::BlockRun& run) {
  engine_->run(run);
  if (placement_) move_after_tick();
}

void Cores::move_after_tick() {
  const u64 ticks = monitors_.front()->now() / tick_ns_;
  if (ticks == std::exchange(ticks_, ticks)) return;
  const u32 cpu = placement_->after_tick(tid_);
  if (cpu == cpu_) return;
  engine_->settle();
  migrate(cpu);
}

void Cores::migrate(u32 cpu) {
  for (Monitor* const monitor : monitors_) monitor->migrate(cpu);
  resume_on(cpu);
}

void Cores::allow(u32 tid, std::vector<u32> cpus) {
  placement_->allow(tid, std::move(cpus));
  if (tid != tid_) return;
  if (const u32 cpu = placement_->place(tid); cpu != cpu_) migrate(cpu);
}

}  // namespace pmusim
