// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_LBR_FIXTURE_H
#define PMUSIM_TESTS_DRIVER_LBR_FIXTURE_H

#include "driver/intel/lbr/lbr.h"
#include "fake_code.h"
#include "fake_cpus.h"

namespace pmusim::driver {

/// Goldmont: cycles above the target.
inline FakeBus goldmont() { return product(0x506C9, {0x07300404, 0, 0, 0x603}, 0x32C6); }
inline FakeBus goldmont_plus() { return product(0x706A8, {0x07300404, 0, 0, 0x603}, 0x32C7); }
inline FakeBus haswell_without_tsx() {
  FakeBus bus = haswell();
  bus.leaves[{7, 0}].ebx = 0;
  return bus;
}
/// Core 2: four records at the old addresses and no filter register.
inline FakeBus core2() {
  FakeBus bus = product(0x6F6, {0x07280202, 0, 0, 0x503}, 0x2);
  for (u32 i = 0; i < 4; ++i) bus.msrs[msr::LBR_CORE_FROM_IP + i] = bus.msrs[msr::LBR_CORE_TO_IP + i] = 0;
  bus.msrs.erase(msr::LBR_SELECT);
  return bus;
}

/// The LBR part on a fake CPU. Tests put records into the registers themselves.
class LbrRig {
 public:
  explicit LbrRig(FakeBus cpu, perf::Kernel kernel = perf::default_kernel)
      : bus(std::move(cpu)), lbr(access, enumerate(bus, kernel)) {
    lbr.set_up();
    bus.writes.clear();
  }
  LbrRig(const LbrRig&) = delete;
  LbrRig& operator=(const LbrRig&) = delete;

  static perf::Event event(u64 branch_sample_type) {
    perf::Event e;
    e.attr.sample_period = 1000;
    e.attr.sample_type = perf::sample::IP | perf::sample::BRANCH_STACK;
    e.attr.branch_sample_type = branch_sample_type;
    return e;
  }
  /// The errno that opening gives, 0 if it works.
  int open(perf::Event& e) {
    if (e.leader == nullptr) e.leader = &e;
    const auto result = lbr.init(e);
    refusal = result.ok() ? "" : result.error().message;
    return result.ok() ? 0 : result.error().error_number;
  }
  int open_with(u64 branch_sample_type) {
    perf::Event e = event(branch_sample_type);
    return open(e);
  }
  /// What the filter register gets for a request.
  u64 filter_of(u64 branch_sample_type) {
    perf::Event e = event(branch_sample_type);
    return open(e) == 0 ? data_of(e).branch_config : ~u64{0};
  }
  /// Opens `e`, puts it on the PMU and reads the records for one sample of it.
  perf::BranchStack sample(perf::Event& e) {
    if (open(e) != 0) return {};
    e.time_running = 1;  // the first start of an event resets the records
    lbr.add(e);
    lbr.read_in_pmi(code);
    const perf::BranchStack* stack = lbr.stack(e);
    return stack != nullptr ? *stack : perf::BranchStack{};
  }
  void put(u32 address, u64 value) { bus.msrs[address] = value; }
  u64 value(u32 address) const { return bus.msrs.at(address); }

  FakeBus bus;
  RegisterAccess access{bus};
  LbrDriver lbr;
  std::string refusal;  ///< the sentence of the last event that was not opened
  FakeCode code;
};

}  // namespace pmusim::driver

#endif
