// SPDX-License-Identifier: MIT
// OFFCORE_RSP and OMR are masks (SDM vol. 3, off-core response event encoding).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "cpu/core_facts.h"
#include "pmusim/cpu/model.h"

namespace pmusim {
namespace {

std::optional<EventRule> rule_of(std::string_view model, u64 value) {
  const CpuModel m = *find_cpu_model(model);
  const bool umask_1_of_2a = model == "goldencove" || model == "lioncove" || model == "diamondrapids";
  const auto event = find_event(m, umask_1_of_2a ? 0x2A : 0xB7, 0x01, value);
  return event ? std::optional(event->rule) : std::nullopt;
}
EventRule one(Signal s) { return {.all = {s}}; }
EventRule any(SignalSet s) { return {.any = s}; }

TEST(OffCoreResponse, RequestBitsAddUp) {
  for (const std::string_view model : {"sandybridge", "skylake", "icelake", "goldencove", "gracemont"}) {
    EXPECT_TRUE(rule_of(model, 0x10001) == one(Signal::load_l2_miss)) << model;
    EXPECT_TRUE(rule_of(model, 0x10003) == any({Signal::load_l2_miss, Signal::store_l2_miss})) << model;
    EXPECT_TRUE(rule_of(model, 0x10004) == one(Signal::l2i_miss)) << model;
    EXPECT_TRUE(rule_of(model, 0x10007) ==
                any({Signal::load_l2_miss, Signal::store_l2_miss, Signal::l2i_miss}))
        << model;
  }
  EXPECT_TRUE(rule_of("nehalem", 0xFF03) == any({Signal::load_l2_miss, Signal::store_l2_miss}));
}

TEST(OffCoreResponse, SupplierBitsSelectAnswersAndNeedASnoopResult) {
  constexpr u64 l3_hits = bits(21, 18), snoops = bits(37, 31);
  for (const std::string_view model : {"sandybridge", "skylake", "goldencove"}) {
    const u64 dram = model == "sandybridge" ? bit(22) : bit(26);
    EXPECT_TRUE(rule_of(model, 0x1 | l3_hits | snoops) == one(Signal::load_l3_hit)) << model;
    EXPECT_TRUE(rule_of(model, 0x1 | dram | snoops) == one(Signal::load_l3_miss)) << model;
    EXPECT_TRUE(rule_of(model, 0x1 | l3_hits | dram | snoops) == one(Signal::load_l2_miss)) << model;
    EXPECT_TRUE(rule_of(model, 0x3 | dram | snoops) == any({Signal::load_l3_miss, Signal::store_l3_miss}));
    EXPECT_FALSE(rule_of(model, 0x1 | dram)) << model << ": no snoop result is asked for";
    EXPECT_FALSE(rule_of(model, 0x1 | dram | bit(36))) << model << ": no other core has it modified";
  }
}

TEST(OffCoreResponse, RequestsThatTheCoreNeverSendsAddNothing) {
  constexpr u64 prefetched_reads = bit(4);
  EXPECT_TRUE(rule_of("skylake", 0x10001 | prefetched_reads) == one(Signal::load_l2_miss));
  EXPECT_FALSE(rule_of("skylake", 0x10000 | prefetched_reads));
  EXPECT_FALSE(rule_of("skylake", 0));
}

TEST(OffCoreResponse, OfOmrRegistersIsAMaskToo) {
  EXPECT_TRUE(rule_of("diamondrapids", 0x4000'0000'0000'0001) == one(Signal::load_l2_miss));
  EXPECT_TRUE(rule_of("diamondrapids", 0x00FF'FFF0'0000'0001) == one(Signal::load_l3_miss));
  EXPECT_TRUE(rule_of("arcticwolf", 0x4000'0000'0000'0003) ==
              any({Signal::load_l2_miss, Signal::store_l2_miss}));
}

TEST(OffCoreResponse, NamedValuesMeanWhatTheirBitsSay) {
  for (const CpuModel& model : cpu_models())
    for (const EventDefinition& row : model.events) {
      if (!row.name.starts_with("OCR.")) continue;
      constexpr u64 a_prefetch = bit(4);  // keeps the value from being one that has a name
      const auto by_bits = find_event(model, row.event, row.umask, row.extra | a_prefetch);
      ASSERT_TRUE(by_bits) << model.name << " " << row.name;
      EXPECT_TRUE(by_bits->rule == row.rule) << model.name << " " << row.name;
    }
}

/// Every kind of request that a core sends, with every answer that it gets.
std::vector<SignalSet> requests_with_answers() {
  return {{Signal::load_l2_miss, Signal::load_l3_hit},   {Signal::load_l2_miss, Signal::load_l3_miss},
          {Signal::store_l2_miss, Signal::store_l3_hit}, {Signal::store_l2_miss, Signal::store_l3_miss},
          {Signal::l2i_miss, Signal::l3i_hit},           {Signal::l2i_miss, Signal::l3i_miss}};
}

// A request is counted if one of the request bits and one of the response bits fit: what a value of two
// requests counts is what either counts alone, and so for answers.
TEST(OffCoreResponse, BitsOfAValueAreOredOnEveryModel) {
  for (const CpuModel& model : cpu_models()) {
    const OffCoreLayout& layout = core_facts(model.microarchitecture()).off_core;
    if (layout.event == 0) continue;
    const u64 answers[] = {layout.any, layout.hits | layout.hit_snoops, layout.misses | layout.miss_snoops};
    const auto counts = [&](u64 value, const SignalSet& request) {
      const auto event = find_event(model, layout.event, 0x01, value);
      return event && event->rule.matches(request);
    };
    for (u64 asked = 1; asked < 8; ++asked)
      for (unsigned chosen = 1; chosen < 8; ++chosen)
        for (const SignalSet& request : requests_with_answers()) {
          u64 whole = asked;
          bool alone = false;
          for (unsigned answer = 0; answer < 3; ++answer) {
            if ((chosen & bit(answer)) == 0 || answers[answer] == layout.hit_snoops) continue;
            whole |= answers[answer];
            for (const unsigned one : set_bits(asked)) alone |= counts(bit(one) | answers[answer], request);
          }
          EXPECT_EQ(counts(whole, request), alone) << fmt::format("{} {:#x}", model.name, whole);
        }
  }
}

TEST(OffCoreResponse, EveryRegisterOfAModelCountsAlike) {
  for (const CpuModel& model : cpu_models()) {
    const OffCoreLayout& layout = core_facts(model.microarchitecture()).off_core;
    if (layout.event == 0) continue;
    const u64 value = 0x7 | layout.any | layout.hits | layout.misses | layout.hit_snoops | layout.miss_snoops;
    const auto first = find_event(model, layout.event, 0x01, value);
    ASSERT_TRUE(first) << model.name;
    for (const unsigned umask : set_bits(layout.umasks))
      EXPECT_TRUE(find_event(model, layout.event, static_cast<u16>(bit(umask)), value)->rule == first->rule);
    if (layout.second.event != 0) {
      EXPECT_TRUE(find_event(model, layout.second.event, layout.second.umask, value)->rule == first->rule);
    }
  }
}

}  // namespace
}  // namespace pmusim
