#ifndef PMUSIM_TESTS_DRIVER_ON_PMU_MACHINE_H
#define PMUSIM_TESTS_DRIVER_ON_PMU_MACHINE_H

#include <deque>
#include <functional>

#include "pmusim/driver/intel_driver.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::driver {

/// A sink that only tells somebody.
class TellingSink : public perf::SampleSink {
 public:
  std::function<void(perf::Event&, const perf::SampleData&, const InterruptFrame&)> tell =
      [](perf::Event&, const perf::SampleData&, const InterruptFrame&) {};

  Verdict overflow(perf::Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    tell(event, data, frame);
    return Verdict::keep;
  }
  void output(perf::Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    tell(event, data, frame);
  }
  void lost_samples(perf::Event& event, u64 count) override { event.lost_samples += count; }
  Verdict account_interrupt(perf::Event&) override { return Verdict::keep; }
  u64 time_of_tsc(u64 tsc) const override { return tsc; }
  u64 now() const override { return 0; }
  /// Code at an address; a conditional jump everywhere unless a test says otherwise.
  std::function<std::vector<std::byte>(u64 address)> code = [](u64) {
    return std::vector{std::byte{0x75}, std::byte{0x00}};
  };
  std::vector<std::byte> read_code(u64 address, std::size_t) const override { return code(address); }
};

inline CpuModel model_with_skid(std::string_view name, u32 skid_cycles) {
  CpuModel model = *find_cpu_model(name);
  model.policies.pmi_skid_cycles = model.policies.pebs_pmi_skid_cycles = skid_cycles;
  return model;
}

/// The real driver on the emulated PMU, without a perf core.
class Machine {
 public:
  Pmu pmu;
  IntelDriver driver;
  TellingSink sink;

  explicit Machine(const CpuModel& model, const DriverOptions& options = {})
      : pmu(model), driver(pmu, options) {
    pmu.set_pmi_handler(&driver);
    driver.attach(sink);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  perf::Event& open(const perf::Attr& attr, perf::Event* leader = nullptr) {
    perf::Event& event = events_.emplace_back();
    event.attr = attr;
    event.leader = leader != nullptr ? leader : &event;
    event.state = perf::EventState::inactive;
    const auto result = driver.init(event);
    if (!result.ok()) error = result.error().message, error_number = result.error().error_number;
    if (leader != nullptr) leader->siblings.push_back(&event);
    return event;
  }
  bool start(perf::Event& leader) {
    driver.disable();
    driver.begin();
    bool fits = driver.add(leader);
    for (perf::Event* sibling : leader.siblings) fits = fits && driver.add(*sibling);
    fits = fits && driver.commit();
    if (!fits) driver.cancel();
    driver.enable();
    return fits;
  }
  void stop(perf::Event& leader) {
    driver.disable();
    for (perf::Event* sibling : leader.siblings) driver.remove(*sibling);
    driver.remove(leader);
    driver.enable();
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
  std::string error;  ///< the latest refusal
  int error_number = 0;

 private:
  u64 cycle_ = 0;
  std::deque<perf::Event> events_;
};

inline perf::Attr hardware(perf::HardwareId id, u64 period = 0) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::hardware);
  attr.config = static_cast<u64>(id);
  attr.sample_period = period;
  return attr;
}

}  // namespace pmusim::driver

#endif
