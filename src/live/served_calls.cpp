// SPDX-License-Identifier: MIT
// perf_event_open, and descriptors that come and go. Calls on them are in descriptor_calls.cpp.
#include "live/served_calls.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "events/sampling_pmus.h"
#include "live/descriptor_link.h"
#include "live/processes.h"
#include "live/user_attribute.h"
#include "perf/attr_check.h"
#include "perf/context.h"
#include "perf/ring_buffer.h"
#include "session/core_types.h"

namespace pmusim::live {
namespace {

using perf::EventType;

bool is_clock(const perf::Attr& attr) {
  return attr.type == static_cast<u32>(EventType::software) &&
         attr.config <= static_cast<u64>(perf::SoftwareId::task_clock);
}

/// Of a CPU, or those in a cgroup.
bool counts_all_tasks(const CountedTasks& counted) { return counted.pid == -1 || counts_cgroup(counted); }

/// Software events of a task that can be emulated: for groups and buffers of events that are.
bool can_be_emulated(const perf::Attr& attr) { return is_clock(attr) || counts_page_faults(attr); }

/// Software events that an emulated CPU knows of.
bool happens_on_cpus(const perf::Attr& attr) {
  if (can_be_emulated(attr)) return true;
  switch (static_cast<perf::SoftwareId>(attr.config)) {
    case perf::SoftwareId::context_switches:
    case perf::SoftwareId::cpu_migrations:
    case perf::SoftwareId::cgroup_switches:
    case perf::SoftwareId::dummy:
    case perf::SoftwareId::bpf_output:
      return true;
    default:
      return false;
  }
}

/// Those that count nothing are opened for the records beside samples, which have to be in one buffer with
/// them.
bool counts_nothing(const perf::Attr& attr) {
  const auto id = static_cast<perf::SoftwareId>(attr.config);
  return id == perf::SoftwareId::dummy || id == perf::SoftwareId::bpf_output;
}

/// Who counts an event.
enum class Counter : u8 { emulated, kernel, nobody };

/// The kernel's own software events and tracepoints work without a PMU, for tasks: of the emulated CPUs, and
/// who runs there, the kernel knows nothing. A single one is the real CPU 0 for them.
Counter counter_of(const perf::Attr& attr, const CountedTasks& counted, const Monitor& monitor) {
  if (events::is_sampling_pmu(attr.type)) return Counter::emulated;
  if (monitor.is_hybrid() && attr.type == cpu_atom_type) return Counter::emulated;
  const bool of_cpu = counted.cpu >= 0, of_all_tasks = counts_all_tasks(counted);
  switch (static_cast<EventType>(attr.type)) {
    case EventType::hardware:
    case EventType::hw_cache:
    case EventType::raw:
      return Counter::emulated;
    case EventType::software:
      if (of_cpu || of_all_tasks) return happens_on_cpus(attr) ? Counter::emulated : Counter::nobody;
      return counts_nothing(attr) ? Counter::emulated : Counter::kernel;
    default:
      return of_all_tasks || (of_cpu && monitor.cpus() > 1) ? Counter::nobody : Counter::kernel;
  }
}

/// A page fault's address is the real kernel's alone.
Result<Done, KernelError> check_page_faults(const perf::Attr& attr, u32 tid) {
  if ((attr.sample_type & perf::sample::ADDR) != 0)
    return Failure(KernelError(EOPNOTSUPP, "sample_type: page faults have no address here"));
  if (!PageFaults::of(tid))
    return Failure(KernelError(EOPNOTSUPP, "config: the kernel counts no page faults"));
  return Done{};
}

/// A task and what it starts go where the kernel looks for their events on CPU 0, the only one.
Result<Done, KernelError> bring_to_cpu(const CountedTasks& counted, const Tasks& tasks) {
  if (counted.cpu != 0) return Failure(KernelError(EINVAL, fmt::format("cpu: {}, of 1 CPU", counted.cpu)));
  cpu_set_t allowed{}, first{};
  CPU_SET(0, &first);
  const auto id = static_cast<pid_t>(counted.pid);
  const bool is_there = ::sched_getaffinity(id, sizeof allowed, &allowed) == 0 && CPU_EQUAL(&allowed, &first);
  if (is_there ||
      (tasks.is_of_run(static_cast<u32>(id)) && ::sched_setaffinity(id, sizeof first, &first) == 0))
    return Done{};
  return Failure(KernelError(
      EOPNOTSUPP, "cpu: an event that stays the kernel's, whose CPU 0 is not the only one of the task"));
}

u64 head_of(const perf::RingBuffer& ring) { return ring.control().data_head; }

AtExec at_exec(u64 flags) {
  return (flags & perf::open_flag::CLOEXEC) != 0 ? AtExec::is_closed : AtExec::stays_open;
}

}  // namespace

ServedCalls::ServedCalls(EmulatedMachine& machine, Tasks& tasks, Listener& listener, NumberRange numbers,
                         const perf::Limits& limits, u64 registers, const FileIdentity& users)
    : machine_(machine),
      tasks_(tasks),
      listener_(listener),
      numbers_(numbers),
      limits_(limits),
      registers_(machine.monitor(), registers),
      users_(users) {
  machine.perf().on_overflow([this](const perf::Event& event) { signal_overflow(event); });
}

/// Tasks are stopped, or asked to, before the answer: where a call switches events on, the caller stands
/// right behind it when counting begins.
void ServedCalls::serve(const Call& call) {
  if (call.number == SYS_prctl && call.arguments[0] == PR_SET_NAME) return rename(call);
  if (call.number == SYS_pread64 || call.number == SYS_pwrite64) return access_registers(call);
  if (call.number == SYS_sched_setaffinity || call.number == SYS_sched_getaffinity)
    return change_affinity(call);
  const u64 number = call.arguments[call.number == SYS_mmap ? 4 : 0];
  const bool has_descriptor = call.number != SYS_perf_event_open && call.number != SYS_prctl;
  EventDescriptor* const descriptor = has_descriptor ? descriptors_.find(call.tid, number) : nullptr;
  if (has_descriptor && descriptor == nullptr) {
    kernels_.note(call);
    return listener_.let_through(call);
  }
  ++served_;
  tasks_.flush();
  if (call.number == SYS_mmap) return map(call, *descriptor);
  const Answer answer = has_descriptor                       ? on_descriptor(call, *descriptor)
                        : call.number == SYS_perf_event_open ? open(call)
                                                             : switch_all(call);
  tasks_.follow_events();
  if (answer)
    listener_.finish(call, *answer);
  else
    listener_.let_through(call);
}

void ServedCalls::access_registers(const Call& call) {
  const std::optional<u32> cpu = registers_.cpu_of(call);
  if (!cpu) return listener_.let_through(call);
  ++served_;
  tasks_.flush();
  listener_.finish(call, registers_.access(call, *cpu));
  machine_.catch_up();
}

ServedCalls::Answer ServedCalls::open(const Call& call) {
  close_abandoned();  // their counters are free for the new one
  std::vector<std::byte> user = read_attribute(call.tid, call.arguments[0]);
  const CountedTasks counted = counted_by(call);
  const auto group = static_cast<i32>(call.arguments[3]);
  EventDescriptor* leader = group >= 0 ? descriptors_.find(call.tid, call.arguments[3]) : nullptr;
  const perf::Attr wanted = beginning_of(user);
  const bool is_readable = user.size() >= 16;
  const Counter counter = !is_readable ? Counter::kernel : counter_of(wanted, counted, machine_.monitor());
  if (counter == Counter::nobody)
    return refuse(KernelError(EOPNOTSUPP, "type: of the kernel alone, which does not know emulated CPUs"));
  const bool kernels = counter == Counter::kernel;
  if (kernels && counted.cpu >= 0 && is_readable)
    if (const auto there = bring_to_cpu(counted, tasks_); !there.ok()) return refuse(there.error());
  if (leader == nullptr && kernels && !shares_buffer(call, wanted))
    return can_be_emulated(wanted) ? open_kernels(call, user) : std::nullopt;
  if (leader == nullptr && group >= 0) leader = take_over_group(call, static_cast<u32>(group));
  if (leader == nullptr && group >= 0)
    return refuse(KernelError(EINVAL, "group_fd: its event is the kernel's own and cannot be emulated"));
  if (wanted.type == static_cast<u32>(EventType::software) && kernels && !can_be_emulated(wanted))
    return refuse(KernelError(EOPNOTSUPP, "config: the kernel's own, in a group of emulated events"));
  auto attr = perf::copy_attr(user, limits_.kernel);
  if (!kernels && wanted.sample_period != 0 && !counts_all_tasks(counted))
    for (const u32 number : kernels_.samplers(call.tid, static_cast<u32>(counted.pid)))
      take_over_group(call, number);  // to write to one buffer with this
  if (attr.ok()) return open_here(call, *attr, leader != nullptr ? &leader->event() : nullptr);
  if (attr.error().error_number == E2BIG) trace::write_memory(call.tid, call.arguments[0], user);
  return refuse(attr.error());
}

i64 ServedCalls::refuse(const KernelError& error) {
  ++refusals_[fmt::format("{} ({})", error.message, std::strerror(error.error_number))];
  return -error.error_number;
}

ServedCalls::Answer ServedCalls::open_kernels(const Call& call, std::span<const std::byte> attr) {
  const FileDescriptor event = kernels_.open(call, attr);
  if (!event) return std::nullopt;
  const u32 number = free_number(call.tid, numbers_.low);
  if (const i64 given = listener_.give(call, event, number, at_exec(call.arguments[4])); given < 0)
    return std::nullopt;
  kernels_.add(call, attr, number);
  return number;
}

/// A hardware event joins the group: its leader's descriptor, or none if it cannot be an emulated one.
EventDescriptor* ServedCalls::take_over_group(const Call& call, u32 number) {
  EventDescriptor* leader = nullptr;
  for (const KernelsEvent& kernels : kernels_.take_group(call.tid, number)) {
    EventDescriptor* const taken = take_over(call, kernels, leader != nullptr ? &leader->event() : nullptr);
    if (taken == nullptr) return nullptr;
    if (leader == nullptr) leader = taken;
  }
  return leader;
}

/// An emulated event takes the number of the kernel's own.
EventDescriptor* ServedCalls::take_over(const Call& call, const KernelsEvent& kernels, perf::Event* leader) {
  std::vector<std::byte> user = kernels.attr;
  const auto attr = perf::copy_attr(user, limits_.kernel);
  if (!attr.ok()) return nullptr;
  const auto event = make_event(*attr, leader, kernels.counted, kernels.opener);
  if (!event.ok()) return nullptr;
  auto made = EventDescriptor::make(**event, kernels.opener);
  if (!made || listener_.give(call, made->read_end, kernels.number, at_exec(kernels.counted.flags)) < 0) {
    machine_.perf().close(**event);
    return nullptr;
  }
  return &descriptors_.add(std::move(made->descriptor));
}

/// Whether a sampling event is to write to the buffer of an emulated one, as perf record lets all that it
/// opens on a task do.
bool ServedCalls::shares_buffer(const Call& call, const perf::Attr& attr) {
  if (attr.sample_period == 0 || !can_be_emulated(attr)) return false;
  const auto pid = static_cast<u32>(call.arguments[1]), tid = pid != 0 ? pid : call.tid;
  return std::ranges::any_of(descriptors_, [&](const auto& entry) {
    const perf::Event& other = entry.second.event();
    const perf::Task* const task = other.context != nullptr ? other.context->task() : nullptr;
    return entry.second.opener() == call.tid && other.is_sampling() && task != nullptr && task->tid == tid;
  });
}

i64 ServedCalls::open_here(const Call& call, const perf::Attr& attr, perf::Event* leader) {
  const auto event = make_event(attr, leader, counted_by(call), call.tid);
  return event.ok() ? give_descriptor(call, **event) : refuse(event.error());
}

Result<perf::Event*, KernelError> ServedCalls::make_event(const perf::Attr& attr, perf::Event* leader,
                                                          const CountedTasks& counted, u32 opener) {
  if (auto allowed = perf::check_rights(attr, counted.pid, counted.cpu, counted.flags, limits_); !allowed)
    return Failure(allowed.error());
  if (auto watched = watch(counted, opener); !watched) return Failure(watched.error());
  const bool of_cpu = counts_all_tasks(counted);
  if (counts_page_faults(attr))
    if (auto counts = check_page_faults(attr, of_cpu ? opener : static_cast<u32>(counted.pid)); !counts)
      return Failure(counts.error());
  const auto named = find_cgroup(attr, counted, opener);
  if (!named.ok()) return Failure(named.error());
  auto event = counts_page_faults(attr)
                   ? machine_.perf().open(attr, named->pid, named->cpu, leader, named->flags)
                   : open_event(attr, leader, *named);
  if (event.ok() && of_cpu) tasks_.opened_on_cpu(**event, opener);
  return event;
}

/// The perf core has a number for a descriptor.
Result<CountedTasks, KernelError> ServedCalls::find_cgroup(const perf::Attr& attr, CountedTasks counted,
                                                           u32 opener) {
  if (!counts_cgroup(counted) && !asks_for_cgroups(attr)) return counted;
  tasks_.follow_cgroups();
  if (!counts_cgroup(counted)) return counted;
  const auto cgroup = tasks_.cgroups().named_by(opener, static_cast<u32>(counted.pid));
  if (!cgroup.ok()) return Failure(cgroup.error());
  counted.pid = static_cast<i32>(*cgroup);
  return counted;
}

/// In place of an event that a kernel opens, and that nothing here can produce, one that counts nothing if
/// that is wanted: event 00, which leaves a group as large as it was.
Result<perf::Event*, KernelError> ServedCalls::open_event(const perf::Attr& attr, perf::Event* leader,
                                                          const CountedTasks& counted) {
  auto event = machine_.monitor().open_event(attr, leader, counted);
  const bool is_raw = attr.type == static_cast<u32>(EventType::raw) || attr.type == cpu_atom_type;
  if (event.ok() || !uncounted_reads_zero_ || !is_raw || attr.sample_period != 0) return event;
  const auto open = [&](const perf::Attr& opened) {
    return machine_.perf().open(opened, counted.pid, counted.cpu, leader, counted.flags);
  };
  perf::Attr nothing = attr;
  nothing.disabled = 1;
  auto kernels = open(nothing);
  if (!kernels.ok()) return event;
  machine_.perf().close(**kernels);
  nothing = attr;
  nothing.config = nothing.config1 = nothing.config2 = 0;
  auto uncounted = open(nothing);
  const std::string& why = event.error().message;
  if (uncounted.ok() && std::ranges::find(read_zero_, why) == read_zero_.end()) read_zero_.push_back(why);
  return uncounted;
}

/// Whom an event counts; its CPU is looked at by the perf core.
Result<Done, KernelError> ServedCalls::watch(const CountedTasks& counted, u32 opener) {
  constexpr u64 perfmon_capable = bit(CAP_PERFMON) | bit(CAP_SYS_ADMIN);
  const bool of_cpu = counts_all_tasks(counted);
  if (of_cpu && !status_of(opener).has_any(perfmon_capable, users_))
    return Failure(KernelError(EACCES, "pid -1: observing a CPU needs CAP_PERFMON"));
  const int error = of_cpu            ? tasks_.watch_cpus()
                    : counted.pid > 0 ? tasks_.watch(static_cast<u32>(counted.pid))
                                      : 0;
  if (error == EPERM) return Failure(KernelError(EBUSY, "pid: a task is traced by another"));
  if (error != 0) return Failure(KernelError(error, "pid: a task cannot be watched"));
  return Done{};
}

i64 ServedCalls::give_descriptor(const Call& call, perf::Event& event) {
  auto made = EventDescriptor::make(event, call.tid);
  const i64 given = made ? listener_.give(call, made->read_end, free_number(call.tid, numbers_.low),
                                          at_exec(call.arguments[4]))
                         : -EMFILE;
  if (given < 0) {
    machine_.perf().close(event);
    return given;
  }
  descriptors_.add(std::move(made->descriptor));
  return given;
}

u32 ServedCalls::free_number(u32 tid, u64 lowest) const {
  u32 number = std::max(numbers_.low, static_cast<u32>(lowest));
  while (number < numbers_.high && ::access(descriptor_link(tid, number).c_str(), F_OK) == 0) ++number;
  return number;
}

/// PR_TASK_PERF_EVENTS_ENABLE and _DISABLE: all that the caller has opened, on whatever tasks. The kernel
/// does the same to its own events.
ServedCalls::Answer ServedCalls::switch_all(const Call& call) {
  for (auto& [inode, descriptor] : descriptors_) {
    if (descriptor.opener() != call.tid) continue;
    if (call.arguments[0] == PR_TASK_PERF_EVENTS_ENABLE)
      machine_.perf().enable(descriptor.event(), perf::PerfCore::Scope::event);
    else
      machine_.perf().disable(descriptor.event(), perf::PerfCore::Scope::event);
  }
  kernels_.switch_all(call.tid, call.arguments[0] == PR_TASK_PERF_EVENTS_ENABLE ? PERF_EVENT_IOC_ENABLE
                                                                                : PERF_EVENT_IOC_DISABLE);
  return std::nullopt;
}

/// The kernel does it; those that sample the caller have a record of it.
void ServedCalls::rename(const Call& call) {
  constexpr std::size_t longest = 15;
  std::array<char, longest + 1> name{};
  trace::read_memory(call.tid, call.arguments[1], std::as_writable_bytes(std::span(name)).first(longest));
  tasks_.flush();
  machine_.perf().set_comm(call.tid, name.data());
  listener_.let_through(call);
}

void ServedCalls::close_abandoned() {
  for (auto next = descriptors_.begin(); next != descriptors_.end();) {
    const EventDescriptor& descriptor = (next++)->second;
    if (!descriptor.abandoned()) continue;
    machine_.perf().close(descriptor.event());
    descriptors_.remove(descriptor);
  }
}

void ServedCalls::hang_up_ended() {
  for (auto& [inode, descriptor] : descriptors_) {
    const perf::Event& event = descriptor.event();
    if (event.state <= perf::EventState::exit && event.children.empty()) descriptor.hang_up();
  }
}

void ServedCalls::wake_readers(const perf::RingBuffer* buffer) {
  for (auto& [inode, descriptor] : descriptors_)
    if (!descriptor.signals && descriptor.event().ring.get() == buffer) descriptor.wake(head_of(*buffer));
}

void ServedCalls::signal_overflow(const perf::Event& event) {
  for (auto& [inode, descriptor] : descriptors_)
    if (descriptor.signals && &descriptor.event() == &event)
      descriptor.wake(event.ring != nullptr ? head_of(*event.ring) : 0);
}

bool ServedCalls::readers_are_awake() const {
  return std::ranges::any_of(descriptors_, [](const auto& entry) {
    return entry.second.awake() && entry.second.event().ring != nullptr;
  });
}

void ServedCalls::calm_read() {
  for (auto& [inode, descriptor] : descriptors_) {
    if (!descriptor.awake() || descriptor.event().ring == nullptr) continue;
    perf::ControlPage& page = descriptor.event().ring->control();
    const u64 tail = std::atomic_ref(page.data_tail).load(std::memory_order_acquire);
    if (tail >= descriptor.woken_for()) descriptor.calm();
  }
}

}  // namespace pmusim::live
