// SPDX-License-Identifier: MIT
// Two speeds, one result: a run that goes in bulk wherever it can leaves the same registers, branch records,
// memory and interrupts as the run that retires every instruction.
#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "msr/counters.h"
#include "pmusim/arch/branch.h"
#include "pmusim/arch/debug_store.h"
#include "tests/pmu/guest.h"
#include "tests/support/dice.h"
#include "tests/support/quantity_parts.h"

namespace pmusim::bulk_property_test {
namespace {

constexpr u64 area = 0x10000, pebs_buffer = 0x20000, bts_buffer = 0x40000, xsave_image = 0x50000;
constexpr u64 area_bytes = 0x1000, pebs_bytes = 0x2000, bts_bytes = 0x600;
constexpr std::pair<u64, u64> regions[] = {
    {area, area_bytes}, {pebs_buffer, pebs_bytes}, {bts_buffer, bts_bytes}, {xsave_image, 0x1000}};

/// What software did and saw at one PMI.
struct Interrupt {
  u64 cycle, status;
  InterruptFrame frame;
  friend bool operator==(const Interrupt& a, const Interrupt& b) {
    return a.cycle == b.cycle && a.status == b.status && a.frame.cpl == b.frame.cpl &&
           a.frame.registers_known == b.frame.registers_known && a.frame.registers == b.frame.registers;
  }
  friend void PrintTo(const Interrupt& i, std::ostream* out) {
    *out << "cycle " << i.cycle << std::hex << " status " << i.status << " rip " << i.frame.registers.rip
         << std::dec;
  }
};

/// One execution of a block, from cycle 0 on, and what its retirements point to.
struct Block {
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  std::vector<Retirement> execution;
  std::array<MemoryAccess, 2> accesses;
  Registers registers;
  BlockTotals totals;  ///< of some earlier programming
};

/// A PMU with a driver that answers each PMI by acknowledging, giving counters their periods and unmasking.
class DrivenCpu : public PmiHandler {
 public:
  explicit DrivenCpu(const CpuModel& model) : pmu(model) {
    pmu.set_pmi_handler(this);
    for (const auto& [address, bytes] : regions) EXPECT_TRUE(pmu.map_memory(address, bytes));
  }
  DrivenCpu(const DrivenCpu&) = delete;
  DrivenCpu& operator=(const DrivenCpu&) = delete;

  void write(u32 address, u64 value) {
    if (const auto* entry = pmu.registers().find(address); entry != nullptr)
      static_cast<void>(pmu.wrmsr(address, value & entry->writable));
  }
  void set_counters(u64 which) {
    for (const unsigned counter : set_bits(which & pmu.model().counters())) {
      const bool fixed = counter >= first_fixed;
      write(fixed ? msr::FIXED_CTR0 + counter - first_fixed : msr::PMC0 + counter, -(period + 7 * counter));
    }
  }
  void handle_pmi(const InterruptFrame& frame) override {
    const u64 status = pmu.rdmsr(msr::PERF_GLOBAL_STATUS).value_or(~u64{0});
    interrupts.push_back({pmu.now(), status, frame});
    write(msr::PERF_GLOBAL_STATUS_RESET, status);
    set_counters(status);
    write(msr::PERF_GLOBAL_CTRL, global_ctrl);
    write(msr::DEBUGCTL, debugctl);
    reset_buffers();
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }
  void reset_buffers() {
    const auto pointers = [&](auto layout) {
      layout.bts_base = layout.bts_index = bts_buffer;
      layout.bts_maximum = layout.bts_threshold = bts_buffer + bts_bytes;
      layout.pebs_base = layout.pebs_index = pebs_buffer;
      layout.pebs_maximum = pebs_buffer + pebs_bytes;
      layout.pebs_threshold = pebs_buffer + 0x400;
      EXPECT_EQ(pmu.write_memory(area, std::as_bytes(std::span(&layout, 1))), Fault::none);
    };
    if (pmu.model().pebs.dtes64)
      pointers(DsArea64{});
    else
      pointers(DsArea32{});
    write(msr::PEBS_INDEX, 0x80000100);
  }
  void execute(const Block& block) {
    const u64 start = pmu.now();
    for (Retirement r : block.execution) {
      r.cycle += start;
      pmu.retire(r);
    }
  }

