// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PERF_CORE_H
#define PMUSIM_PERF_CORE_H

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perf/driver.h"

/// The perf_event subsystem of an emulated kernel, for whoever brings a PMU driver of their own or wants
/// system calls instead of a Session:
/// @code
/// Pmu pmu(*find_cpu_model("skylake"));
/// const auto driver = driver::create_driver(pmu);  // or any other PmuDriver
/// const auto perf = perf::PerfCore::create(*driver);
/// driver->attach(perf->cpu(0));
/// perf->task_started(1, 1, "program");
/// perf->cpu(0).switch_to(1);
/// perf::Event& event = **perf->open({.type = 4, .config = 0xC4}, 0, -1);
/// const u64 branches = perf->read(event)->front();
/// @endcode
/// A machine of several CPUs has a driver for each, and says on which of them something happens:
/// @code
/// Machine machine(*find_cpu_model("skylake"), 2);
/// const driver::DriverOptions options;  // of which each CPU has its own addresses
/// const auto first = driver::create_driver(machine.cpu(0), options.for_cpu(0));
/// const auto second = driver::create_driver(machine.cpu(1), options.for_cpu(1));
/// const std::array<perf::PmuDriver*, 2> drivers{first.get(), second.get()};
/// const auto perf = perf::PerfCore::create(drivers);
/// first->attach(perf->cpu(0));
/// second->attach(perf->cpu(1));
/// perf->task_started(1, 1, "program");
/// perf->cpu(1).switch_to(1);  // CPU 0 is idle
/// @endcode
namespace pmusim::perf {

class RingBuffer;

/// Whether events that interrupt too often are stopped until the next tick, alone or with their group. A
/// replay has no machine to protect and must not lose samples; an experiment may want the kernel's behaviour.
enum class Throttling : u8 { off, on };

/// The CPUs that a perf core is for, and the kernel that the core is of.
struct CoreOptions {
  Limits limits;
  u32 cpu = 0;  ///< number of the first emulated CPU
  /// CPUs of the system. Those that have no driver are offline: events on them are refused with ENODEV, and a
  /// task's events for them never count. At least `cpu` and as many as there are drivers.
  u32 cpus = 1;
  u32 pmu_type = static_cast<u32>(EventType::raw);  ///< attr.type of the PMU behind the driver
  u64 tick_ns = 1'000'000;
  u64 rotation_ticks = 1;  ///< ticks between two turns of events that do not fit together
  Throttling throttling = Throttling::off;
  TscToNs clock;
};

/// A mapping of a file (or of nothing) into a task, as MMAP records tell it.
struct Mapping {
  u64 address = 0, length = 0, page_offset = 0;
  u32 protection = 5, flags = 2;  ///< PROT_*, MAP_*
  u32 major = 0, minor = 0;
  u64 inode = 0, inode_generation = 0;
  std::string_view name;
  std::span<const std::byte> build_id;
};

/// Who maps a buffer.
struct Mapper {
  u32 user = 0, process = 0;
  bool ipc_lock_capable = false;  ///< CAP_IPC_LOCK
  u64 memlock_kib = 0;            ///< RLIMIT_MEMLOCK
};

/// Where in user mode a sample was taken. With an `ip` hardware recorded it before the interrupt came.
struct SampledPlace {
  u64 interrupted_ip = 0;
  std::optional<u64> ip, time;  ///< `time`: perf time in ns
};

/// The code of a hypervisor's guest that an interrupt ended.
struct GuestCode {
  u64 ip = 0;
  Cpl cpl = Cpl::user;
};

/// What can be asked about the program that runs. The defaults are those of a trace that does not tell.
class Target {
 public:
  virtual ~Target() = default;
  /// Up to `bytes` bytes of the current task's code or memory, fewer where it is not readable or not known.
  virtual std::vector<std::byte> read_code(u64, std::size_t) const { return {}; }
  virtual std::vector<std::byte> read_memory(u64, std::size_t) const { return {}; }
  /// What the current task had in user mode when it last entered the kernel; null: not known, or no such
  /// task.
  virtual const Registers* user_registers() const { return nullptr; }
  /// Its next instruction there, which may be known where registers are not.
  virtual std::optional<u64> user_ip() const {
    const Registers* const registers = user_registers();
    return registers == nullptr ? std::nullopt : std::optional(registers->rip);
  }
  /// Where the calls return to that the current task was in at `place`, innermost first, at most so many;
  /// nothing: they have to be looked for in its memory.
  virtual std::optional<std::vector<u64>> callers(const SampledPlace&, std::size_t) const { return {}; }
  /// Size in bytes of the page that maps the address; 0: unknown.
  virtual u64 page_size(u64) const { return 0; }
  /// Whether physical_address() can tell anything; otherwise the hardware's word is taken for it.
  virtual bool has_page_tables() const { return false; }
  /// Where the current task's page tables have the address; nothing: no page is there.
  virtual std::optional<u64> physical_address(u64) const { return {}; }
  /// While an interrupt is handled that came in a guest: the interrupted code, in whose place the frame has
  /// the hypervisor's.
  virtual std::optional<GuestCode> guest() const { return {}; }
};

/// One CPU as the perf_event subsystem has it: who runs there, and when. Its driver's samples go here.
///
/// Time is the caller's: set_time() before anything that asks for it, advance() to let ticks, timers and
/// deferred work happen. CPUs need not be at the same time. What happens to a task, or to an event, happens
/// at the time of the CPU where it is.
class PerfCpu : public SampleSink {
 public:
  /// As attr.cpu names it.
  virtual u32 number() const = 0;

