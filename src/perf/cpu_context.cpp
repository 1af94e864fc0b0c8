// SPDX-License-Identifier: MIT
#include "perf/cpu_context.h"

#include "perf/linux_core.h"

namespace pmusim::perf {

namespace {
const Target unknown_target;
}

CpuContext::CpuContext(LinuxCore& owner, u32 n)
    : core(owner),
      id(n),
      target(&unknown_target),
      software(*this),
      scheduler(static_cast<i32>(n), pmus, time) {
  pmus.add(&software);
  scheduler.on_unthrottle = [this](Event& event) { core.unthrottled(*this, event); };
}

void CpuContext::set_time(u64 now) { core.set_time(*this, now); }
void CpuContext::advance(u64 now, const InterruptFrame& frame) { core.advance(*this, now, frame); }
u64 CpuContext::next_deadline() const { return core.next_deadline(*this); }
void CpuContext::switch_to(u32 tid, SwitchReason reason) { core.switch_to(*this, tid, reason); }

void CpuContext::load_guest() {
  std::vector<u32> places;
  for (u32 place = pmu_place::CORE; place < pmus.size(); ++place)
    if (pmus[place] != nullptr && pmus[place]->capabilities().mediated_guests) places.push_back(place);
  scheduler.load_guest(places);
}

void CpuContext::set_online(bool now_online) {
  if (online && !now_online) core.leave(*this);
  online = now_online;
}

SampleSink::Verdict CpuContext::overflow(Event& event, const SampleData& data, const InterruptFrame& frame) {
  return core.overflow(*this, event, data, frame);
}
void CpuContext::output(Event& event, const SampleData& data, const InterruptFrame& frame) {
  core.write_sample(*this, event, data, frame);
}
std::optional<SampleTemplate> CpuContext::sample_template(const Event& event,
                                                          const InterruptFrame& frame) const {
  return core.sample_template(*this, event, frame);
}
void CpuContext::lost_samples(Event& event, u64 count) { core.lost_samples(*this, event, count); }
SampleSink::Verdict CpuContext::account_interrupt(Event& event) {
  return core.account_interrupt(*this, event);
}
u64 CpuContext::time_of_tsc(u64 tsc) const { return core.time_of_tsc(tsc); }

}  // namespace pmusim::perf