  Pmu pmu;
  std::vector<Interrupt> interrupts;
  u64 period = 100, global_ctrl = 0, debugctl = 0;
};

/// No more cycles are lost to anything than have passed.
void limit_lost_cycles(Quantities& quantities) {
  const u32 passed = quantities[static_cast<unsigned>(Quantity::cycles)];
  for (auto q = static_cast<unsigned>(Quantity::stall_cycles);
       q <= static_cast<unsigned>(Quantity::starved_cycles); ++q)
    quantities[q] = std::min(quantities[q], passed);
}

/// Draws programmings and blocks.
class Draws : public Dice {
 public:
  using Dice::Dice;

  void fill(Block& block, const CpuModel& model) {
    for (MemoryAccess& access : block.accesses)
      access = {.address = below(1 << 20), .bytes = 8, .latency_cycles = static_cast<u32>(below(200))};
    for (u64& value : block.registers.gpr) value = bits64();
    const Cpl cpl = one_in(4) ? Cpl::kernel : Cpl::user;
    const TxState tx = model.rtm && one_in(4) ? TxState::in_tx : TxState::none;
    u64 cycle = 0;
    for (u64 n = 1 + below(10), i = 0; i < n; ++i) {
      const u64 passed = one_in(3) ? 0 : below(6);
      block.execution.push_back(retirement(block, cycle += passed, passed));
      limit_lost_cycles(block.execution.back().quantities);
      test::keep_parts_within(block.execution.back().quantities, model.events);
      block.execution.back().cpl = one_in(100) ? Cpl::kernel : cpl;
      block.execution.back().tx = one_in(tx == TxState::in_tx ? 30 : 300) ? TxState::aborting : tx;
    }
  }

  void program(DrivenCpu& machine, const CpuModel& model) {
    using namespace msr;
    machine.period = 20 + below(one_in(2) ? 200 : 5000);
    machine.global_ctrl = one_in(3) ? bits64() : model.counters() | status::PERF_METRICS;
    machine.debugctl =
        bits64() & (debugctl::LBR | debugctl::FREEZE_LBRS_ON_PMI | debugctl::FREEZE_PERFMON_ON_PMI);
    if (one_in(8)) machine.debugctl |= debugctl::TR | debugctl::BTS | (bits64() & debugctl::BTINT);
    machine.write(LBR_SELECT, one_in(2) ? 0 : bits64() & bits64());
    machine.write(ARCH_LBR_DEPTH, u64{8} << below(3));
    machine.write(ARCH_LBR_CTL, one_in(2) ? ~lbr_ctl::CALL_STACK : bits64() | lbr_ctl::LBREN);
    for (unsigned n = 0; n < 10; ++n) machine.write(PERFEVTSEL0 + n, event_select(model));
    machine.write(FIXED_CTR_CTRL, bits64());
    program_pebs(machine);
    for (const Register& entry : machine.pmu.registers().all())
      if (entry.row.ends_with("CFG_B")) machine.write(entry.address, one_in(2) ? bits64() & bits64() : 0);
    machine.write(PERF_METRICS, bits64());
    machine.write(XSS, bit(15));
    machine.write(DEBUGCTL, machine.debugctl);
    machine.set_counters(~u64{0});
    machine.write(PERF_GLOBAL_CTRL, machine.global_ctrl);
    machine.write(PERF_GLOBAL_STATUS_RESET, ~u64{0});
    machine.write(X2APIC_LVTPC, one_in(4) ? lvtpc::MASKED : lvtpc::NMI);
  }

  void change_one_register(DrivenCpu& machine, const CpuModel& model) {
    using namespace msr;
    switch (below(7)) {
      case 0:
        return machine.write(static_cast<u32>(PERFEVTSEL0 + below(10)), event_select(model));
      case 1:
        return machine.write(FIXED_CTR_CTRL, bits64());
      case 2:
        return machine.write(PERF_GLOBAL_CTRL, bits64());
      case 3:
        return machine.write(static_cast<u32>(OFFCORE_RSP_0 + below(2)), off_core(model));
      case 4:
        return machine.write(PEBS_FRONTEND, 0x11 + below(5));
      case 5:
        return machine.write(PEBS_LD_LAT_THRESHOLD, 1 + below(100));
      default:
        return machine.write(LBR_SELECT, bits64() & bits64());
    }
  }