  /// What the samples of the program that runs here can be filled with. `target` outlives the core.
  virtual void set_target(const Target& target) = 0;

  /// Moves perf time (ns) forward and does nothing else: before handle_pmi() of the driver.
  virtual void set_time(u64 now) = 0;
  /// Moves perf time forward and does what is due: ticks (frequency, rotation, unthrottling), software
  /// timers, work that an overflow left behind. `frame` is what was interrupted. Outside of handle_pmi()
  /// only.
  virtual void advance(u64 now, const InterruptFrame& frame) = 0;
  /// The latest time at which advance() must be called.
  virtual u64 next_deadline() const = 0;

  enum class SwitchReason : u8 { blocked, preempted };
  /// `tid` runs from now on; 0: idle. A task that has been on another CPU has migrated. Throws
  /// std::invalid_argument if it still runs there, or the CPU is offline.
  virtual void switch_to(u32 tid, SwitchReason reason = SwitchReason::blocked) = 0;
  /// 0: idle.
  virtual u32 current_tid() const = 0;

  /// From now on a mediated guest has the PMUs of this CPU that can be a guest's
  /// (PmuCapabilities::mediated_guests), until put_guest(): their events are off, and time enabled stands
  /// still for all that exclude the guest (Linux: perf_load_guest_context).
  virtual void load_guest() = 0;
  virtual void put_guest() = 0;

  /// Every CPU is online at first. While it is not, no event can be opened on it (ENODEV) and no task runs
  /// there. Events of a CPU that goes offline stop for good and keep their counts; those of tasks stay.
  /// Throws std::invalid_argument while a task runs on a CPU that is to go.
  virtual void set_online(bool online) = 0;

  /// Software events other than the clocks, switches and migrations: page faults a trace has recorded.
  virtual void count_software(SoftwareId id, u64 n, u64 address, const InterruptFrame& frame) = 0;
};

/// The perf_event subsystem of an emulated machine: events, their scheduling, samples and side band.
///
/// Calls that mean a system call return the kernel's errno with a sentence, and take effect at once, whatever
/// CPU the event is on. What happens on a CPU is said to its cpu(). Nothing here looks at a real clock.
///
/// Lifetime: drivers outlive the core; events live until close() or the core's end.
class PerfCore {
 public:
  virtual ~PerfCore() = default;
  static std::unique_ptr<PerfCore> create(PmuDriver& hardware, CoreOptions options = {});
  /// `hardware`: the drivers of the CPUs from CoreOptions::cpu on, one for each; null where a CPU has no PMU
  /// of this type. Throws std::invalid_argument if there is none at all.
  static std::unique_ptr<PerfCore> create(std::span<PmuDriver* const> hardware, CoreOptions options = {});

