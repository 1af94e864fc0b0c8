// SPDX-License-Identifier: MIT
// Any contents of the LBR registers, any records, any request and any code behind the branches: what the LBR
// driver makes of them stays within the stack's bounds and within the request.
#include "tests/driver/lbr_fixture.h"
#include "tests/support/fuzz_input.h"
#include "tests/support/quiet_sink.h"

namespace pmusim::driver {
namespace {

const FakeBus& any_cpu(FuzzInput& input) {
  static const std::vector<FakeBus> cpus{
      core2(),     nehalem(),          sandy_bridge(), haswell(),  haswell_without_tsx(),
      skylake(),   skylake_with_tsx(), ice_lake(),     goldmont(), goldmont_plus(),
      lion_cove(), skymont(),          darkmont()};
  return input.pick(cpus);
}

/// Code of the input's choice wherever code is read.
class AnyCode final : public QuietSink {
 public:
  explicit AnyCode(FuzzInput& input) : input_(input) {}
  std::vector<std::byte> read_code(u64, std::size_t bytes) const override {
    const auto code = std::as_bytes(input_.bytes(std::min(bytes, input_.below(17))));
    return {code.begin(), code.end()};
  }

 private:
  FuzzInput& input_;
};

constexpr std::size_t most_records = 40;

class Rig {
 public:
  explicit Rig(FuzzInput& input)
      : input_(input), bus_(any_cpu(input)), lbr_(access_, enumerate(bus_)), code_(input) {
    lbr_.set_up();
    event_.leader = &event_;
    event_.attr.sample_period = 1000;
    event_.attr.sample_type = perf::sample::IP | perf::sample::BRANCH_STACK;
    event_.attr.branch_sample_type = input.take<u32>() & perf::branch::ALL;
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  bool open() { return lbr_.init(event_).ok() && LbrDriver::uses_lbr(event_); }
  void run() {
    lbr_.add(event_);
    while (!input_.empty()) step();
    lbr_.remove(event_);
  }

 private:
  void step() {
    switch (input_.below(6)) {
      case 0:
        return fill_registers();
      case 1:
        return interrupt();
      case 2:
        return record();
      case 3:
        return lbr_.context_switch(perf::PmuDriver::SwitchDirection::out, task());
      case 4:
        return lbr_.context_switch(perf::PmuDriver::SwitchDirection::in, task());
      default:
        return input_.below(32) != 0 ? lbr_.reset() : lbr_.forget_code();
    }
  }
  perf::TaskId task() {
    const u32 number = 1 + static_cast<u32>(input_.below(3));
    return {number, number};
  }
  u64 address() { return input_.flag() ? 0x400000 + input_.below(256) : input_.number(); }
  void fill_registers() {
    const LbrTraits& traits = lbr_.traits();
    for (u32 n = 0; n < std::min(traits.entries, 4u); ++n) {
      set(traits.from_base + n, address());
      set(traits.to_base + n, address());
      if (traits.info_base != 0) set(traits.info_base + n, input_.take<u64>());
    }
    set(msr::LBR_TOS, input_.number());
  }
  void set(u32 address, u64 value) {
    if (const auto found = bus_.msrs.find(address); found != bus_.msrs.end()) found->second = value;
  }
  void interrupt() {
    lbr_.read_in_pmi(code_);
    const perf::BranchStack* const stack = lbr_.stack(event_);
    must(stack != nullptr);
    check(*stack);
    lbr_.disable();
    lbr_.enable(input_.flag() ? LbrDriver::EnableMode::after_pmi : LbrDriver::EnableMode::full);
  }
  void record() {
    std::vector<pebs::LbrRecord> records(input_.below(most_records + 1));
    for (pebs::LbrRecord& each : records) {
      each.from = address();
      each.to = address();
      each.info = input_.take<u64>();
    }
    check(lbr_.decode_records(event_, records, input_.flag() ? RecordAge::now : RecordAge::unknown, code_));
  }
  static void check(const perf::BranchStack& stack) {
    must(stack.entries.size() <= most_records);
    must(stack.counters.empty() || stack.counters.size() == stack.entries.size());
  }

  FuzzInput& input_;
  FakeBus bus_;
  RegisterAccess access_{bus_};
  LbrDriver lbr_;
  AnyCode code_;
  perf::Event event_;
};

}  // namespace
}  // namespace pmusim::driver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pmusim::FuzzInput input(data, size);
  pmusim::driver::Rig rig(input);
  if (rig.open()) rig.run();
  return 0;
}