 private:
  /// What some off-core event needs in its register.
  u64 off_core(const CpuModel& model) {
    std::vector<u64> values{0};
    for (const EventDefinition& event : model.events)
      if (event.extra != 0 && event.event != 0xC6) values.push_back(event.extra);
    return values[below(values.size())];
  }
  Retirement retirement(const Block& block, u64 cycle, u64 passed) {
    const u64 ip = 0x400000 + 4 * below(1000);
    Retirement r{.ip = ip, .next_ip = ip + 4, .cycle = cycle, .signals = {Signal::instruction}, .length = 4};
    for (u64 n = below(8); n != 0; --n)
      r.signals.add(static_cast<Signal>(below(static_cast<u64>(Signal::lbr_insert))));
    for (u32& quantity : r.quantities) quantity = one_in(3) ? static_cast<u32>(below(5)) : 0;
    r.quantities[static_cast<unsigned>(Quantity::none)] = 0;
    r.quantities[static_cast<unsigned>(Quantity::cycles)] = static_cast<u32>(passed);
    r.memory = std::span(block.accesses).first(below(3));
    if (!one_in(4)) r.registers = &block.registers;
    if (one_in(3)) {
      r.branch = static_cast<BranchKind>(1 + below(one_in(8) ? 15 : 6));
      r.taken = !one_in(4);
      r.mispredicted = one_in(4);
      if (r.taken && !one_in(8)) r.next_ip = 0x400000 + 4 * below(1000);
      if (one_in(6)) r.cpl_after = Cpl::kernel;
    }
    return r;
  }
  u64 event_select(const CpuModel& model) {
    using namespace msr::evtsel;
    const EventDefinition& event = model.events[below(model.events.size())];
    u64 select = event.event | u64{event.umask & 0xFFu} << 8 | u64{event.umask} >> 8 << 40;
    if (one_in(6)) select = 0x3C;  // core cycles
    select |= USR;
    if (!one_in(5)) select |= EN;
    select |= bits64() & (OS | INT | ADAPTIVE);
    if (one_in(20)) select |= BR_CNTR;
    if (one_in(model.rtm ? 3 : 10)) select |= IN_TX | (bits64() & IN_TXCP);
    if (one_in(15)) select |= (bits64() & (EDGE | INV | EQ)) | below(4) << 24;
    return select;
  }
  void program_pebs(DrivenCpu& machine) {
    using namespace msr;
    const bool wanted = one_in(2);
    for (u64 slot = area + 0x20; slot < area + area_bytes; slot += 8) {
      const le64 value{-machine.period};
      EXPECT_EQ(machine.pmu.write_memory(slot, std::as_bytes(std::span(&value, 1))), Fault::none);
    }
    machine.write(PEBS_BASE, pebs_buffer | 1);
    machine.reset_buffers();
    machine.write(DS_AREA, area);
    machine.write(PEBS_LD_LAT_THRESHOLD, 1 + below(100));
    machine.write(PEBS_FRONTEND, 0x11 + below(5));
    machine.write(PEBS_DATA_CFG, bits64() & 0xF);
    machine.write(PEBS_ENABLE, wanted ? bits64() & ~bits(62, 61) : 0);
    for (const Register& entry : machine.pmu.registers().all())
      if (entry.name().ends_with("CFG_C"))
        machine.write(entry.address,
                      (-machine.period & low_bits(32)) | (wanted ? bits64() & bits(63, 35) : 0));
  }
};

/// The same program on two machines: one retires everything, the other goes in bulk where it may.
class Race {
 public:
  Race(const CpuModel& model, u64 seed) : model_(model), dice_(seed), exact_(model), fast_(model) {
    for (Block& block : blocks_) dice_.fill(block, model);
    on_both([&](DrivenCpu& machine, Draws& dice) { dice.program(machine, model_); });
  }

  void step() {
    switch (dice_.below(14)) {
      case 0:
        return on_both([&](DrivenCpu& machine, Draws& dice) { dice.program(machine, model_); });
      case 1:
        return on_both([](DrivenCpu& machine, Draws& dice) {
          machine.pmu.wait_until(machine.pmu.now() + dice.below(200), {.cpl = Cpl::kernel});
        });
      case 2:
        return on_both([&](DrivenCpu& machine, Draws& dice) { dice.change_one_register(machine, model_); });
      case 3:
        return on_both([](DrivenCpu& machine, Draws&) { machine.pmu.debug_exception(); });
      default:
        return execute(blocks_[dice_.below(blocks_.size())], 1 + dice_.below(dice_.one_in(3) ? 300 : 20));
    }
  }