  /// A further PMU, for events with this attr.type, or with it in config[63:32] of a generic one (Linux:
  /// perf_pmu_register): on the first CPU, or with its driver on each, null where there is none. A group has
  /// events of one PMU, and software events beside them. Before any event is opened; drivers outlive the
  /// core. Throws std::invalid_argument if the type is taken, by another PMU or by an EventType, or if there
  /// are not as many drivers as CPUs.
  virtual void register_pmu(u32 type, PmuDriver& pmu) = 0;
  virtual void register_pmu(u32 type, std::span<PmuDriver* const> by_cpu) = 0;

  /// std::out_of_range: there is no such CPU, or it has no driver.
  virtual PerfCpu& cpu(u32 number) = 0;

  // --- system calls

  /// perf_event_open. `pid`: a task, 0 the first CPU's current one, -1 everyone on `cpu`, with PID_CGROUP the
  /// tasks of a cgroup (make_cgroup()) and of those below it. `cpu`: -1 wherever the task is.
  virtual Result<Event*, KernelError> open(const Attr& attr, i32 pid, i32 cpu, Event* group_leader = nullptr,
                                           u64 flags = 0) = 0;
  /// The same from bytes of any attribute version; attr.size in `user` is corrected on E2BIG.
  virtual Result<Event*, KernelError> open(std::span<std::byte> user, i32 pid, i32 cpu,
                                           Event* group_leader = nullptr, u64 flags = 0) = 0;
  /// An event of the kernel itself, as a hypervisor has for a counter of its guest
  /// (perf_event_create_kernel_counter): no rights are asked for, and on_overflow() is not called. `pid`
  /// and `cpu` as with open(). Errors as those of allocation there.
  virtual Result<Event*, KernelError> open_in_kernel(const Attr& attr, i32 pid, i32 cpu) = 0;
  virtual void close(Event& event) = 0;

  /// A guest that will have PMUs for itself (Linux 7.0: perf_create_mediated_pmu). While there is one, events
  /// of these PMUs that do not exclude the guest are refused with EOPNOTSUPP. Errors: EBUSY (there are such
  /// events), EOPNOTSUPP (no PMU can be a guest's, or the release lets none).
  virtual Result<Done, KernelError> add_mediated_guest() = 0;
  /// One of them is gone.
  virtual void remove_mediated_guest() = 0;

  enum class Access : u8 { read_write, read_only };  ///< PROT_READ alone makes the buffer overwrite itself
  /// mmap of the event: control page and `data_pages` pages. The page's times are those of the latest
  /// tick, read or change of state, its offset the count as it was read last; its index stays 0: a replayed
  /// program has no rdpmc.
  /// The buffer is made in `memory`, if given: 1 + data_pages zeroed pages. Without a mapper it is the caller
  /// of CoreOptions::limits.
  virtual Result<RingBuffer*, KernelError> mmap(Event& event, std::size_t data_pages,
                                                Access access = Access::read_write,
                                                std::shared_ptr<std::byte> memory = nullptr,
                                                const std::optional<Mapper>& mapper = {}) = 0;
  /// Nobody has the event's buffer mapped any more.
  virtual void munmap(Event& event) = 0;

  enum class Signals : u8 { none, each_overflow };
  /// What F_SETFL with O_ASYNC says: whether overflows send signals. Such an event is throttled in any case,
  /// since nothing but its handler might execute otherwise.
  virtual void set_signals(Event& event, Signals signals) = 0;

  /// read(2): words as attr.read_format lays them out; empty for an event in error state. ECHILD: a group
  /// read, and a task that inherited the group has other members.
  virtual Result<std::vector<u64>, KernelError> read(Event& event) = 0;
  /// The same into memory of the caller; the number of bytes. ENOSPC: they do not fit.
  virtual Result<std::size_t, KernelError> read(Event& event, std::span<std::byte> buffer) = 0;

