// SPDX-License-Identifier: MIT
#include "session/monitor.h"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "events/resolve.h"
#include "events/sampling_pmus.h"
#include "perf/simd_abi.h"
#include "session/perf_time.h"
#include "session/sampling_cost.h"

namespace pmusim {

namespace {

constexpr u64 ns_per_second = 1'000'000'000;

/// perf time in the control page's form: ns = tsc * mult >> shift.
perf::TscToNs clock_of(const CoreParameters& core) {
  constexpr u16 shift = 31;
  return {.mult = static_cast<u32>((ns_per_second << shift) / core.tsc_hz), .shift = shift};
}

/// By auto counter reload, from a word of 32 bits whose extension to the counter's width is a policy.
u64 longest_reload(const CpuModel& model) {
  if (model.acr.cause == 0) return ~u64{0};
  return model.policies.acr_reload_extension == 1 ? bit(32) : bit(31);
}

driver::DriverOptions driver_options(const SessionOptions& options) {
  driver::DriverOptions driver = options.driver;
  driver.kernel = options.kernel;
  if (const auto ops = events::find_sampling_pmu(options.model, "ibs_op")) driver.ibs_op_type = ops->type;
  return driver;
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

events::Traced traced(const trace::Contents& contents, CoreLevel core) {
  return {.addresses = contents.addresses ? events::DataAddresses::recorded : events::DataAddresses::missing,
          .code = contents.stand_in_code ? events::TracedCode::stand_in : events::TracedCode::own,
          .time = contents.timing ? events::TimeSource::recorded : events::TimeSource::core_model,
          .core = core};
}

}  // namespace

Monitor::Monitor(const SessionOptions& options, const trace::Program& program)
    : program_(program),
      kernel_(options.kernel),
      core_(options.core),
      pmu_(options.model),
      driver_(driver::create_driver(pmu_, driver_options(options))),
      clock_(clock_of(options.model.core)),
      perf_(perf::PerfCore::create(*driver_, perf_options(options))),
      sampling_takes_time_(sampling_takes_time(options.model.policies)) {
  driver_->attach(*perf_);
  register_sampling_pmus(driver_options(options));
  perf_->set_target(*this);
  pmu_.set_pmi_handler(this);
}

Monitor::~Monitor() = default;

void Monitor::register_sampling_pmus(const driver::DriverOptions& options) {
  for (const events::SamplingPmu& pmu : events::sampling_pmus(model())) {
    const auto side = pmu.type == events::ibs_fetch_type ? driver::IbsSide::fetch : driver::IbsSide::op;
    auto& driver = *ibs_.emplace_back(std::make_unique<driver::IbsDriver>(pmu_, side, options));
    perf_->register_pmu(pmu.type, driver);
    driver.attach(*perf_);
  }
}

driver::DriverStatistics Monitor::driver_statistics() const {
  driver::DriverStatistics all = driver_->statistics();
  for (const auto& ibs : ibs_) all += ibs->statistics();
  return all;
}

Result<Done, KernelError> Monitor::check_event(const perf::Attr& attr) const {
  if (attr.exclude_user != 0 && !handling_takes_time(model().policies))
    return refuse(
        "it excludes user mode, and a trace holds user-mode code only: it would never count "
        "(policies pmi_cost_cycles and pmi_cost_instructions give the handler of sampling some time in ring "
        "0)");
  if (asks_for_kernel_branches_alone(attr))
    return refuse(
        "its branch filter keeps branches of the kernel only (k, hv without u), and a trace holds user-mode "
        "code only: every stack would be empty");
  if (asks_for_registers(attr) && !program_.contents().registers)
    return refuse(
        "it samples registers, and the trace holds none: 'pmusim trace record --regs gpr' records them");
  if (asks_for_extended_registers(attr) && !program_.contents().extended)
    return refuse(
        "it samples registers beyond the general ones, and the trace holds none: 'pmusim trace record --regs "
        "simd' records them");
  const bool is_by_unit = events::is_sampled_by_unit(model(), attr);
  if (samples_accesses(attr) && model().amd.has_core_extension() && !is_by_unit)
    return refuse(
        fmt::format("it samples data addresses, their sources or latencies, and counters of {} tell "
                    "nothing of them",
                    model().title));
  if (samples_accesses(attr) && core_ != CoreLevel::interval)
    return refuse(fmt::format(
        "it samples data addresses, their sources or latencies, and core '{}' does not look at memory: "
        "core 'interval' does",
        name_of(core_)));
  if (is_by_unit && core_ != CoreLevel::interval)
    return refuse(
        fmt::format("instruction-based sampling writes down caches and latencies, and core '{}' does not "
                    "look at memory: core 'interval' does",
                    name_of(core_)));
  if (is_page_fault(attr)) return refuse("a trace does not hold page faults: it would never count");
  return events::is_pmu_event(attr) ? check_pmu_event(attr) : Done{};
}

Result<Done, KernelError> Monitor::check_pmu_event(const perf::Attr& attr) const {
  if (attr.config2 != 0 && model().acr.cause != 0 && !has(kernel_, driver::change::auto_counter_reload))
    return refuse(fmt::format("acr_mask: Linux {} has no auto counter reload; {} is the first that has",
                              name_of(kernel_), first_release_with(driver::change::auto_counter_reload)));
  if (attr.config2 != 0 && attr.freq == 0 && attr.sample_period > longest_reload(model()))
    return refuse(
        fmt::format("sample_period: {} with acr_mask is above {}, the longest that the 32 bits of a reload "
                    "value can say; Linux would take it, and reload what is left of it",
                    attr.sample_period, longest_reload(model())));
  const Result<events::ResolvedEvent, Error> event =
      events::resolve(model(), attr, traced(program_.contents(), core_));
  if (!event.ok()) return refuse(event.error().message);
  if (event->extra != 0 && !driver_->knows_core())
    return refuse(
        fmt::format("{} needs a register beside its event select, and the emulated kernel has no "
                    "tables for {} that say which",
                    event->definition.name, model().title));
  if (counts_lbr_records(event->definition.rule) && !branches_sampled_ && !samples_branches(attr))
    return refuse(fmt::format(
        "{} counts what the LBR records, and nothing uses the LBR: no event so far samples branches",
        event->definition.name));
  return Done{};
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

void Monitor::finish_block(u64 next_ip, const Registers* registers) {
  frame_.registers_known = registers != nullptr;
  if (frame_.registers_known) frame_.registers = *registers;
  frame_.registers.rip = next_ip;
  if (pmu_.now() >= deadline_cycle_) run_due_work();
}

void Monitor::run_due_work() {
  perf_->advance(now(), frame_);
  deadline_cycle_ = first_cycle_at(perf_->next_deadline(), clock_, tsc_clock(model().core));
  if (on_pause_) on_pause_();
}

void Monitor::take_extended(const ExtendedState& state) {
  pmu_.set_extended_state(&state);
  extended_stale_ = false;
}

void Monitor::on_side_band(const trace::SideBandRecord& record) {
  extended_stale_ = true;
  perf_->set_time(now());
  struct Visitor {
    Monitor& s;
    void operator()(const trace::ProcessStart& start) const {
      if (!std::exchange(s.started_, true)) {
        s.perf_->task_started(start.pid, start.tid, start.command);
        (*this)(trace::ThreadSwitch{start.pid, start.tid});
      }
      s.perf_->exec(start.tid, start.command);
    }
    void operator()(const trace::ThreadStart& start) const {
      s.perf_->fork(start.parent_tid, start.pid, start.tid);
    }
    void operator()(const trace::ThreadExit& exit) const { s.perf_->exit(exit.tid); }
    void operator()(const trace::ThreadSwitch& to) const {
      s.pid_ = to.pid;
      s.tid_ = to.tid;
      s.perf_->switch_to(to.tid);
    }
    void operator()(const trace::Map& map) const {
      s.driver_->forget_code();
      const trace::Mapping& m = map.mapping;
      s.perf_->mmap_region(map.pid == s.pid_ ? s.tid_ : map.pid,
                           {.address = m.start,
                            .length = m.bytes,
                            .page_offset = m.file_offset,
                            .protection = m.protection,
                            .flags = m.flags,
                            .name = m.path,
                            .build_id = std::as_bytes(std::span(m.build_id))});
      s.driver_->forget_code();
    }
    void operator()(const trace::Unmap&) const { s.driver_->forget_code(); }  // perf has no record of it
    void operator()(const trace::Syscall&) const {}
    void operator()(const trace::SignalDelivery& delivery) const {
      s.frame_.registers.rip = delivery.handler;
    }
  };
  std::visit(Visitor{*this}, record);
  run_due_work();
}

void Monitor::stop_events() {
  perf_->advance(now(), frame_);
  for (perf::Event* const event : perf_->events())
    if (event->state >= perf::EventState::inactive) perf_->disable(*event);
}

void Monitor::handle_pmi(const InterruptFrame& frame) {
  perf_->set_time(now());
  bool is_handled = false;  // an interrupt of the core's counters comes by itself
  for (const auto& ibs : ibs_) is_handled = ibs->handle_nmi(frame) || is_handled;
  if (!is_handled) driver_->handle_pmi(frame);
  if (sampling_takes_time_) run_handler(frame);
}

// Of what the kernel does only cycles and instructions are known: none touches memory or branches, and slots
// that they do not use count as lost to the back end.
void Monitor::run_handler(InterruptFrame frame) {
  constexpr u64 handler_ip = 0xFFFF'FFFF'8100'0000;
  const Policies& policies = model().policies;
  const u64 width = model().core.issue_width, instructions = policies.pmi_cost_instructions;
  const u64 begin = pmu_.now(), end = begin + policies.pmi_cost_cycles;
  frame.cpl = Cpl::kernel;
  u64 previous = begin, used = 0;  // cycle, and slots of all cycles until then
  for (u64 n = 1; n <= instructions; ++n) {
    const u64 cycle = begin + policies.pmi_cost_cycles * n / instructions;
    const u64 slots = (cycle - begin) * width, lost = slots > used + 1 ? slots - used - 1 : 0;
    Retirement r{.ip = handler_ip, .next_ip = handler_ip, .cycle = cycle, .signals = {Signal::instruction}};
    r.length = 1;
    r.cpl = r.cpl_after = Cpl::kernel;
    const auto set = [&](Quantity which, u64 value) {
      r.quantities[static_cast<unsigned>(which)] = static_cast<u32>(value);
    };
    set(Quantity::uops, 1);
    set(Quantity::cycles, cycle - previous);
    set(Quantity::slots, (cycle - previous) * width);
    set(Quantity::slots_backend, lost);
    pmu_.retire(r);
    previous = cycle;
    used += lost + 1;
  }
  pmu_.wait_until(end, frame);
}

/// As the core's TLBs have it.
u64 Monitor::page_size(u64) const { return 4096; }

const Registers* Monitor::user_registers() const {
  return frame_.registers_known ? &frame_.registers : nullptr;
}

std::vector<std::byte> Monitor::read_code(u64 address, std::size_t bytes) const {
  return program_.code(pid_, address, bytes);
}

std::vector<std::byte> Monitor::read_memory(u64 address, std::size_t bytes) const {
  return program_.memory(pid_, address, bytes);
}

}  // namespace pmusim