  void compare() {
    for (const Register& entry : exact_.pmu.registers().all()) {
      const auto expected = exact_.pmu.rdmsr(entry.address), actual = fast_.pmu.rdmsr(entry.address);
      ASSERT_EQ(actual.ok(), expected.ok()) << entry.name();
      ASSERT_EQ(actual.value_or(0), expected.value_or(0)) << entry.name();
    }
    ASSERT_EQ(fast_.interrupts, exact_.interrupts);
    ASSERT_EQ(fast_.pmu.xsaves(xsave_image, ~u64{0}), exact_.pmu.xsaves(xsave_image, ~u64{0}));
    for (const auto& [address, bytes] : regions)
      ASSERT_TRUE(std::ranges::equal(fast_.pmu.memory(address, bytes), exact_.pmu.memory(address, bytes)));
    for (unsigned counter = 0; counter < counter_slots; ++counter)
      ASSERT_EQ(fast_.pmu.acr_reload_count(counter), exact_.pmu.acr_reload_count(counter));
  }

  u64 executions = 0, in_bulk = 0, interrupts = 0;

 private:
  template <class Action>
  void on_both(Action action) {
    Draws same = dice_;
    action(exact_, dice_);
    action(fast_, same);
  }

  void execute(Block& block, u64 times) {
    for (u64 n = 0; n < times; ++n) exact_.execute(block);
    for (u64 left = times; left != 0;) {
      const u64 done =
          fast_.pmu.advance(block.totals, 1 + dice_.below(left), block.execution.back().registers);
      if (done == 0) {
        fast_.execute(block);
        block.totals = fast_.pmu.totals(block.execution, 0);
      }
      in_bulk += done;
      left -= done == 0 ? 1 : done;
    }
    executions += times;
    interrupts = exact_.interrupts.size();
  }

  const CpuModel& model_;
  Draws dice_;
  DrivenCpu exact_, fast_;
  std::array<Block, 4> blocks_;
};

/// Blocks of an instruction a cycle at mixed privileges, as far as nothing can happen: in bulk, sorted by
/// kind but for the last, and their branches by themselves.
class QuietRace {
 public:
  QuietRace(const CpuModel& model, u64 seed) : model_(model), dice_(seed), exact_(model), fast_(model) {
    for (Block& block : blocks_) {
      dice_.fill(block, model);
      const Cpl cpl = dice_.one_in(2) ? Cpl::kernel : Cpl::user;
      u64 cycle = 0;
      for (Retirement& r : block.execution) {
        r.cycle = ++cycle;
        r.quantities[static_cast<unsigned>(Quantity::cycles)] = 1;
        limit_lost_cycles(r.quantities);
        test::keep_parts_within(r.quantities, model.events);
        r.cpl = cpl;
        if (!r.taken) r.cpl_after = cpl;
        r.tx = TxState::none;
        r.registers = nullptr;
      }
    }
    Draws same = dice_;
    program(exact_, dice_);
    program(fast_, same);
  }

  void step() {
    std::vector<std::size_t> kinds(1 + dice_.below(200));
    for (std::size_t& kind : kinds) kind = dice_.below(blocks_.size());
    for (const std::size_t kind : kinds) exact_.execute(blocks_[kind]);
    for (std::size_t done = 0; done < kinds.size();) {
      u64 quiet = fast_.pmu.quiet_instructions(most);
      std::size_t end = done;
      while (end < kinds.size() && blocks_[kinds[end]].execution.size() <= quiet)
        quiet -= blocks_[kinds[end++]].execution.size();
      in_bulk += end - done;
      if (end == done)
        fast_.execute(blocks_[kinds[done++]]);
      else
        advance(std::span(kinds).subspan(done, end - done));
      done = std::max(done, end);
    }
    executions += kinds.size();
    interrupts = exact_.interrupts.size();
  }

  void compare() {
    for (const Register& entry : exact_.pmu.registers().all())
      ASSERT_EQ(fast_.pmu.rdmsr(entry.address).value_or(0), exact_.pmu.rdmsr(entry.address).value_or(0))
          << entry.name();
    ASSERT_EQ(fast_.pmu.now(), exact_.pmu.now());
    ASSERT_EQ(fast_.interrupts, exact_.interrupts);
    ASSERT_EQ(fast_.pmu.xsaves(xsave_image, ~u64{0}), exact_.pmu.xsaves(xsave_image, ~u64{0}));
    for (const auto& [address, bytes] : regions)
      ASSERT_TRUE(std::ranges::equal(fast_.pmu.memory(address, bytes), exact_.pmu.memory(address, bytes)));
  }

