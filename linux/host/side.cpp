// SPDX-License-Identifier: MIT
#include "host/side.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "host/commands.h"
#include "host/kernel_clock.h"
#include "host/outcome.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/arch/msr.h"
#include "session/monitor.h"

namespace pmusim::linux_driver {

namespace {

/// The process whose program does nothing.
constexpr int pid = 100;

/// A program that does nothing, of which everything is known.
class NoProgram final : public trace::Source {
 public:
  const trace::Contents& contents() const override { return contents_; }
  std::vector<std::byte> code(u32, u64, std::size_t) const override { return {}; }
  std::optional<u64> length() const override { return 0; }
  const std::optional<std::string>& truncation() const override { return truncation_; }
  Result<trace::Items, Error> read() override { return trace::Items(); }

 private:
  trace::Contents contents_{.addresses = true, .registers = true, .extended = true};
  std::optional<std::string> truncation_;
};

class KernelSide final : public Side {
 public:
  explicit KernelSide(const CpuModel& model) : machine_(model) {
    if (const int error = machine_.boot(); error != 0)
      throw CommandError(fmt::format("the kernel finds no PMU on {}: {}", model.name, std::strerror(-error)));
    // What a hybrid's PMU can sample is known from the second CPU of the type on: that of the first is lost
    // as the PMU is registered.
    if (linux_cpu_down(0) != 0 || linux_cpu_up(0) != 0)
      throw CommandError("the kernel refuses to take its CPU down");
    linux_task_started(pid, pid, "drained");
    linux_switch_to(pid, 0);
  }
  Pmu& pmu() override { return machine_.pmu(); }
  std::unique_ptr<DriverEvents> events() override { return events_of_kernel(); }
  void pass(u64 cycle, const InterruptFrame& frame) override {
    const kernel_frame interrupted = frame_of(frame);
    linux_set_user_frame(&interrupted);
    pmu().wait_until(cycle, frame);
    clock_.run(machine_, machine_.clock()(pmu().tsc()), interrupted);
    linux_run_deferred(&interrupted);
  }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> all;
    for (const Trap& trap : machine_.traps()) all.push_back(text_of(trap));
    return all;
  }

 private:
  std::byte* buffer() override {
    return machine_.physical(pmu().rdmsr(msr::PEBS_BASE).value_or(0) & pebs::base_register::ADDRESS);
  }

  KernelMachine machine_;
  KernelClock clock_;
};

class SessionSide final : public Side {
 public:
  explicit SessionSide(const CpuModel& model)
      : session_(value_or_fail(Session::open(
            std::make_unique<NoProgram>(),
            {.model = model, .kernel = emulated_release(), .throttling = perf::Throttling::on}))) {
    session_.monitor().on_side_band(trace::ProcessStart{.pid = pid, .tid = pid, .command = "drained"});
  }
  Pmu& pmu() override { return session_.pmu(); }
  std::unique_ptr<DriverEvents> events() override { return events_of(session_); }
  void pass(u64 cycle, const InterruptFrame& frame) override {
    pmu().wait_until(cycle, frame);
    session_.monitor().cpu(0).finish_block(frame.registers.rip, &frame.registers);
    session_.monitor().catch_up();
  }

 private:
  std::byte* buffer() override {
    return pmu().memory(driver::PebsOptions{}.buffer_address, buffer_bytes).data();
  }

  Session session_;
};

/// Throws where the driver has no area, or none that the processor can reach.
template <class T>
T read_at(Pmu& pmu, u64 address) {
  T value{};
  if (pmu.read_memory(address, std::as_writable_bytes(std::span(&value, 1))) != Fault::none)
    throw CommandError(fmt::format("there is no memory at {:#x}, where the driver has its buffer", address));
  return value;
}

void write_at(Pmu& pmu, u64 address, std::span<const std::byte> bytes) {
  if (pmu.write_memory(address, bytes) != Fault::none)
    throw CommandError(fmt::format("there is no memory at {:#x}, where the driver has its buffer", address));
}

void fill_ds_buffer(Pmu& pmu, std::span<const std::byte> records) {
  const u64 area = pmu.rdmsr(msr::DS_AREA).value_or(0);
  const u64 base = read_at<DsArea64>(pmu, area).pebs_base;
  write_at(pmu, base, records);
  const le64 index(base + records.size());
  write_at(pmu, area + offsetof(DsArea64, pebs_index), std::as_bytes(std::span(&index, 1)));
}

}  // namespace

void Side::fill(std::span<const std::byte> records) {
  if (!pmu().model().has_arch_pebs()) return fill_ds_buffer(pmu(), records);
  std::ranges::copy(records, buffer());
  const u64 index = pmu().rdmsr(msr::PEBS_INDEX).value_or(0);
  static_cast<void>(
      pmu().wrmsr(msr::PEBS_INDEX, (index & ~pebs::index_register::WRITE_OFFSET) | records.size()));
}

std::unique_ptr<Side> kernel_side(const CpuModel& model) { return std::make_unique<KernelSide>(model); }
std::unique_ptr<Side> session_side(const CpuModel& model) { return std::make_unique<SessionSide>(model); }

}  // namespace pmusim::linux_driver
