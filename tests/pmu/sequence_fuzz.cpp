// SPDX-License-Identifier: MIT
// Any sequence of register accesses, retirements, XSAVE instructions and interrupts, on any model and with
// any policies: nothing is touched outside of memory, and what is derived from registers stays derived.
#include <algorithm>
#include <map>
#include <vector>

#include "pmusim/arch/debug_store.h"
#include "pmusim/pmu/pmu.h"
#include "tests/pmu/units.h"
#include "tests/support/fuzz_input.h"

namespace pmusim {
namespace {

constexpr u64 region_bytes = 0x2000;
constexpr u64 round_trip = 0x60000;  // nobody else's
constexpr u64 regions[] = {0x10000, 0x20000, 0x40000, 0x50000, 0xFFFF'8880'0000'0000};

/// A PMU is expensive to make and cheap to copy.
const Pmu& fresh_pmu(std::size_t model_number, std::size_t policies) {
  static std::map<std::pair<std::size_t, std::size_t>, Pmu> made;
  const auto key = std::pair(model_number, policies);
  if (const auto found = made.find(key); found != made.end()) return found->second;
  CpuModel model = cpu_models()[model_number];
  if (policies != 0)
    for (const PolicyInfo& policy : policy_table()) model.policies.*policy.member = policies == 1 ? 0 : 1;
  Pmu pmu(std::move(model));
  for (const u64 address : regions) must(pmu.map_memory(address, region_bytes));
  return made.emplace(key, std::move(pmu)).first->second;
}

class FuzzedCpu final : public PmiHandler {
 public:
  FuzzedCpu(const Pmu& fresh, FuzzInput& input) : pmu_(fresh), input_(input) { pmu_.set_pmi_handler(this); }
  FuzzedCpu(const FuzzedCpu&) = delete;
  FuzzedCpu& operator=(const FuzzedCpu&) = delete;

  void step() {
    switch (input_.below(16)) {
      case 0:
        return write_any();
      case 1:
      case 2:
      case 3:
        return write_legal();
      case 4:
        return read();
      case 5:
      case 6:
      case 7:
        return retire(1 + input_.below(16));
      case 8:
        return wait();
      case 9:
        return advance();
      case 10:
        return save();
      case 11:
        return restore();
      case 12:
        return write_memory();
      case 13:
        return point_into_memory();
      case 14:
        return switch_thread();
      default:
        return rare();
    }
  }
  void check() const { must(PmuUnits::of(pmu_).is_derived()); }

 private:
  const Register& any_register() { return input_.pick(pmu_.registers().all()); }
  u64 address() { return input_.pick(regions) + (input_.flag() ? 64 * input_.below(256) : input_.number()); }

  void write_any() {
    const u32 address = input_.flag() ? any_register().address : input_.take<u32>();
    static_cast<void>(pmu_.wrmsr(address, input_.number()));
  }
  void write_legal() {
    const Register& target = any_register();
    static_cast<void>(pmu_.wrmsr(target.address, input_.number() & target.writable));
  }
  void read() {
    const Register& source = any_register();
    static_cast<void>(pmu_.rdmsr(source.address));
    static_cast<void>(pmu_.rdpmc(static_cast<u32>(input_.number()), input_.flag() ? Cpl::user : Cpl::kernel));
    static_cast<void>(pmu_.cpuid(static_cast<u32>(input_.below(0x30)), static_cast<u32>(input_.below(32))));
  }

  /// Fills in what `r` points to from members.
  Retirement retirement() {
    Retirement r{.ip = 0x400000 + 16 * input_.below(256), .length = 4};
    r.cycle = pmu_.now() + input_.below(8);
    r.signals.add(Signal::instruction);
    for (std::size_t n = input_.below(4); n != 0; --n)
      r.signals.add(static_cast<Signal>(input_.below(static_cast<std::size_t>(Signal::count_))));
    r.quantities[input_.below(r.quantities.size())] = static_cast<u32>(input_.below(64));
    r.next_ip = r.ip + r.length;
    if (input_.flag()) {
      r.branch = static_cast<BranchKind>(input_.below(static_cast<std::size_t>(BranchKind::tsx_abort) + 1));
      r.taken = input_.flag();
      r.mispredicted = input_.flag();
      r.next_ip = input_.number();
    }
    r.cpl = input_.below(4) == 0 ? Cpl::kernel : Cpl::user;
    r.cpl_after = input_.below(4) == 0 ? Cpl::kernel : Cpl::user;
    r.tx = static_cast<TxState>(input_.below(3));
    r.retire_latency_cycles = input_.take<u16>();
    accesses_[0] = {.address = input_.number(), .bytes = 8, .latency_cycles = input_.take<u16>()};
    r.memory = std::span(accesses_).first(input_.below(2));
    if (input_.flag()) r.registers = &general_;
    if (input_.below(4) == 0) r.extended = change();
    return r;
  }
  const ExtendedChange* change() {
    values_ = {input_.number(), input_.number()};
    write_ = {static_cast<StateComponent>(input_.below(static_cast<std::size_t>(StateComponent::count_))),
              static_cast<u16>(input_.below(1100)), values_};
    change_ = {input_.number(), std::span(&write_, 1)};
    return &change_;
  }
  void retire(std::size_t count) {
    Retirement r = retirement();
    const u64 cycles = input_.below(4);
    for (; count != 0; --count) {
      r.cycle = std::max(r.cycle, pmu_.now()) + cycles;
      pmu_.retire(r);
    }
  }
  void wait() {
    const u64 cycles = input_.flag() ? input_.take<u16>() : input_.take<u32>();
    pmu_.wait_until(pmu_.now() + cycles, {.cpl = input_.flag() ? Cpl::user : Cpl::kernel});
  }
  /// In bulk what a copy does instruction by instruction.
  void advance() {
    Retirement r = retirement();
    r.extended = nullptr;
    const u64 start = pmu_.now(), length = r.cycle - start;
    const BlockTotals totals = pmu_.totals({&r, 1}, start);
    const u64 wanted = 1 + input_.take<u16>();
    Pmu exact = pmu_;
    exact.set_pmi_handler(nullptr);
    const u64 done = pmu_.advance(totals, wanted, r.registers);
    must(done <= wanted);
    if (done > 64) return;
    for (u64 n = 1; n <= done; ++n) {
      r.cycle = start + n * length;
      exact.retire(r);
    }
    for (const Register& each : pmu_.registers().all())
      must(pmu_.rdmsr(each.address).value_or(0) == exact.rdmsr(each.address).value_or(0));
  }

  /// Whether a component is in use is not asked: what holds its initial values may be or not.
  bool has_registers_of(const ExtendedState& other) const {
    for (unsigned n = 0; n < static_cast<unsigned>(StateComponent::count_); ++n) {
      const auto component = static_cast<StateComponent>(n);
      if (!std::ranges::equal(pmu_.extended_state().component(component), other.component(component)))
        return false;
    }
    return true;
  }
  XsaveOperands operands() { return {address(), input_.number(), input_.flag() ? Cpl::kernel : Cpl::user}; }
  void save() {
    static_cast<void>(pmu_.save(static_cast<SaveInstruction>(input_.below(4)), operands()));
    const u64 features = input_.number();
    must(pmu_.map_memory(round_trip, region_bytes));
    const ExtendedState before = pmu_.extended_state();
    if (pmu_.xsaves(round_trip, features) == Fault::none) {
      must(pmu_.xrstors(round_trip, features) == Fault::none);
      must(has_registers_of(before));
    }
    must(pmu_.unmap_memory(round_trip));
  }
  void restore() {
    const auto which = input_.flag() ? RestoreInstruction::xrstor : RestoreInstruction::xrstors;
    const ExtendedState before = pmu_.extended_state();
    if (pmu_.restore(which, operands()) != Fault::none) must(pmu_.extended_state() == before);
  }
  void write_memory() {
    const u64 to = address(), value = input_.number();
    static_cast<void>(pmu_.write_memory(to, std::as_bytes(std::span(&value, 1))));
  }
  /// A DS area whose buffers lie in memory, more or less.
  void point_into_memory() {
    DsArea64 area{};
    area.bts_base = area.bts_index = area.pebs_base = area.pebs_index = regions[1];
    area.bts_maximum = area.pebs_maximum = regions[1] + input_.below(0x2100);
    area.bts_threshold = area.pebs_threshold = regions[1] + input_.below(0x2100);
    if (input_.flag()) area.pebs_index = address();
    static_cast<void>(pmu_.write_memory(regions[0], std::as_bytes(std::span(&area, 1))));
    static_cast<void>(pmu_.wrmsr(msr::DS_AREA, regions[0]));
  }
  void switch_thread() {
    const ExtendedState state = pmu_.extended_state();
    pmu_.set_extended_state(input_.flag() ? &state : nullptr);
    pmu_.set_xsave_control({.os_enabled = input_.below(8) != 0, .task_switched = input_.below(8) == 0});
    pmu_.set_user_rdpmc(input_.flag() ? UserRdpmc::allowed : UserRdpmc::forbidden);
  }
  void rare() {
    switch (input_.below(7)) {
      case 0:
        return pmu_.reset();
      case 1:
        return pmu_.debug_exception();
      case 2:
        return static_cast<void>(pmu_.xsetbv(0, input_.number()));
      case 3:
        return static_cast<void>(pmu_.unmap_memory(input_.pick(regions)));
      case 4:
        return static_cast<void>(pmu_.map_memory(input_.pick(regions), region_bytes));
      case 5:
        return pmu_.warm_reset();
      default:
        return pmu_.deep_sleep();
    }
  }

  void handle_pmi(const InterruptFrame&) override {
    const u64 status = pmu_.rdmsr(msr::PERF_GLOBAL_STATUS).value_or(0);
    static_cast<void>(pmu_.wrmsr(msr::PERF_GLOBAL_STATUS_RESET, status));
    if (input_.flag()) static_cast<void>(pmu_.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI));
    if (input_.flag()) write_legal();
    if (input_.below(8) == 0)
      pmu_.retire({.ip = 0x1000, .next_ip = 0x1004, .cycle = pmu_.now() + 1, .length = 4});
  }

  Pmu pmu_;
  FuzzInput& input_;
  std::array<MemoryAccess, 1> accesses_;
  Registers general_;
  std::array<u64, 2> values_{};
  ExtendedWrite write_;
  ExtendedChange change_;
};

}  // namespace
}  // namespace pmusim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  FuzzInput input(data, size);
  const std::size_t model = input.below(cpu_models().size()), policies = input.below(3);
  FuzzedCpu machine(fresh_pmu(model, policies), input);
  while (!input.empty()) {
    machine.step();
    machine.check();
  }
  return 0;
}
