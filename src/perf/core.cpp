// SPDX-License-Identifier: MIT
#include <algorithm>

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
    : hardware_(hardware),
      software_(*this),
      options_(options),
      scheduler_(std::make_unique<Scheduler>(hardware, software_)),
      target_(&unknown_target) {
  scheduler_->cpu().enter(0);
  scheduler_->on_unthrottle = [this](Event& event) {
    event.hw.interrupts = 0;
    log_throttle(event, RecordType::unthrottle);
  };
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
