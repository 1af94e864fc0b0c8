// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "perf/linux_core.h"
#include "perf/scheduler.h"

namespace pmusim::perf {

namespace {
const Target unknown_target;
}

std::unique_ptr<PerfCore> PerfCore::create(PmuDriver& hardware, CoreOptions options) {
  return std::make_unique<LinuxCore>(hardware, options);
}

LinuxCore::LinuxCore(PmuDriver& hardware, CoreOptions options)
    : options_(options),
      pmus_(options.pmu_type, hardware),
      software_(*this),
      scheduler_(std::make_unique<Scheduler>(pmus_, software_)),
      target_(&unknown_target) {
  scheduler_->cpu().enter(0);
  scheduler_->on_unthrottle = [this](Event& event) {
    event.hw.interrupts = 0;
    log_throttle(event, RecordType::unthrottle);
  };
}

void LinuxCore::register_pmu(u32 type, PmuDriver& pmu) {
  const bool is_generic = type <= static_cast<u32>(EventType::breakpoint);
  if (is_generic || pmus_.find(type) != nullptr)
    throw std::invalid_argument(fmt::format("register_pmu: type {} is taken", type));
  pmus_.add(type, pmu);
}

LinuxCore::~LinuxCore() {
  while (!events_.empty()) remove(*events_.back());
}

std::vector<Event*> LinuxCore::events() const {
  std::vector<Event*> all;
  for (const auto& event : events_) all.push_back(event.get());
  return all;
}

u32 LinuxCore::current_tid() const { return current_ ? current_->tid : 0; }

std::vector<std::byte> LinuxCore::read_code(u64 address, std::size_t bytes) const {
  return target_->read_code(address, bytes);
}

void LinuxCore::count_software(SoftwareId id, u64 n, u64 address, const InterruptFrame& frame) {
  software_.count(id, n, address, frame);
}

}  // namespace pmusim::perf
