// SPDX-License-Identifier: MIT
#include <bit>

#include "perf/linux_core.h"
#include "perf/refusal.h"

/// mmap() and the ioctls of an event (Linux: perf_mmap, _perf_ioctl).
namespace pmusim::perf {

namespace {

/// The kernel keeps pointers to a buffer's pages in one piece of memory, of at most 4 MiB (rb_alloc).
constexpr std::size_t max_data_pages = std::size_t{1} << 18;

}  // namespace

using Outcome = Result<Done, KernelError>;

/// On the CPU where the event is, if it can be there.
void LinuxCore::reschedule(Event& changed) {
  Event* const event = &changed;
  Scheduler& scheduler = cpu_of(changed).scheduler;
  if (scheduler.may_be_here(*changed.leader)) scheduler.reschedule({&event, 1});
}

/// Also of the events that inherited from it.
template <class F>
void LinuxCore::for_event_and_children(Event& event, Scope scope, F apply) {
  const auto with_children = [&](Event& one) {
    apply(one);
    for (Event* child : one.children) apply(*child);
  };
  if (scope == Scope::event) return with_children(event);
  with_children(*event.leader);
  for (Event* sibling : event.leader->siblings) with_children(*sibling);
}

/// The times of members stand still while their leader is off, so they are brought up to date with it.
void LinuxCore::set_state(Event& event, EventState state) {
  Scheduler& scheduler = cpu_of(event).scheduler;
  if (state == EventState::off)
    scheduler.take_off(event);
  else
    scheduler.take_off_alone(event);
  update_times(event);
  if (event.is_leader())
    for (Event* sibling : event.siblings) update_times(*sibling);
  event.state = state;
  update_page(event);
}

void LinuxCore::enable(Event& event, Scope scope) {
  for_event_and_children(event, scope, [&](Event& one) {
    if (one.state != EventState::off && one.state != EventState::error) return;
    if (one.state == EventState::error && one.member_only && one.is_leader()) return;
    set_state(one, EventState::inactive);
    const bool group_is_off = !one.is_leader() && one.leader->state != EventState::active;
    if (one.context->on_cpu() && !group_is_off) reschedule(one);
  });
}

void LinuxCore::disable(Event& event, Scope scope) {
  for_event_and_children(event, scope, [&](Event& one) {
    if (one.state >= EventState::inactive) set_state(one, EventState::off);
  });
}

/// What exited children had counted stays, and so do times and losses.
void LinuxCore::reset(Event& event, Scope scope) {
  for_event_and_children(event, scope, [&](Event& one) {
    update_count(one);
    one.count = 0;
  });
}

Outcome LinuxCore::refresh(Event& event, i64 overflows) {
  if (event.attr.inherit || !event.is_sampling())
    return refuse(EINVAL, "REFRESH: only for sampling events that are not inherited");
  event.event_limit += static_cast<u32>(overflows);
  enable(event, Scope::event);
  return Done{};
}

Outcome LinuxCore::set_period(Event& event, u64 period) {
  if (!event.is_sampling()) return refuse(EINVAL, "PERIOD: the event does not sample");
  if (period == 0 || period >> 63) return refuse(EINVAL, "PERIOD: {} is outside 1 to 2^63 - 1", period);
  if (event.attr.freq && period > options_.limits.max_sample_rate)
    return refuse(EINVAL, "PERIOD: {} Hz is above perf_event_max_sample_rate {}", period,
                  options_.limits.max_sample_rate);
  if (auto valid = event.pmu->check_period(event, period); !valid) return valid;
  event.attr.sample_period = period;
  if (!event.attr.freq) event.hw.sample_period = period;
  if (event.state != EventState::active) {
    event.hw.period_left = 0;
    return Done{};
  }
  event.pmu->disable();
  event.pmu->stop(event, PmuDriver::StopMode::update);
  event.hw.period_left = 0;
  event.pmu->start(event, PmuDriver::StartMode::reload);
  event.pmu->enable();
  return Done{};
}

Outcome LinuxCore::set_output(Event& event, Event* to) {
  const auto mapped = [] { return refuse(EINVAL, "SET_OUTPUT: the event has a mapping of its own"); };
  if (to == nullptr) {
    if (event.mapped) return mapped();
    event.ring.reset();
    return Done{};
  }
  if (to == &event) return refuse(EINVAL, "SET_OUTPUT: to itself");
  if (to->cpu != event.cpu || (event.cpu == -1 && to->context != event.context))
    return refuse(EINVAL, "SET_OUTPUT: to an event of another task or CPU");
  if (to->attr.use_clockid != event.attr.use_clockid || to->attr.clockid != event.attr.clockid)
    return refuse(EINVAL, "SET_OUTPUT: to an event with another clock");
  if (to->attr.write_backward != event.attr.write_backward)
    return refuse(EINVAL, "SET_OUTPUT: to an event that writes in the other direction");
  if (event.mapped) return mapped();
  event.ring = to->ring;
  return Done{};
}

Outcome LinuxCore::modify_attributes(Event& event, std::span<std::byte> user) {
  auto attr = copy_attr(user, options_.limits.kernel);
  if (!attr) return Failure(attr.error());
  if (auto valid = check_attr(*attr, options_.limits); !valid) return Failure(valid.error());
  if (attr->type != event.attr.type)
    return refuse(EINVAL, "MODIFY_ATTRIBUTES: type {} instead of {}", attr->type, event.attr.type);
  return refuse(EOPNOTSUPP, "MODIFY_ATTRIBUTES: only breakpoints can be modified");
}

Outcome LinuxCore::pause_output(Event& event, bool paused) {
  if (!event.ring || event.ring->data_pages() == 0) return refuse(EINVAL, "PAUSE_OUTPUT: no data pages");
  if (paused)
    event.ring->pause();
  else
    event.ring->resume();
  return Done{};
}

namespace {

Mapper caller_of(const Limits& limits) { return {.ipc_lock_capable = limits.ipc_lock_capable}; }

}  // namespace

Result<RingBuffer*, KernelError> LinuxCore::mmap(Event& event, std::size_t data_pages, Access access,
                                                 std::shared_ptr<std::byte> memory,
                                                 const std::optional<Mapper>& mapper) {
  if (data_pages != 0 && !std::has_single_bit(data_pages))
    return refuse(EINVAL, "mmap: {} data pages; it must be 0 or a power of two", data_pages);
  if (event.attr.inherit && event.cpu == -1)
    return refuse(EINVAL, "mmap: an inherited event needs a CPU, so that one buffer has one writer");
  if (event.ring) {
    if (event.ring->data_pages() != data_pages)
      return refuse(EINVAL, "mmap: {} data pages, but the event has a buffer of {}", data_pages,
                    event.ring->data_pages());
    return event.ring.get();
  }
  const auto locked = lock_pages(1 + data_pages, mapper.value_or(caller_of(options_.limits)));
  if (!locked) return Failure(locked.error());
  if (data_pages > max_data_pages)
    return refuse(ENOMEM, "mmap: {} data pages; there is memory for {}", data_pages, max_data_pages);
  RingBuffer::Options options;
  if (event.attr.write_backward) options.direction = RingBuffer::Direction::backward;
  if (access == Access::read_only) options.when_full = RingBuffer::WhenFull::overwrite;
  if (event.attr.watermark) options.watermark = event.attr.wakeup_events;
  event.ring = std::make_shared<RingBuffer>(data_pages, options, std::move(memory));
  event.mapped = true;
  locked_[&event] = *locked;

  ControlPage& page = event.ring->control();
  page.time_mult = options_.clock.mult;
  page.time_shift = options_.clock.shift;
  page.time_zero = options_.clock.zero;
  page.time_offset = options_.clock.zero;
  page.capabilities |= ControlPage::cap_user_time;
  if (!event.attr.use_clockid) page.capabilities |= ControlPage::cap_user_time_zero;
  update_page(event);
  return event.ring.get();
}

/// Events that write to the same buffer lose it, too.
void LinuxCore::munmap(Event& event) {
  if (!std::exchange(event.mapped, false)) return;
  locked_.erase(&event);
  const auto buffer = event.ring;
  for (const auto& other : events_)
    if (other->ring == buffer) other->ring.reset();
}

void LinuxCore::set_signals(Event& event, Signals signals) {
  if (signals == Signals::each_overflow)
    signalling_.insert(&event);
  else
    signalling_.erase(&event);
}

/// All users have the same limit, of buffers on all CPUs together; what is above it is the process's.
Result<LockedPages, KernelError> LinuxCore::lock_pages(u64 pages, const Mapper& mapper) const {
  constexpr u64 kib_of_page = RingBuffer::page_bytes / 1024;
  const Limits& limits = options_.limits;
  LockedPages all{.user = mapper.user, .process = mapper.process};
  for (const auto& [event, locked] : locked_) {
    if (locked.user == mapper.user) all.of_user += locked.of_user;
    if (locked.process == mapper.process) all.pinned += locked.pinned;
  }
  LockedPages locked{.user = mapper.user, .process = mapper.process};
  locked.of_user = std::min(pages, u64{limits.mlock_kib} * options_.cpus / kib_of_page - all.of_user);
  locked.pinned = pages - locked.of_user;
  const bool limited = limits.paranoid > -1 && !mapper.ipc_lock_capable;
  if (limited && locked.pinned != 0 && all.pinned + locked.pinned > mapper.memlock_kib / kib_of_page)
    return refuse(EPERM,
                  "mmap: {} pages of buffers are above perf_event_mlock_kb {} for each of {} CPUs, and {} of "
                  "these above RLIMIT_MEMLOCK, {} KiB",
                  all.of_user + pages, limits.mlock_kib, options_.cpus, all.pinned + locked.pinned,
                  mapper.memlock_kib);
  return locked;
}

/// With the count as it was read last: reading afresh would empty hardware's buffers. The odd value of `lock`
/// tells a reader in another thread to look again.
void LinuxCore::update_page(Event& event) {
  if (!event.mapped) return;
  update_times(event);
  ControlPage& page = event.ring->control();
  const auto put = [](auto& field, auto value) {
    std::atomic_ref(field).store(value, std::memory_order_release);
  };
  const u32 lock = page.lock;
  put(page.lock, lock + 1);
  put(page.offset, static_cast<i64>(event.count + event.child_count));
  put(page.time_enabled, event.time_enabled + event.child_time_enabled);
  put(page.time_running, event.time_running + event.child_time_running);
  put(page.lock, lock + 2);
}

}  // namespace pmusim::perf