  enum class Scope : u8 { event, group };  ///< PERF_IOC_FLAG_GROUP
  virtual void enable(Event& event, Scope scope = Scope::event) = 0;
  virtual void disable(Event& event, Scope scope = Scope::event) = 0;
  virtual void reset(Event& event, Scope scope = Scope::event) = 0;
  virtual Result<Done, KernelError> refresh(Event& event, i64 overflows) = 0;
  virtual Result<Done, KernelError> set_period(Event& event, u64 period) = 0;
  virtual Result<Done, KernelError> set_output(Event& event, Event* to) = 0;
  /// MODIFY_ATTRIBUTES with an attribute of any version: only breakpoints can, and no PMU here has them.
  virtual Result<Done, KernelError> modify_attributes(Event& event, std::span<std::byte> user) = 0;
  virtual Result<Done, KernelError> pause_output(Event& event, bool paused) = 0;

  // --- what happens to tasks, on the CPU where they run or have been last

  /// A task that exists from now on without FORK: the first one. `tid` unique.
  virtual void task_started(u32 pid, u32 tid, std::string comm) = 0;
  virtual void fork(u32 parent_tid, u32 pid, u32 tid) = 0;
  virtual void exec(u32 tid, std::string comm) = 0;
  virtual void set_comm(u32 tid, std::string comm) = 0;
  virtual void mmap_region(u32 tid, const Mapping& mapping) = 0;
  virtual void exit(u32 tid) = 0;

  /// The number of the cgroup at `path`, which begins with "/", and is made if it is not there, as are those
  /// above it. PID_CGROUP takes the number for a file descriptor. Every task is in "/" at first, which has
  /// number 1, and a new one where its parent is. Events with attr.cgroup have a CGROUP record of each that
  /// is made; records and samples call it `id`, without one its number. Throws std::invalid_argument if it is
  /// no such path.
  virtual u64 make_cgroup(std::string_view path, std::optional<u64> id = {}) = 0;
  /// Throws std::invalid_argument if there is no such task or cgroup.
  virtual void move_to_cgroup(u32 tid, u64 number) = 0;

  /// sigtrap: an overflow of such an event calls this instead of sending SIGTRAP.
  virtual void on_sigtrap(std::function<void(const Event&, u64 address)> callback) = 0;
  /// Called with each event that overflows, or the one that it was inherited from, once its sample is
  /// written.
  virtual void on_overflow(std::function<void(const Event&)> callback) = 0;

  /// Every open event, inherited ones included, in order of opening.
  virtual std::vector<Event*> events() const = 0;
};

struct ControlPage;

/// The consumer of the buffer that PerfCore::mmap() gives, for readers that know perf's ABI; it knows the
/// mapping and nothing else, as a program behind mmap() does. One thread may read while another writes.
/// Session's sample() and perfdata::SampleReader hand out samples taken apart.
class RingReader {
 public:
  explicit RingReader(RingBuffer& ring);

  /// Hands over everything that is published and not yet consumed, in at most two pieces (a record may span
  /// them), then gives the room back to the writer. Returns the number of bytes.
  template <class Take>  // Take(std::span<const std::byte>)
  std::size_t drain(Take&& take) {
    const Published records = published();
    if (records.first.empty()) return 0;
    take(records.first);
    if (!records.rest.empty()) take(records.rest);
    give_back(records.head);
    return records.first.size() + records.rest.size();
  }

  /// The records of a backward, overwriting buffer, newest first; cut where the oldest one is overwritten.
  /// The writer must be paused.
  std::vector<std::byte> snapshot_backward() const;

 private:
  /// What lies up to position `head`; `rest` is what stands at the beginning of the data area.
  struct Published {
    std::span<const std::byte> first, rest;
    u64 head = 0;
  };
  Published published() const;
  void give_back(u64 head);

  ControlPage* control_;
  std::span<const std::byte> data_;
};

}  // namespace pmusim::perf

#endif
