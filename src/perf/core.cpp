// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "perf/linux_core.h"

namespace pmusim::perf {

std::unique_ptr<PerfCore> PerfCore::create(PmuDriver& hardware, CoreOptions options) {
  return std::make_unique<LinuxCore>(hardware, options);
}

std::unique_ptr<PerfCore> PerfCore::create(std::span<PmuDriver* const> hardware, CoreOptions options) {
  return std::make_unique<LinuxCore>(hardware, options);
}

LinuxCore::LinuxCore(PmuDriver& hardware, CoreOptions options) : LinuxCore(std::array{&hardware}, options) {}

LinuxCore::LinuxCore(std::span<PmuDriver* const> hardware, CoreOptions options) : options_(options) {
  if (hardware.empty()) throw std::invalid_argument("perf core: there is no CPU");
  options_.cpus = std::max(options_.cpus, options_.cpu + static_cast<u32>(hardware.size()));
  cpus_.resize(options_.cpus);
  std::vector<PmuDriver*> software;
  for (u32 number = options_.cpu; number < options_.cpu + hardware.size(); ++number) {
    cpus_[number] = std::make_unique<CpuContext>(*this, number);
    software.push_back(&cpus_[number]->software);
  }
  pmus_.push_back({static_cast<u32>(EventType::software), std::move(software)});
  add_pmu(options_.pmu_type, hardware);
}

void LinuxCore::register_pmu(u32 type, PmuDriver& pmu) {
  std::vector<PmuDriver*> by_cpu(pmus_.front().drivers.size());
  by_cpu.front() = &pmu;
  register_pmu(type, by_cpu);
}

void LinuxCore::register_pmu(u32 type, std::span<PmuDriver* const> by_cpu) {
  const bool is_generic = type <= static_cast<u32>(EventType::breakpoint);
  if (is_generic || std::ranges::find(pmus_, type, &PmuType::type) != pmus_.end())
    throw std::invalid_argument(fmt::format("register_pmu: type {} is taken", type));
  add_pmu(type, by_cpu);
}

void LinuxCore::add_pmu(u32 type, std::span<PmuDriver* const> by_cpu) {
  const std::size_t cpus = pmus_.front().drivers.size();
  if (by_cpu.size() != cpus)
    throw std::invalid_argument(
        fmt::format("PMU of type {}: {} drivers for {} CPUs", type, by_cpu.size(), cpus));
  if (std::ranges::all_of(by_cpu, [](const PmuDriver* driver) { return driver == nullptr; }))
    throw std::invalid_argument(fmt::format("PMU of type {}: no CPU has a driver", type));
  pmus_.push_back({type, {by_cpu.begin(), by_cpu.end()}});
  for (std::size_t n = 0; n < cpus; ++n) cpus_[options_.cpu + n]->pmus.add(by_cpu[n]);
}

LinuxCore::~LinuxCore() {
  while (!events_.empty()) remove(*events_.back());
}

CpuContext* LinuxCore::find_cpu(i32 number) const {
  return number >= 0 && static_cast<std::size_t>(number) < cpus_.size()
             ? cpus_[static_cast<std::size_t>(number)].get()
             : nullptr;
}

CpuContext& LinuxCore::cpu(u32 number) {
  CpuContext* const found = find_cpu(static_cast<i32>(number));
  if (found == nullptr) throw std::out_of_range(fmt::format("perf core: CPU {} has no driver", number));
  return *found;
}

/// Where it runs, or has been last.
CpuContext& LinuxCore::cpu_of(const Task& task) {
  CpuContext* const where = task.on != nullptr ? task.on : task.last;
  return where != nullptr ? *where : first();
}

CpuContext& LinuxCore::cpu_of(const Event& event) {
  if (const Task* const task = event.context->task()) return cpu_of(*task);
  CpuContext* const own = find_cpu(event.cpu);
  return own != nullptr ? *own : first();
}

std::vector<Event*> LinuxCore::events() const {
  std::vector<Event*> all;
  for (const auto& event : events_) all.push_back(event.get());
  return all;
}

}  // namespace pmusim::perf
