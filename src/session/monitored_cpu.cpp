// SPDX-License-Identifier: MIT
#include "session/monitored_cpu.h"

#include <algorithm>
#include <utility>

#include "events/sampling_pmus.h"
#include "session/perf_time.h"
#include "session/sampling_cost.h"

namespace pmusim {

namespace {

driver::DriverOptions driver_options(const SessionOptions& options, const SharedByDrivers& shared) {
  driver::DriverOptions driver = options.driver;
  driver.kernel = options.kernel;
  if (shared.task_stacks != nullptr) driver.lbr.task_stacks = shared.task_stacks;
  if (shared.core != nullptr) driver.core = shared.core;
  driver.thread = std::max(driver.thread, shared.thread);
  if (const auto ops = events::find_sampling_pmu(options.model, "ibs_op")) driver.ibs_op_type = ops->type;
  return driver;
}

}  // namespace

MonitoredCpu::MonitoredCpu(Pmu& pmu, const SessionOptions& options, const trace::ProgramView& program,
                           Sight sight, const SharedByDrivers& shared)
    : program_(program),
      pmu_(pmu),
      driver_(driver::create_driver(pmu_, driver_options(options, shared).for_cpu(pmu.number()))),
      sight_(sight),
      sampling_takes_time_(sampling_takes_time(pmu.model().policies)),
      shifts_time_(sampling_takes_time_) {
  add_sampling_pmus(driver_options(options, shared));
}

MonitoredCpu::~MonitoredCpu() = default;

void MonitoredCpu::add_sampling_pmus(const driver::DriverOptions& options) {
  for (const events::SamplingPmu& pmu : events::sampling_pmus(model())) {
    const auto side = pmu.type == events::ibs_fetch_type ? driver::IbsSide::fetch : driver::IbsSide::op;
    ibs_.emplace_back(pmu.type, std::make_unique<driver::IbsDriver>(pmu_, side, options));
  }
}

void MonitoredCpu::attach(perf::PerfCpu& perf, perf::TscToNs clock) {
  perf_ = &perf;
  clock_ = clock;
  driver_->attach(perf);
  for (const auto& [type, ibs] : ibs_) ibs->attach(perf);
  perf.set_target(*this);
  pmu_.set_pmi_handler(this);
}

/// Null where it has none of the type.
driver::IbsDriver* MonitoredCpu::ibs(u32 type) const {
  const auto found = std::ranges::find(ibs_, type, [](const auto& unit) { return unit.first; });
  return found == ibs_.end() ? nullptr : found->second.get();
}

driver::DriverStatistics MonitoredCpu::driver_statistics() const {
  driver::DriverStatistics all = driver_->statistics();
  for (const auto& [type, ibs] : ibs_) all += ibs->statistics();
  return all;
}

void MonitoredCpu::interrupt_user(u64 ip) {
  user_ = frame_;
  user_.registers.rip = ip;
  in_kernel_ = true;
}

/// By SYSCALL, as a rule, which leaves where to go on and the flags in RCX and R11. A kernel saves what it
/// finds then; the registers of the trace are those behind the call.
void MonitoredCpu::leave_user(const trace::BlockRun& run) {
  const u64 ip = run.block->end();
  if (run.registers.size() > 1) {
    frame_.registers_known = true;
    frame_.registers = run.registers[run.registers.size() - 2];
  }
  frame_.registers[Gpr::rcx] = ip;
  frame_.registers[Gpr::r11] = frame_.registers.rflags;
  interrupt_user(ip);
}

void MonitoredCpu::finish_block(u64 next_ip, const Registers* registers, Cpl ring) {
  frame_.cpl = ring;
  in_kernel_ = ring == Cpl::kernel;
  frame_.registers_known = registers != nullptr;
  if (frame_.registers_known) frame_.registers = *registers;
  frame_.registers.rip = next_ip;
  if (pmu_.now() >= deadline_cycle_) catch_up();
}

void MonitoredCpu::catch_up() {
  perf_->advance(now(), frame_);
  deadline_cycle_ = first_cycle_at(perf_->next_deadline(), clock_, tsc_clock(model().core));
  if (on_due_work_) on_due_work_();
}

void MonitoredCpu::stand_still_until(u64 core_cycle) {
  const u64 cycle = core_cycle + cycles_ahead_;
  pmu_.halt_until(cycle, frame_);
  cycles_ahead_ += pmu_.now() - std::min(cycle, pmu_.now());
  if (pmu_.now() >= deadline_cycle_) catch_up();
}

void MonitoredCpu::leave() {
  const u64 before = pmu_.now();
  pmu_.take_interrupts(frame_);
  cycles_ahead_ += pmu_.now() - before;
}

void MonitoredCpu::halt_until(u64 tsc) {
  InterruptFrame idle;
  idle.cpl = Cpl::kernel;
  pmu_.halt_until(tsc_clock(model().core).cycle_of(tsc), idle);
  perf_->advance(now(), idle);
  deadline_cycle_ = first_cycle_at(perf_->next_deadline(), clock_, tsc_clock(model().core));
}

void MonitoredCpu::take_extended(const ExtendedState& state) {
  pmu_.set_extended_state(&state);
  extended_stale_ = false;
}

void MonitoredCpu::handle_pmi(const InterruptFrame& frame) {
  perf_->set_time(now());
  driver_->handle_pmi(frame);
  for (const auto& [type, ibs] : ibs_)
    if (ibs->handle_nmi(frame)) driver_->explain_interrupt();
  if (sampling_takes_time_) run_handler(frame);
}

// Of what the kernel does only cycles and instructions are known: none touches memory or branches, and slots
// that they do not use count as lost to the back end.
void MonitoredCpu::run_handler(InterruptFrame frame) {
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
u64 MonitoredCpu::page_size(u64) const { return 4096; }

const Registers* MonitoredCpu::user_registers() const {
  return user_frame().registers_known ? &user_frame().registers : nullptr;
}

std::vector<std::byte> MonitoredCpu::read_code(u64 address, std::size_t bytes) const {
  return program_.code(pid_, address, bytes);
}

std::vector<std::byte> MonitoredCpu::read_memory(u64 address, std::size_t bytes) const {
  return program_.memory(pid_, address, bytes);
}

}  // namespace pmusim
