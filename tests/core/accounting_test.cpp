// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <random>

#include "core/interval_core.h"
#include "tests/core/program.h"

namespace pmusim::accounting_test {
namespace {

using namespace test;

// Random programs that run through everything: dependencies, misses, splits, divides, branches of all kinds.
class RandomProgram {
 public:
  explicit RandomProgram(u64 seed) : random_(seed) {
    for (u64 n = 0; n < blocks_in_program; ++n) {
      blocks_.push_back(make_block(0x400000 + n * 0x1000));
      blocks_.back().id = static_cast<u32>(n);
    }
  }

  /// How a block runs.
  struct Run {
    const trace::Block& block;
    std::vector<u64> addresses;
    u64 next_ip = 0;
    std::vector<u32> rep_counts;
  };
  Run next() {
    const trace::Block& block = blocks_[random_() % blocks_in_program];
    const x86::Instruction& last = block.instructions.back();
    std::vector<u64> addresses;
    for (const x86::Instruction& instruction : block.instructions)
      for (unsigned m = 0; m < instruction.memory_operands; ++m) addresses.push_back(random_address());
    const u64 next_ip = last.branch == BranchKind::conditional && random_() % 2 == 0
                            ? last.end()
                            : blocks_[random_() % 3].start();
    return {block, std::move(addresses), next_ip, {static_cast<u32>(random_() % 40)}};
  }
  std::vector<Seen> execute(Core& core, unsigned runs) {
    std::vector<Seen> all;
    for (unsigned n = 0; n < runs; ++n) {
      const Run made = next();
      const std::vector<Seen> seen = run(core, made.block, made.addresses, made.next_ip, made.rep_counts);
      all.insert(all.end(), seen.begin(), seen.end());
      if (random_() % 50 == 0) core.interrupt();
    }
    return all;
  }

 private:
  static constexpr u64 blocks_in_program = 24;

  u64 random_address() { return random_() % 4 == 0 ? random_() % 0x4000000 : 0x10000 + random_() % 0x4000; }
  x86::Instruction make_instruction() {
    x86::Instruction made;
    switch (random_() % 6) {
      case 0:
        made = load(bit(random_() % 4));
        break;
      case 1:
        made = store(bit(random_() % 4));
        break;
      case 2:
        made = nop();
        break;
      default:
        made = alu(bit(random_() % 4), bit(random_() % 4));
        break;
    }
    if (random_() % 8 == 0) made.form = static_cast<InstructionForm>(random_() % instruction_forms);
    if (random_() % 16 == 0) made.signals.add(random_() % 2 == 0 ? Signal::divide : Signal::microcoded);
    made.length_changing_prefix = random_() % 20 == 0;
    made.locked = random_() % 40 == 0;
    made.rep = made.memory_operands != 0 && random_() % 30 == 0;
    return made;
  }
  trace::Block make_block(u64 ip) {
    std::vector<x86::Instruction> instructions;
    for (u64 left = random_() % 12; left > 0; --left) instructions.push_back(make_instruction());
    const auto kind = static_cast<BranchKind>(1 + random_() % 10);
    instructions.push_back(branch(kind, 0x400000 + random_() % 3 * 0x1000));
    return block_at(ip, std::move(instructions));
  }