  u64 executions = 0, in_bulk = 0, interrupts = 0, branches_in_bulk = 0;

 private:
  /// Enough for the quantities that are drawn, and for what a unit of one stands for.
  static constexpr u32 most = 512;

  void program(DrivenCpu& machine, Draws& dice) {
    dice.program(machine, model_);
    machine.period = 1'000 + dice.below(dice.one_in(2) ? 10'000 : 1'000'000);
    machine.set_counters(~u64{0});
  }
  void log_branches(std::span<const std::size_t> kinds) {
    u64 begin = fast_.pmu.now();
    for (const std::size_t kind : kinds) {
      for (Retirement r : blocks_[kind].execution) {
        r.cycle += begin;
        if (!r.taken) continue;
        fast_.pmu.log_branch(r);
        ++branches_in_bulk;
      }
      begin += blocks_[kind].execution.size();
    }
  }
  void advance(std::span<std::size_t> kinds) {
    if (fast_.pmu.records_branches()) log_branches(kinds);
    std::ranges::sort(kinds.first(kinds.size() - 1));
    for (const std::size_t kind : kinds) {
      const BlockTotals totals = fast_.pmu.totals(blocks_[kind].execution, 0, BlockBranches::apart);
      ASSERT_EQ(fast_.pmu.advance(totals, 1), 1u) << "promised";
    }
  }

  const CpuModel& model_;
  Draws dice_;
  DrivenCpu exact_, fast_;
  std::array<Block, 6> blocks_;
};

/// One model of each combination of formats.
std::vector<std::string> models_of_each_kind() {
  std::set<std::tuple<unsigned, LbrFormat, unsigned, unsigned, bool, bool>> seen;
  std::vector<std::string> names;
  for (const CpuModel& m : cpu_models())
    if (seen.emplace(m.pebs.format, m.lbr.format, m.perfmon_version, m.metrics_levels, m.acr.cause != 0,
                     m.rtm)
            .second)
      names.push_back(m.name);
  return names;
}

class BulkAdvance : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, BulkAdvance, ::testing::ValuesIn(models_of_each_kind()), test::test_name);

TEST_P(BulkAdvance, LeavesTheStateThatRetiringEveryInstructionLeaves) {
  const CpuModel model = find_cpu_model(GetParam()).value();
  u64 executions = 0, in_bulk = 0, interrupts = 0;
  for (u64 seed = 0; seed < 24; ++seed) {
    Race race(model, seed);
    for (int step = 0; step < 25; ++step) {
      race.step();
      race.compare();
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << " step " << step;
    }
    executions += race.executions;
    in_bulk += race.in_bulk;
    interrupts += race.interrupts;
  }
  EXPECT_GT(in_bulk, executions / 4) << "of " << executions;
  EXPECT_LT(in_bulk, executions);
  EXPECT_GT(interrupts, 30u);
}

/// All of which a driver here knows the counters.
std::vector<std::string> intel_models() {
  std::vector<std::string> names;
  for (const CpuModel& m : cpu_models()) names.push_back(m.name);
  return names;
}

class QuietInstructionsOf : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, QuietInstructionsOf, ::testing::ValuesIn(intel_models()), test::test_name);

TEST_P(QuietInstructionsOf, CountInAnyOrderWithTheirBranchesApart) {
  const CpuModel model = find_cpu_model(GetParam()).value();
  u64 executions = 0, in_bulk = 0, interrupts = 0, branches_in_bulk = 0;
  for (u64 seed = 0; seed < 40; ++seed) {
    QuietRace race(model, seed);
    for (int step = 0; step < 25; ++step) {
      race.step();
      race.compare();
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << " step " << step;
    }
    executions += race.executions;
    in_bulk += race.in_bulk;
    interrupts += race.interrupts;
    branches_in_bulk += race.branches_in_bulk;
  }
  EXPECT_GT(in_bulk, executions / 8) << "of " << executions;
  EXPECT_LT(in_bulk, executions);
  EXPECT_GT(interrupts, 0u);
  EXPECT_EQ(branches_in_bulk > 1000, model.lbr.depth != 0) << branches_in_bulk;
}

}  // namespace
}  // namespace pmusim::bulk_property_test
