// SPDX-License-Identifier: MIT
#include "session/monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "events/resolve.h"
#include "events/sampling_pmus.h"
#include "perf/simd_abi.h"
#include "session/perf_time.h"
#include "session/sampling_cost.h"
#include "session/traced.h"

namespace pmusim {

namespace {

std::vector<CpuModel> core_models(const SessionOptions& options) {
  return options.machine ? options.machine->types : std::vector{options.model};
}

Machine hardware(const SessionOptions& options) {
  return options.machine ? Machine(*options.machine) : Machine(options.model);
}

/// By auto counter reload, from a word of 32 bits whose extension to the counter's width is a policy.
u64 longest_reload(const CpuModel& model) {
  if (model.acr.cause == 0) return ~u64{0};
  return model.policies.acr_reload_extension == 1 ? bit(32) : bit(31);
}

perf::CoreOptions perf_options(const SessionOptions& options) {
  perf::Limits limits = options.limits;
  limits.kernel = options.kernel;
  return {.limits = limits,
          .tick_ns = options.tick_ns,
          .throttling = options.throttling,
          .clock = clock_of(options.model.core)};
}

Failure<KernelError> refuse(std::string sentence) {
  return Failure(KernelError(EOPNOTSUPP, std::move(sentence)));
}

/// The instruction pointer is known without any.
bool asks_for_registers(const perf::Attr& attr) {
  constexpr u64 instruction_pointer = bit(8);
  const u64 user = attr.sample_type & perf::sample::REGS_USER ? attr.sample_regs_user : 0;
  const u64 interrupted = attr.sample_type & perf::sample::REGS_INTR ? attr.sample_regs_intr : 0;
  return ((user | interrupted) & ~instruction_pointer) != 0;
}

bool asks_for_extended_registers(const perf::Attr& attr) {
  return (perf::needed_registers(attr) & perf::register_set::EXTENDED) != 0;
}

bool samples_branches(const perf::Attr& attr) { return (attr.sample_type & perf::sample::BRANCH_STACK) != 0; }

bool asks_for_kernel_branches_alone(const perf::Attr& attr) {
  using namespace perf::branch;
  if (!samples_branches(attr)) return false;
  const u64 levels = attr.branch_sample_type & PLM_ALL;
  return levels != 0 && (levels & USER) == 0;
}

bool counts_lbr_records(const EventRule& rule) {
  return rule.all.has(Signal::lbr_insert) || rule.any.has(Signal::lbr_insert);
}

/// What only a core with caches knows of an access, and an address without it is half of that.
bool samples_accesses(const perf::Attr& attr) {
  using namespace perf::sample;
  return (attr.sample_type & (ADDR | DATA_SRC | WEIGHT | WEIGHT_STRUCT | PHYS_ADDR | DATA_PAGE_SIZE)) != 0;
}

bool is_page_fault(const perf::Attr& attr) {
  if (attr.type != static_cast<u32>(perf::EventType::software)) return false;
  const auto id = static_cast<perf::SoftwareId>(attr.config);
  return id == perf::SoftwareId::page_faults || id == perf::SoftwareId::page_faults_min ||
         id == perf::SoftwareId::page_faults_maj;
}

}  // namespace

Monitor::Monitor(const SessionOptions& options, const trace::ProgramView& program, Sight sight)
    : program_(program),
      kernel_(options.kernel),
      core_(options.core),
      tick_ns_(options.tick_ns),
      throttles_(options.throttling == perf::Throttling::on),
      cgroups_(options.cgroups),
      types_(core_models(options)),
      machine_(hardware(options)),
      clock_(clock_of(options.model.core)) {
  for (unsigned n = 0; n < machine_.cpus(); ++n) {
    type_of_.push_back(options.machine ? options.machine->cpus[n].type : 0);
    const SharedByDrivers shared = options.machine ? shared_by(n, *options.machine) : SharedByDrivers{};
    cpus_.push_back(std::make_unique<MonitoredCpu>(machine_.cpu(n), options, program, sight, shared));
    if (options.machine) cpus_.back()->expect_halts();
  }
  running_ = cpus_.front().get();
  perf_ = perf::PerfCore::create(drivers_of(0), perf_options(options));
  if (types_.size() > 1) perf_->register_pmu(cpu_atom_type, drivers_of(1));
  register_sampling_pmus();
  for (unsigned n = 0; n < cpus(); ++n) {
    cpus_[n]->attach(perf_->cpu(n), clock_);
    cpus_[n]->on_due_work([this] { pause(); });
    if (options.machine && !options.machine->cpus[n].online) perf_->cpu(n).set_online(false);
  }
}

Monitor::~Monitor() = default;

/// A core whose firmware has started one thread has no sibling to take care of.
SharedByDrivers Monitor::shared_by(u32 cpu, const Topology& machine) {
  const LogicalCpu& here = machine.cpus[cpu];
  SharedByDrivers shared{.task_stacks = &stacks_[here.type]};
  if (!machine.has_smt()) return shared;
  shared.core = &threads_[machine.first_of_core(cpu)];
  shared.thread = here.thread;
  return shared;
}

/// By CPU; null where the CPU is of the other kind.
std::vector<perf::PmuDriver*> Monitor::drivers_of(u32 type) const {
  std::vector<perf::PmuDriver*> drivers;
  for (unsigned n = 0; n < cpus(); ++n)
    drivers.push_back(type_of_[n] == type ? &cpus_[n]->driver() : nullptr);
  return drivers;
}

void Monitor::register_sampling_pmus() {
  for (const events::SamplingPmu& pmu : events::sampling_pmus(types_.front())) {
    std::vector<perf::PmuDriver*> drivers;
    for (const auto& cpu : cpus_) drivers.push_back(cpu->ibs(pmu.type));
    perf_->register_pmu(pmu.type, drivers);
  }
}

driver::DriverStatistics Monitor::driver_statistics() const {
  driver::DriverStatistics all;
  for (const auto& cpu : cpus_) all += cpu->driver_statistics();
  return all;
}

bool Monitor::holds_records() const {
  return std::ranges::any_of(cpus_, [](const auto& cpu) { return cpu->driver().holds_records(); });
}

void Monitor::use_call_stacks(const CallTracker& calls) {
  for (const auto& cpu : cpus_) cpu->use_call_stacks(calls);
}

const driver::CoreDriver& Monitor::driver_of_type(u32 type) const {
  return cpus_[static_cast<std::size_t>(std::ranges::find(type_of_, type) - type_of_.begin())]->driver();
}

/// Of a hybrid machine the kind of core that counts the event, and the event in that one's words.
Monitor::OnType Monitor::on_type(const perf::Attr& attr) const {
  if (types_.size() == 1) return {0, attr};
  return {core_type_of(attr).value_or(0), of_one_type(attr)};
}

Result<Done, KernelError> Monitor::check_event(const perf::Attr& asked) const {
  const auto [type, attr] = on_type(asked);
  const CpuModel& model = types_[type];
  const bool has_kernel = program_.contents().kernel;
  if (attr.exclude_user != 0 && attr.exclude_kernel != 0)
    return refuse("it excludes user mode and the kernel, and there is no hypervisor: it would never count");
  if (attr.exclude_user != 0 && !has_kernel && !handling_takes_time(model.policies))
    return refuse(
        "it excludes user mode, and the trace holds user-mode code only: it would never count "
        "('--kernel-entries' gives each system call a path through a synthetic kernel, and 'pmusim-machine "
        "run --record' makes traces with ring 0; policies pmi_cost_cycles and pmi_cost_instructions give the "
        "handler of sampling some time in ring 0)");
  if (asks_for_kernel_branches_alone(attr) && !has_kernel)
    return refuse(
        "its branch filter keeps branches of the kernel only (k, hv without u), and the trace holds "
        "user-mode code only: every stack would be empty ('--kernel-entries' gives each system call a path "
        "through a synthetic kernel)");
  if (asks_for_registers(attr) && !program_.contents().registers)
    return refuse(
        "it samples registers, and the trace holds none: 'pmusim trace record --regs gpr' records them");
  if (asks_for_extended_registers(attr) && !program_.contents().extended)
    return refuse(
        "it samples registers beyond the general ones, and the trace holds none: 'pmusim trace record --regs "
        "simd' records them");
  const bool is_by_unit = events::is_sampled_by_unit(model, attr);
  if (samples_accesses(attr) && model.amd.has_core_extension() && !is_by_unit)
    return refuse(
        fmt::format("it samples data addresses, their sources or latencies, and counters of {} tell "
                    "nothing of them",
                    model.title));
  if (samples_accesses(attr) && !is_whole(core_))
    return refuse(
        fmt::format("it samples data addresses, their sources or latencies, and core '{}' keeps none of "
                    "them: core 'interval' does",
                    name_of(core_)));
  if (is_by_unit && !is_whole(core_))
    return refuse(
        fmt::format("instruction-based sampling writes down caches and latencies, and core '{}' keeps "
                    "none of them: core 'interval' does",
                    name_of(core_)));
  if (is_page_fault(attr)) return refuse("a trace does not hold page faults: it would never count");
  return events::is_pmu_event(attr) ? check_pmu_event(type, attr) : Done{};
}

Result<Done, KernelError> Monitor::check_pmu_event(u32 type, const perf::Attr& attr) const {
  const CpuModel& model = types_[type];
  if (attr.config2 != 0 && model.acr.cause != 0 && !has(kernel_, driver::change::auto_counter_reload))
    return refuse(fmt::format("acr_mask: Linux {} has no auto counter reload; {} is the first that has",
                              name_of(kernel_), first_release_with(driver::change::auto_counter_reload)));
  if (attr.config2 != 0 && attr.freq == 0 && attr.sample_period > longest_reload(model))
    return refuse(
        fmt::format("sample_period: {} with acr_mask is above {}, the longest that the 32 bits of a reload "
                    "value can say; Linux would take it, and reload what is left of it",
                    attr.sample_period, longest_reload(model)));
  const Result<events::ResolvedEvent, Error> event =
      events::resolve(model, attr, traced(program_.contents(), core_));
  if (!event.ok()) return refuse(event.error().message);
  if (event->extra != 0 && !driver_of_type(type).knows_core())
    return refuse(
        fmt::format("{} needs a register beside its event select, and the emulated kernel has no "
                    "tables for {} that say which",
                    event->definition.name, model.title));
  if (counts_lbr_records(event->definition.rule) && !branches_sampled_ && !samples_branches(attr))
    return refuse(fmt::format(
        "{} counts what the LBR records, and nothing uses the LBR: no event so far samples branches",
        event->definition.name));
  return Done{};
}

Sight Monitor::sight_of(const perf::Attr& attr) const {
  if (core_ != CoreLevel::sampled || !events::is_pmu_event(attr)) return Sight::all;
  const auto event = events::resolve(model(), attr, traced(program_.contents(), core_));
  return event.ok() && events::follows_from_order(*event) ? Sight::all : Sight::windows;
}

Result<perf::Event*, KernelError> Monitor::open_event(const perf::Attr& attr, perf::Event* leader,
                                                      CountedTasks counted) {
  if (Result<Done, KernelError> checked = check_event(attr); !checked.ok())
    return Failure(kernels_word(checked.error(), attr, leader, counted));
  auto event = perf_->open(attr, counted.pid, counted.cpu, leader, counted.flags);
  branches_sampled_ = branches_sampled_ || (event.ok() && samples_branches(attr));
  return event;
}

/// What a kernel refuses too is refused as it does. But it knows generic events by number alone.
KernelError Monitor::kernels_word(const KernelError& refusal, perf::Attr attr, perf::Event* leader,
                                  CountedTasks counted) {
  attr.disabled = 1;
  const auto event = perf_->open(attr, counted.pid, counted.cpu, leader, counted.flags);
  if (event.ok()) {
    perf_->close(**event);
    return refusal;
  }
  const auto type = static_cast<perf::EventType>(attr.type);
  const bool generic = type == perf::EventType::hardware || type == perf::EventType::hw_cache;
  return generic ? KernelError(event.error().error_number, refusal.message) : event.error();
}

void Monitor::pause() {
  if (cpus() > 1 && (throttles_ || running_->now() / tick_ns_ > ticks_)) bring_up_idle();
  ticks_ = running_->now() / tick_ns_;
  if (on_pause_) on_pause_();
}

void Monitor::bring_up_idle() {
  const u64 tsc = running_->pmu().tsc();
  for (const auto& cpu : cpus_)
    if (cpu.get() != running_) cpu->halt_until(tsc);
}

void Monitor::start(const trace::ProcessStart& first, u32 cpu) {
  perf_->task_started(first.pid, first.tid, first.command);
  enter_cgroup(first.tid);
  running_ = cpus_.at(cpu).get();
  switch_to({first.pid, first.tid}, cpu);
  started_ = true;
}

/// Who ran until now leaves an idle CPU behind where the next one runs on another.
void Monitor::switch_to(const trace::ThreadSwitch& to, u32 cpu, perf::PerfCpu::SwitchReason reason) {
  MonitoredCpu* const next = cpus_.at(cpu).get();
  if (next != running_ || to.tid != tid_) running_->leave();
  if (next != running_) {
    running_->perf().set_time(running_->now());
    running_->perf().switch_to(0, reason);
    next->halt_until(running_->pmu().tsc());
    running_ = next;
    running_->lose_extended();
  }
  pid_ = to.pid;
  tid_ = to.tid;
  running_->set_process(to.pid);
  running_->perf().switch_to(to.tid, reason);
}

void Monitor::migrate(u32 cpu) {
  switch_to({pid_, tid_}, cpu, perf::PerfCpu::SwitchReason::preempted);
  running_->catch_up();
}

/// With many CPUs, where lines of memory are compared by what they are of: `perf c2c` takes files without an
/// inode for one.
u64 Monitor::inode_of(const std::string& path) {
  if (cpus_.size() == 1 || !path.starts_with('/')) return 0;
  return inodes_.try_emplace(path, inodes_.size() + 1).first->second;
}

namespace {
std::string cgroup_path(const std::string& name) { return name.starts_with('/') ? name : "/" + name; }
}  // namespace

CountedTasks Monitor::tasks_of_cgroup(const std::string& path, i32 cpu) {
  return {.pid = static_cast<i32>(perf_->make_cgroup(cgroup_path(path))),
          .cpu = cpu,
          .flags = perf::open_flag::PID_CGROUP};
}

std::map<u64, std::string> Monitor::cgroups() {
  std::map<u64, std::string> all{{perf_->make_cgroup("/"), "/"}};
  for (const CgroupTasks& cgroup : cgroups_)
    all.emplace(perf_->make_cgroup(cgroup_path(cgroup.path)), cgroup_path(cgroup.path));
  return all;
}

/// The last that has the thread.
void Monitor::enter_cgroup(u32 tid, std::string_view command) {
  for (const CgroupTasks& cgroup : cgroups_)
    if (std::ranges::find(cgroup.threads, tid) != cgroup.threads.end() ||
        std::ranges::find(cgroup.commands, command) != cgroup.commands.end())
      perf_->move_to_cgroup(tid, perf_->make_cgroup(cgroup_path(cgroup.path)));
}

void Monitor::forget_code() {
  for (const auto& cpu : cpus_) cpu->driver().forget_code();
}

void Monitor::on_side_band(const trace::SideBandRecord& record, u32 cpu) {
  running_->lose_extended();
  running_->perf().set_time(running_->now());
  struct Visitor {
    Monitor& s;
    u32 cpu;
    void operator()(const trace::ProcessStart& start) const {
      if (!s.started_) s.start(start, cpu);
      s.enter_cgroup(start.tid, start.command);
      s.perf_->exec(start.tid, start.command);
    }
    void operator()(const trace::ThreadStart& start) const {
      s.perf_->fork(start.parent_tid, start.pid, start.tid);
      s.enter_cgroup(start.tid);
    }
    void operator()(const trace::ThreadExit& exit) const {
      if (exit.tid == s.tid_) s.running_->leave();
      s.perf_->exit(exit.tid);
    }
    void operator()(const trace::ThreadSwitch& to) const { s.switch_to(to, cpu); }
    void operator()(const trace::Map& map) const {
      if (map.pid == trace::kernel_pid) return;  // was there before anybody's
      s.forget_code();
      const trace::Mapping& m = map.mapping;
      s.perf_->mmap_region(map.pid == s.pid_ ? s.tid_ : map.pid,
                           {.address = m.start,
                            .length = m.bytes,
                            .page_offset = m.file_offset,
                            .protection = m.protection,
                            .flags = m.flags,
                            .inode = s.inode_of(m.path),
                            .name = m.path,
                            .build_id = std::as_bytes(std::span(m.build_id))});
      s.forget_code();
    }
    void operator()(const trace::Unmap&) const { s.forget_code(); }  // perf has no record of it
    void operator()(const trace::Syscall&) const {}
    void operator()(const trace::Interrupt&) const {}
    void operator()(const trace::ThreadName& named) const {
      s.enter_cgroup(named.tid, named.name);
      s.perf_->set_comm(named.tid, named.name);
    }
    void operator()(const trace::SignalDelivery& delivery) const {
      s.running_->enter_signal_handler(delivery.handler);
    }
  };
  std::visit(Visitor{*this, cpu}, record);
  running_->catch_up();
}

void Monitor::idle_until(u64 tsc) {
  if (tsc <= this->tsc()) return;
  running_->leave();
  running_->finish();
  running_->perf().switch_to(0);
  tid_ = 0;
  for (const auto& cpu : cpus_) cpu->halt_until(tsc);
}

void Monitor::stop_events() {
  running_->finish();
  if (cpus() > 1) bring_up_idle();
  for (perf::Event* const event : perf_->events())
    if (event->state >= perf::EventState::inactive) perf_->disable(*event);
}

}  // namespace pmusim
