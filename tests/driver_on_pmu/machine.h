// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_ON_PMU_MACHINE_H
#define PMUSIM_TESTS_DRIVER_ON_PMU_MACHINE_H

#include <functional>

#include "pmusim/pmu/pmu.h"
#include "tests/support/driver_rig.h"

namespace pmusim::driver {

/// A sink that only calls back.
class TellingSink : public QuietSink {
 public:
  std::function<void(perf::Event&, const perf::SampleData&, const InterruptFrame&)> tell =
      [](perf::Event&, const perf::SampleData&, const InterruptFrame&) {};
  /// Code at an address; a conditional jump everywhere unless a test says otherwise.
  std::function<std::vector<std::byte>(u64 address)> code = [](u64) {
    return std::vector{std::byte{0x75}, std::byte{0x00}};
  };

  void output(perf::Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    tell(event, data, frame);
  }
  std::vector<std::byte> read_code(u64 address, std::size_t) const override { return code(address); }
};

inline CpuModel model_with_skid(std::string_view name, u32 skid_cycles) {
  CpuModel model = *find_cpu_model(name);
  model.policies.pmi_skid_cycles = model.policies.pebs_pmi_skid_cycles = skid_cycles;
  return model;
}

/// The real driver on the emulated PMU, without a perf core.
template <class CoreDriver>
class MachineWith : public DriverRig<Pmu, CoreDriver> {
 public:
  Pmu& pmu = this->hardware;
  TellingSink sink;

  explicit MachineWith(const CpuModel& model, const DriverOptions& options = {})
      : DriverRig<Pmu, CoreDriver>(Pmu(model), options) {
    pmu.set_pmi_handler(&this->driver);
    this->driver.attach(sink);
  }

  /// One instruction in a cycle of its own.
  void instruction(SignalSet signals = {Signal::instruction}) {
    ++cycle_;
    pmu.retire({.ip = ip, .next_ip = ip + 4, .cycle = cycle_, .signals = signals, .length = 4});
  }

  /// A conditional branch that is taken.
  void branch(u64 from, u64 to) {
    branch(from, to, BranchKind::conditional, {Signal::conditional, Signal::conditional_taken});
  }
  /// Any other; `signals` beside those of every branch.
  void branch(u64 from, u64 to, BranchKind kind, SignalSet signals = {}) {
    ++cycle_;
    pmu.retire({.ip = from,
                .next_ip = to,
                .cycle = cycle_,
                .signals = signals | SignalSet{Signal::instruction, Signal::branch},
                .length = 2,
                .branch = kind,
                .taken = true});
  }

  /// Lets a pending interrupt arrive.
  void idle() { pmu.wait_until(++cycle_, {}); }

  u64 ip = 0x1000;

 private:
  u64 cycle_ = 0;
};

using Machine = MachineWith<IntelDriver>;

inline perf::Attr hardware(perf::HardwareId id, u64 period = 0) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::hardware);
  attr.config = static_cast<u64>(id);
  attr.sample_period = period;
  return attr;
}

}  // namespace pmusim::driver

#endif
