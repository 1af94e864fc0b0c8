// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "cpu/costs/costs.h"
#include "cpu/tables/costs.h"
#include "pmusim/cpu/model.h"

namespace pmusim {
namespace {

const CoreNumber* find(std::span<const CoreNumber> numbers, std::string_view name) {
  const auto found = std::ranges::find(numbers, name, &CoreNumber::name);
  return found == numbers.end() ? nullptr : &*found;
}

std::vector<CpuModel> all_models() {
  std::vector<CpuModel> all;
  for (const Vendor vendor : {Vendor::intel, Vendor::amd})
    for (const CpuModel& model : cpu_models(vendor)) all.push_back(model);
  return all;
}

TEST(CoreNumbers, EveryNumberOfEveryModelHasASource) {
  constexpr std::string_view wanted[] = {"issue_width",
                                         "retire_width",
                                         "reorder_buffer_uops",
                                         "scheduler_uops",
                                         "load_buffer_entries",
                                         "store_buffer_entries",
                                         "outstanding_misses",
                                         "mispredict_penalty",
                                         "resteer_cycles",
                                         "forwarding_cycles",
                                         "system_call_cycles",
                                         "btb_entries",
                                         "return_stack_entries",
                                         "memory_latency_cycles",
                                         "stlb_latency_cycles",
                                         "page_walk_cycles",
                                         "page_walk_loads",
                                         "l1_stride_loads",
                                         "l2_stream_pages",
                                         "l2_stream_gap_lines",
                                         "l2_stream_burst_lines",
                                         "l2_stream_ahead_lines",
                                         "l2_prefetches_outstanding",
                                         "next_page_prefetch",
                                         "uop_queue_entries",
                                         "uop_cache_lines",
                                         "loop_buffer_uops",
                                         "decoders",
                                         "fetch_bytes",
                                         "microcode_switch_cycles",
                                         "length_change_cycles",
                                         "adjacent_line_level",
                                         "blocked_forward_cycles",
                                         "address_alias_cycles",
                                         "disambiguation_loads",
                                         "machine_clear_cycles",
                                         "itlb_entries",
                                         "dtlb_entries",
                                         "stlb_entries",
                                         "l1i",
                                         "l1d",
                                         "l2",
                                         "l3",
                                         "tsc_hz"};
  for (const CpuModel& model : all_models()) {
    const std::vector<CoreNumber> numbers = core_numbers(model);
    for (const std::string_view name : wanted)
      EXPECT_NE(find(numbers, name), nullptr) << model.name << ": " << name;
  }
}

TEST(CoreNumbers, TheModelHasTheNumbersThatItsTableSays) {
  for (const CpuModel& model : all_models()) {
    ASSERT_FALSE(model.core.numbers.empty()) << model.name;
    for (const CoreNumber& number : model.core.numbers) {
      if (number.parameter != nullptr) {
        EXPECT_EQ(number.parameter->get(model.core), number.value) << model.name << ": " << number.name;
      }
      if (number.cache != nullptr) {
        EXPECT_EQ((model.core.*number.cache).bytes, number.geometry.bytes)
            << model.name << ": " << number.name;
      }
    }
  }
}

// CPUID leaf 2 and 4 of dumped parts.
TEST(CoreNumbers, CachesOfCodeAreThoseOfCpuid) {
  struct Cache {
    std::string_view model;
    unsigned kib, ways;
  };
  constexpr Cache caches[] = {{"nehalem", 32, 4},    {"skylake", 32, 8},   {"redwoodcove", 64, 16},
                              {"lioncove", 64, 16},  {"gracemont", 64, 8}, {"skymont", 64, 8},
                              {"silvermont", 32, 8}, {"naples", 64, 4},    {"genoa", 32, 8}};
  for (const Cache& cache : caches) {
    const CpuModel model = find_cpu_model(cache.model).value();
    EXPECT_EQ(model.core.l1i.bytes, cache.kib * 1024) << cache.model;
    EXPECT_EQ(model.core.l1i.ways, cache.ways) << cache.model;
  }
}

TEST(CoreNumbers, RetirementIsNeverNarrowerThanIssue) {
  for (const CpuModel& model : all_models())
    EXPECT_GE(model.core.retire_width, model.core.issue_width) << model.name;
}

TEST(InstructionCosts, EveryModelHasACostForEveryForm) {
  for (const CpuModel& model : all_models()) {
    ASSERT_NE(model.core.costs, nullptr) << model.name;
    EXPECT_NE(model.core.costs->load_ports, 0u) << model.name;
    EXPECT_NE(model.core.costs->of(InstructionForm::alu).uses[0].ports, 0u) << model.name;
    for (const InstructionCost& cost : model.core.costs->by_form) EXPECT_GE(cost.uops, 1) << model.name;
  }
}

TEST(InstructionCosts, ThroughputIsTheWorkOfThePortsThatDoIt) {
  const InstructionCosts& skylake = tables::costs_of("skylake");
  const InstructionCost& multiply = skylake.of(InstructionForm::imul_64);
  EXPECT_EQ(multiply.latency_cycles, 3);
  EXPECT_EQ(multiply.uses[0].ports, 0b10u);  // port 1
  EXPECT_EQ(multiply.uses[0].uops, 1);
  const InstructionCost& divide = skylake.of(InstructionForm::divide_scalar_double);
  EXPECT_EQ(divide.latency_cycles, 14);
  EXPECT_EQ(divide.uses[1].ports, PortMask{1} << divider_port);
  EXPECT_EQ(divide.uses[1].cycles, 4);
  const InstructionCost& gather = skylake.of(InstructionForm::gather_single_256);
  EXPECT_EQ(gather.uses[0].uops, 10);  // 5 cycles of 2 ports
}

TEST(InstructionCosts, AnUnmeasuredFormCostsWhatItsRelativeCosts) {
  // no 512-bit addition was measured
  const InstructionCosts& skylake = tables::costs_of("skylake-x");
  EXPECT_EQ(skylake.of(InstructionForm::add_512).latency_cycles,
            skylake.of(InstructionForm::add_256).latency_cycles);
  EXPECT_EQ(costs::relative_of(InstructionForm::add_512), InstructionForm::add_256);
  EXPECT_EQ(costs::relative_of(InstructionForm::alu), InstructionForm::alu);
}

// Intel's optimization manual, macro-fusion.
TEST(MacroFusion, PairsFuseFromTheCoreOnThatTheManualSays) {
  using enum MacroFusion;
  EXPECT_FALSE(fuses(none, FlagWriter::test, ConditionGroup::equal));
  EXPECT_TRUE(fuses(nehalem, FlagWriter::compare, ConditionGroup::signed_order));
  EXPECT_FALSE(fuses(nehalem, FlagWriter::add_subtract, ConditionGroup::equal));
  EXPECT_TRUE(fuses(sandy_bridge, FlagWriter::add_subtract, ConditionGroup::carry));
  EXPECT_TRUE(fuses(sandy_bridge, FlagWriter::increment, ConditionGroup::equal));
  EXPECT_FALSE(fuses(sandy_bridge, FlagWriter::increment, ConditionGroup::carry));
  EXPECT_FALSE(fuses(ice_lake, FlagWriter::increment, ConditionGroup::equal));
  EXPECT_FALSE(fuses(ice_lake, FlagWriter::compare, ConditionGroup::overflow_sign_parity));
  EXPECT_TRUE(fuses(ice_lake, FlagWriter::test, ConditionGroup::overflow_sign_parity));
}

}  // namespace
}  // namespace pmusim