  std::mt19937_64 random_;
  std::vector<trace::Block> blocks_;
};

CpuModel wide(unsigned width) {
  CpuModel model = four_wide();
  model.core.issue_width = width;
  model.core.reorder_buffer_uops = 20;
  model.core.store_buffer_entries = 6;
  model.core.tsc_per_core_cycle_numerator = 7;
  model.core.tsc_per_core_cycle_denominator = 9;
  return model;
}

class Widths : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Accounting, Widths, testing::Values(1, 3, 4, 5, 6, 8));

TEST_P(Widths, CyclesAndSlotsAddUpAfterEveryRetirement) {
  const unsigned width = GetParam();
  Core core = make_core(wide(width));
  u64 cycles = 0, reference = 0, slots = 0, used = 0, lost = 0, last = 0;
  for (const Seen& r : RandomProgram(width).execute(core, 3000)) {
    cycles += r[Quantity::cycles];
    reference += r[Quantity::reference_cycles];
    slots += r[Quantity::slots];
    used += r[Quantity::uops];
    lost += r[Quantity::slots_bad_speculation] + r[Quantity::slots_frontend] + r[Quantity::slots_backend];
    ASSERT_GE(r.cycle, last);
    last = r.cycle;
    ASSERT_EQ(cycles, r.cycle);
    ASSERT_EQ(reference, r.cycle * 7 / 9);
    ASSERT_EQ(slots, width * r.cycle);
    ASSERT_LE(used + lost, slots);
    ASSERT_LT(slots - used - lost, width);  // what is still free in this cycle
    ASSERT_LE(r[Quantity::slots_memory], r[Quantity::slots_backend]);
    ASSERT_LE(r[Quantity::slots_branch_mispredict], r[Quantity::slots_bad_speculation]);
    ASSERT_LE(r[Quantity::stall_cycles], r[Quantity::cycles]);
    ASSERT_LE(r[Quantity::stall_cycles_memory], r[Quantity::stall_cycles]);
    ASSERT_LE(r[Quantity::stall_cycles_l3_miss], r[Quantity::stall_cycles_l2_miss]);
    ASSERT_LE(r[Quantity::recovery_cycles], r[Quantity::stall_cycles]);
  }
  EXPECT_EQ(slots - used - lost, core.open_slots());
  EXPECT_EQ(cycles, core.cycle());
}

TEST_P(Widths, NoMoreThanTheWidthRetiresInACycle) {
  const unsigned width = GetParam();
  Core core = make_core(wide(width));
  u64 used = 0;
  for (const Seen& r : RandomProgram(100 + width).execute(core, 1000)) {
    used += r[Quantity::uops];
    ASSERT_LE(used, width * r.cycle);
  }
}

bool same(const Seen& a, const Seen& b) {
  return a.ip == b.ip && a.next_ip == b.next_ip && a.cycle == b.cycle && a.signals == b.signals &&
         a.quantities == b.quantities && a.taken == b.taken && a.mispredicted == b.mispredicted &&
         a.latency_cycles == b.latency_cycles && a.accesses.size() == b.accesses.size();
}

TEST(Accounting, TheSameInputGivesTheSameOutput) {
  Core first = make_core(wide(4)), second = make_core(wide(4));
  const std::vector<Seen> one = RandomProgram(7).execute(first, 2000);
  const std::vector<Seen> two = RandomProgram(7).execute(second, 2000);
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t n = 0; n < one.size(); ++n) ASSERT_TRUE(same(one[n], two[n])) << "retirement " << n;
}

TEST(Accounting, ACopyOfACoreIsASnapshot) {
  Core core = make_core(wide(4));
  RandomProgram program(8);
  program.execute(core, 500);
  Core copy = core;
  RandomProgram later = program;
  const std::vector<Seen> original = program.execute(core, 500);
  const std::vector<Seen> again = later.execute(copy, 500);
  ASSERT_EQ(original.size(), again.size());
  for (std::size_t n = 0; n < original.size(); ++n)
    ASSERT_TRUE(same(original[n], again[n])) << "retirement " << n;
}

TEST_P(Widths, SumsOverABlockAreWhatItsRetirementsSay) {
  IntervalCore core = IntervalCore::create(wide(GetParam()), {.addresses = true}).value();
  RandomProgram program(50 + GetParam());
  QuantitySet seen;
  for (unsigned blocks = 0; blocks < 3000; ++blocks) {
    const RandomProgram::Run made = program.next();
    const trace::BlockRun run{.block = &made.block,
                              .next_ip = made.next_ip,
                              .addresses = made.addresses,
                              .rep_counts = made.rep_counts};
    const BlockExecution execution = core.execute(run);
    Quantities said{};
    core.retire(execution, [&](const Retirement& r) {
      for (std::size_t n = 0; n < said.size(); ++n) said[n] += r.quantities[n];
    });
    for (unsigned n = 0; n < said.size(); ++n) {
      const auto quantity = static_cast<Quantity>(n);
      ASSERT_EQ(core.sum({quantity})[n], said[n]) << "quantity " << n << " of block run " << blocks;
      if (said[n] != 0) seen.add(quantity);
    }
  }
  unsigned different = 0;
  seen.each_index([&](unsigned) { ++different; });
  EXPECT_GT(different, 70u);
}

}  // namespace
}  // namespace pmusim::accounting_test
