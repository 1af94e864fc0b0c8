// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PMU_GUEST_H
#define PMUSIM_TESTS_PMU_GUEST_H

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pmusim/pmu/pmu.h"

namespace pmusim::test {

/// What a guest operating system's PMU tests run: a machine, a loop with known counts and a PMI handler that
/// acknowledges as they do.
class Guest : public PmiHandler {
 public:
  static constexpr unsigned instructions_per_round = 10, cycles_per_round = 30;

  explicit Guest(CpuModel model) : pmu(std::move(model)) { pmu.set_pmi_handler(this); }
  explicit Guest(const std::string& name) : Guest(with_short_skid(name)) {}

  static CpuModel with_short_skid(const std::string& name) {
    CpuModel model = find_cpu_model(name).value();
    model.policies.pmi_skid_cycles = 0;
    return model;
  }

  void write(u32 address, u64 value) {
    EXPECT_EQ(pmu.wrmsr(address, value), Fault::none) << std::hex << "WRMSR " << address << " <- " << value;
  }
  u64 read(u32 address) {
    const auto value = pmu.rdmsr(address);
    EXPECT_TRUE(value.ok()) << std::hex << "RDMSR " << address;
    return value.value_or(0);
  }
  bool faults(u32 address, u64 value) { return pmu.wrmsr(address, value) == Fault::gp; }

  u64 width_mask() const { return low_bits(pmu.model().counter_width); }
  bool has_global_ctrl() const { return pmu.model().perfmon_version >= 2; }
  void enable_globally(u64 counters) {
    if (has_global_ctrl()) write(msr::PERF_GLOBAL_CTRL, counters);
  }

  /// A round is ten instructions in thirty cycles; the last is the loop's branch, one load goes to the last
  /// level cache and misses it in every fourth round, and the loop's exit is mispredicted.
  void run_loop(u64 rounds, TxState tx = TxState::none) {
    for (u64 round = 0; round < rounds; ++round)
      for (unsigned i = 0; i < instructions_per_round; ++i) retire_one(round, i, round + 1 == rounds, tx);
  }
  /// `count` plain instructions, `at_once` in each cycle.
  void retire_instructions(unsigned count, unsigned at_once = 1, TxState tx = TxState::none) {
    for (unsigned i = 0; i < count; ++i) {
      if (i % at_once == 0) ++cycle_;
      Retirement r = instruction();
      r.tx = tx;
      pmu.retire(r);
    }
  }
  void abort_transaction() {
    Retirement r = instruction();
    r.cycle = ++cycle_;
    r.signals = {Signal::tx_abort};
    r.length = 0;
    r.branch = BranchKind::tsx_abort;
    r.tx = TxState::aborting;
    pmu.retire(r);
  }
  void take_branch() {
    ++cycle_;
    Retirement r = instruction();
    r.signals.add(Signal::branch);
    r.branch = BranchKind::direct_jump;
    r.taken = true;
    r.next_ip = r.ip + 0x100;
    pmu.retire(r);
  }
  /// Lets the last cycle close and a PMI in flight arrive.
  void settle() { pmu.wait_until(++cycle_, {.cpl = Cpl::kernel}); }

  void handle_pmi(const InterruptFrame&) override {
    ++pmis;
    status_at_pmi = pmu.model().perfmon_version >= 2 ? read(msr::PERF_GLOBAL_STATUS) : 0;
    lvtpc_at_pmi = read(msr::X2APIC_LVTPC);
    if (unmasks) write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }

  Pmu pmu;
  unsigned pmis = 0;
  u64 status_at_pmi = 0, lvtpc_at_pmi = 0;
  bool unmasks = true;

 private:
  Retirement instruction() const {
    return {
        .ip = 0x401000, .next_ip = 0x401004, .cycle = cycle_, .signals = {Signal::instruction}, .length = 4};
  }
  void retire_one(u64 round, unsigned index, bool last_round, TxState tx) {
    cycle_ += cycles_per_round / instructions_per_round;
    Retirement r = instruction();
    r.tx = tx;
    auto& quantities = r.quantities;
    quantities[static_cast<unsigned>(Quantity::uops)] = 1;
    const auto set = [&](Quantity q, u32 value) { quantities[static_cast<unsigned>(q)] = value; };
    set(Quantity::slots_backend, 2);
    set(Quantity::slots_frontend, 1);
    if (index == 0) set(Quantity::llc_references, 1);
    if (index == 0 && round % 4 == 0) set(Quantity::llc_misses, 1);
    if (index + 1 == instructions_per_round) {
      r.signals.add(Signal::branch);
      r.branch = BranchKind::conditional;
      r.taken = !last_round;
      r.next_ip = 0x400FDC;
      if (last_round) {
        r.signals.add(Signal::mispredicted);
        r.mispredicted = true;
        set(Quantity::slots_bad_speculation, 8);
      }
    }
    pmu.retire(r);
  }

  u64 cycle_ = 0;
};

/// Names of the presets for parameterised tests.
inline std::vector<std::string> model_names(bool (*wanted)(const CpuModel&)) {
  std::vector<std::string> names;
  for (const CpuModel& model : cpu_models())
    if (wanted(model)) names.push_back(model.name);
  return names;
}
/// "sapphirerapids", "goldmont_plus": what may stand in a test's name.
inline std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

}  // namespace pmusim::test

#endif
