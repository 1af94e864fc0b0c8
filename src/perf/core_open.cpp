// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "perf/linux_core.h"
#include "perf/read_format.h"
#include "perf/refusal.h"

/// perf_event_open: stages A, B and C of docs/perf-abi-notes.md, "Order of the checks".
namespace pmusim::perf {

using Outcome = Result<Done, KernelError>;

namespace {

/// Instead of a descriptor.
constexpr i32 no_cgroup = -1;

/// Types whose config holds a PMU type in its upper half.
bool has_extended_type(const Attr& attr) {
  return attr.type == static_cast<u32>(EventType::hardware) ||
         attr.type == static_cast<u32>(EventType::hw_cache);
}

bool same_clock(const Attr& a, const Attr& b) {
  return a.use_clockid == b.use_clockid && (!a.use_clockid || a.clockid == b.clockid);
}

void start_period(Event& event) {
  HardwareEvent& hw = event.hw;
  hw.sample_period = event.attr.freq && event.attr.sample_period != 0 ? 1 : event.attr.sample_period;
  hw.last_period = hw.sample_period;
  hw.period_left = static_cast<i64>(hw.sample_period);
}

}  // namespace

Result<Event*, KernelError> LinuxCore::open(std::span<std::byte> user, i32 pid, i32 cpu, Event* group_leader,
                                            u64 flags) {
  if (flags & ~open_flag::ALL) return refuse(EINVAL, "flags: unknown bits {:#x}", flags & ~open_flag::ALL);
  auto attr = copy_attr(user, options_.limits.kernel);
  if (!attr) return Failure(attr.error());
  return open(*attr, pid, cpu, group_leader, flags);
}

Result<Event*, KernelError> LinuxCore::open(const Attr& wanted, i32 pid, i32 cpu, Event* group_leader,
                                            u64 flags) {
  if (flags & ~open_flag::ALL)  // B1
    return refuse(EINVAL, "flags: unknown bits {:#x}", flags & ~open_flag::ALL);
  auto attr = check_attr(wanted, options_.limits);  // B2: A2 to A17
  if (!attr) return Failure(attr.error());
  if (auto allowed = check_rights(*attr, pid, cpu, flags, options_.limits); !allowed)  // B5 to B10
    return Failure(allowed.error());

  if (group_leader && !owns(group_leader)) return refuse(EBADF, "group_fd: is no perf event");  // B12
  if (group_leader && group_leader->state <= EventState::exit)
    return refuse(ENODEV, "group_fd: its task has exited");
  Event* const output = flags & open_flag::OUTPUT ? group_leader : nullptr;
  Event* const leader = flags & open_flag::NO_GROUP ? nullptr : group_leader;
  auto task = find_target(pid, flags);  // B13
  if (!task) return Failure(task.error());
  if (*task && leader && leader->attr.inherit != attr->inherit)  // B14
    return refuse(EINVAL, "inherit: differs from that of the group leader");

  auto owned = make_event(*attr, *task, cpu, leader);
  Event& event = *owned;
  const i32 cgroup = flags & open_flag::PID_CGROUP ? pid : no_cgroup;
  if (auto allocated = allocate(event, *task, cpu, cgroup); !allocated)  // B15
    return Failure(allocated.error());
  const auto installable = [&]() -> Outcome {
    if (event.is_sampling() && !event.pmu->capabilities().interrupts)  // B16
      return refuse(EOPNOTSUPP, "sample_period: PMU {} has no interrupt", event.pmu->capabilities().name);
    if (auto valid = check_clock(event.attr, is_hardware(event)); !valid) return valid;  // B17
    if (!*task && !options_.limits.may_see_cpu())                                        // B19
      return refuse(EACCES, "pid -1: observing a CPU needs perf_event_paranoid <= 0 or CAP_PERFMON");
    const CpuContext* const emulated = find_cpu(cpu);
    if (!*task && !(emulated && emulated->online))  // B20
      return refuse(ENODEV, "cpu: {} is offline; CPUs {} to {} are emulated", cpu, options_.cpu,
                    options_.cpu + pmus_.front().drivers.size() - 1);
    if (leader)
      if (auto valid = check_group(event, *leader); !valid) return valid;  // B21
    if (output)
      if (auto valid = set_output(event, output); !valid) return valid;            // B22
    if (auto valid = check_read_size(event, *event.leader); !valid) return valid;  // B23
    return check_aux(event.attr);                                                  // B24
  };
  if (auto valid = installable(); !valid) {
    home_of(event).destroy(event);
    return Failure(valid.error());
  }
  return keep(std::move(owned), leader);
}

Result<Event*, KernelError> LinuxCore::open_in_kernel(const Attr& attr, i32 pid, i32 cpu) {
  auto task = find_target(pid, 0);
  if (!task) return Failure(task.error());
  auto event = make_event(attr, *task, cpu, nullptr);
  event->of_kernel = true;
  if (auto allocated = allocate(*event, *task, cpu, no_cgroup); !allocated) return Failure(allocated.error());
  return keep(std::move(event), nullptr);
}

std::unique_ptr<Event> LinuxCore::make_event(const Attr& attr, Task* task, i32 cpu, Event* leader) {
  auto event = std::make_unique<Event>();
  event->attr = attr;
  event->leader = leader ? leader : event.get();
  event->cpu = cpu;
  CpuContext* const emulated = find_cpu(cpu);
  event->context = task ? task->context.get() : emulated ? &emulated->context() : &gone_;
  return event;
}

Event* LinuxCore::keep(std::unique_ptr<Event> owned, Event* leader) {
  Event& event = *owned;
  event.layout = layout_of(event.attr);
  events_.push_back(std::move(owned));
  install(event, leader);
  return &event;
}

SampleLayout LinuxCore::layout_of(const Attr& attr) const {
  SampleLayout layout = make_sample_layout(attr, options_.limits.kernel);
  if (has(options_.limits.kernel, change::branch_stack_limit))
    layout.branch_entries_limit = attr.sample_max_stack;
  return layout;
}

Result<Task*, KernelError> LinuxCore::find_target(i32 pid, u64 flags) {
  if (pid == -1 || (flags & open_flag::PID_CGROUP)) return nullptr;
  Task* task = pid == 0 ? first().current : pid > 0 ? find_task(static_cast<u32>(pid)) : nullptr;
  if (!task) return refuse(ESRCH, "pid: there is no task {}", pid);
  return task;
}

/// A task is in one cgroup, so that all of a group count the same one (Linux: perf_cgroup_connect).
Outcome LinuxCore::follow_cgroup(Event& event, i32 cgroup) {
  if (cgroup == no_cgroup) return Done{};
  const auto found = cgroups_.find(static_cast<u64>(cgroup));
  if (found == cgroups_.end()) return refuse(EBADF, "PID_CGROUP: there is no cgroup {}", cgroup);
  const CgroupOnCpu* const of_leader = event.leader->cgroup;
  if (!event.is_leader() && (of_leader == nullptr || of_leader->cgroup.number != found->first))
    return refuse(EINVAL, "group_fd: counts another cgroup");
  if (CpuContext* const cpu = find_cpu(event.cpu); cpu != nullptr)
    event.cgroup = &cpu->scheduler.watch(found->second, cgroup_of(cpu->current));
  return Done{};
}

/// Stage C.
Outcome LinuxCore::allocate(Event& event, const Task* task, i32 cpu, i32 cgroup) {
  const bool any_cpu = cpu == -1;
  if (any_cpu ? !task : cpu < 0 || static_cast<u32>(cpu) >= options_.cpus)  // C1
    return refuse(EINVAL, "cpu: {} with {}, of {} CPUs", cpu, task ? "a task" : "no task", options_.cpus);
  if (event.attr.sigtrap && !task) return refuse(EINVAL, "sigtrap: needs a task");  // C2
  if (event.attr.inherit && (event.attr.sample_type & sample::READ) &&
      !(event.attr.sample_type & sample::TID))  // C3
    return refuse(EINVAL, "sample_type: READ of an inherited event needs TID");
  event.id = next_id_++;
  event.state = event.attr.disabled ? EventState::off : EventState::inactive;
  event.event_limit = 0;
  start_period(event);
  if (auto chosen = choose_pmu(event); !chosen) return chosen;                               // C4, C5
  Outcome fit = check_capabilities(event.attr, event.pmu->capabilities(), options_.limits);  // C6 to C12
  if (fit.ok()) fit = follow_cgroup(event, cgroup);                                          // C13
  if (fit.ok()) fit = check_stack_depth(event.attr, options_.limits);                        // C14
  if (fit.ok()) fit = check_guests(event);                                                   // C15
  if (!fit.ok()) home_of(event).destroy(event);
  return fit;
}

/// Whether the event would count in the time of a guest that has the PMU for itself.
bool LinuxCore::can_be_a_guests(const Event& event) const {
  return !event.attr.exclude_guest && home_of(event).capabilities().mediated_guests;
}

Outcome LinuxCore::check_guests(const Event& event) const {
  if (mediated_guests_ == 0 || !can_be_a_guests(event)) return Done{};
  return refuse(EOPNOTSUPP, "exclude_guest: must be set while a guest has the PMU for itself");
}

Outcome LinuxCore::add_mediated_guest() {
  if (!has(options_.limits.kernel, change::mediated_guests))
    return refuse(EOPNOTSUPP, "mediated guests: need {}", first_release_with(change::mediated_guests));
  const auto suits = [](const PmuType& pmu) { return pmu.home().capabilities().mediated_guests; };
  if (std::ranges::none_of(pmus_, suits))
    return refuse(EOPNOTSUPP, "mediated guests: no PMU can be a guest's");
  const auto in_the_way = std::ranges::find_if(events_, [&](const auto& e) { return can_be_a_guests(*e); });
  if (mediated_guests_ == 0 && in_the_way != events_.end())
    return refuse(EBUSY, "mediated guests: event {} does not exclude guests", (*in_the_way)->id);
  ++mediated_guests_;
  return Done{};
}

/// A PMU takes events of its own type, and generic ones if it can be named by them.
Outcome LinuxCore::try_pmu(Event& event, u32 place) {
  const PmuType& pmu = pmus_[place];
  const bool takes = event.attr.type == pmu.type ||
                     (has_extended_type(event.attr) && pmu.home().capabilities().extended_type);
  if (!takes)
    return refuse(ENOENT, "type: PMU {} has no type {}", pmu.home().capabilities().name, event.attr.type);
  event.pmu_place = place;
  const CpuContext* const own = find_cpu(event.cpu);
  event.pmu = own ? own->pmus[place] : &pmu.home();
  if (event.pmu == nullptr)
    return refuse(ENOENT, "cpu: {} has no PMU {}", event.cpu, pmu.home().capabilities().name);
  return home_of(event).init(event);
}

/// A generic event goes to the PMU that it names, else to the CPUs' own. Where nobody has the type that is
/// asked for, or the CPU has another PMU, each is asked (Linux: perf_init_event).
Outcome LinuxCore::choose_pmu(Event& event) {
  const Attr& attr = event.attr;
  const u32 named = has_extended_type(attr) ? static_cast<u32>(attr.config >> 32) : attr.type;
  const u32 type = named == 0 ? static_cast<u32>(EventType::raw) : named;
  const auto found = std::ranges::find(pmus_, type, &PmuType::type);
  Outcome outcome = refuse(ENOENT, "type: no PMU counts type {} config {:#x}", attr.type, attr.config);
  if (found != pmus_.end()) {
    const bool by_name = named != 0 && named != attr.type;
    if (by_name && !found->home().capabilities().extended_type) return outcome;
    const u32 asked = attr.type;
    outcome = try_pmu(event, static_cast<u32>(found - pmus_.begin()));
    const bool is_forwarded = attr.type != asked && !outcome.ok() && outcome.error().error_number == ENOENT;
    if (is_forwarded) {  // to the PMU that the event has been given the type of
      start_period(event);
      return choose_pmu(event);
    }
    if (named != 0 || outcome.ok() || outcome.error().error_number != ENOENT) return outcome;
  }
  for (u32 n = 0; n < pmus_.size(); ++n) {
    const u32 place = n == 0 ? pmu_place::CORE : static_cast<u32>(pmus_.size()) - n;  // the newest first
    if (found != pmus_.end() && &pmus_[place] == &*found) continue;
    Outcome tried = try_pmu(event, place);
    if (tried.ok() || tried.error().error_number != ENOENT) return tried;
  }
  return outcome;
}

Outcome LinuxCore::check_group(const Event& event, const Event& leader) const {
  if (!leader.is_leader()) return refuse(EINVAL, "group_fd: is itself a member of a group");
  if (!same_clock(event.attr, leader.attr))
    return refuse(EINVAL, "clockid: differs from that of the group leader");
  if (event.cpu != leader.cpu || event.context != leader.context)
    return refuse(EINVAL, "group_fd: counts another task or CPU");
  const u32 others = hardware_of(leader);
  if (is_hardware(event) && others != pmu_place::SOFTWARE && others != event.pmu_place)
    return refuse(EINVAL, "group_fd: the group counts on PMU {}", pmus_[others].home().capabilities().name);
  if (event.attr.exclusive || event.attr.pinned)
    return refuse(EINVAL, "exclusive, pinned: only a group leader can be");
  return Done{};
}

/// What read() of the event, its leader or another member would return must stay below 16 KiB.
Outcome LinuxCore::check_read_size(const Event& event, const Event& leader) const {
  constexpr std::size_t largest = 16 * 1024;
  const std::size_t members = 1 + leader.siblings.size() + (event.is_leader() ? 0 : 1);
  const auto fits = [&](const Event& e) {
    return read_words(e.attr.read_format, members) * sizeof(u64) <= largest;
  };
  const bool all_fit =
      fits(event) && fits(leader) &&
      std::ranges::all_of(leader.siblings, [&](const Event* sibling) { return fits(*sibling); });
  if (!all_fit)
    return refuse(E2BIG, "read_format: a group of {} events makes reads longer than 16 KiB", members);
  return Done{};
}

/// A first event makes the PMU ready even if it is off, and so does one that counts on another CPU (Linux:
/// perf_install_in_context).
void LinuxCore::install(Event& event, Event* leader) {
  const bool has_others = event.context->has_events();
  event.time_stamp = time_for(event);
  event.context->end_lineage();
  if (leader)
    leader->siblings.push_back(&event);
  else
    event.context->add(event);
  event.context->come_to(turn_of(*event.leader));
  const bool off = event.state < EventState::inactive || event.leader->state < EventState::inactive;
  if (!event.context->on_cpu() || (off && has_others)) return;
  Scheduler& scheduler = cpu_of(event).scheduler;
  Event* const changed = &event;
  if (scheduler.is_among(*event.leader)) scheduler.reschedule({&changed, 1});
}

bool LinuxCore::owns(const Event* event) const {
  return std::ranges::any_of(events_, [&](const auto& owned) { return owned.get() == event; });
}

void LinuxCore::close(Event& event) {
  const auto children = event.children;
  for (Event* child : children) remove(*child);
  remove(event);
}

void LinuxCore::remove(Event& event) {
  cpu_of(event).scheduler.take_off_alone(event);
  if (event.context) event.context->end_lineage();
  if (!event.is_leader())
    std::erase(event.leader->siblings, &event);
  else if (event.context)
    dissolve_group(event);
  if (event.parent) std::erase(event.parent->children, &event);
  release(event);
}

/// Members become leaders of their own where they are: who is on the PMU stays there, but for those that
/// cannot be without a group (Linux: perf_group_detach).
void LinuxCore::dissolve_group(Event& leader) {
  leader.context->remove(leader);
  Scheduler& scheduler = cpu_of(leader).scheduler;
  for (Event* member : leader.siblings) update_times(*member);
  for (Event* member : std::exchange(leader.siblings, {})) {
    if (member->member_only) {
      scheduler.take_off_alone(*member);
      member->state = std::min(member->state, EventState::error);
    }
    member->leader = member;
    if (member->state > EventState::exit) leader.context->add(*member);
  }
}

/// The CPU goes offline: its events leave it one by one, and have no place to come back to.
void LinuxCore::leave(CpuContext& cpu) {
  if (cpu.current)
    throw std::invalid_argument(fmt::format("set_online: task {} runs on CPU {}", cpu.current->tid, cpu.id));
  Context& context = cpu.context();
  const std::vector<Event*> events = context.events();
  for (Event* event : events) set_state(*event, std::min(event->state, EventState::off));
  for (Event* event : events) {
    if (event->is_leader()) context.remove(*event);
    event->leader = event;
    event->siblings.clear();
    event->context = &gone_;
    event->cgroup = nullptr;
    event->time_stamp = gone_.time();
  }
}

void LinuxCore::release(Event& event) {
  home_of(event).destroy(event);
  for (const auto& cpu : cpus_)
    if (cpu) std::erase(cpu->to_disable, &event);
  locked_.erase(&event);
  signalling_.erase(&event);
  std::erase_if(events_, [&](const auto& owned) { return owned.get() == &event; });
}

}  // namespace pmusim::perf
