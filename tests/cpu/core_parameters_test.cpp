// SPDX-License-Identifier: MIT
#include "pmusim/cpu/core_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <vector>

#include "pmusim/cpu/model.h"

namespace pmusim {
namespace {

using testing::HasSubstr;

CpuModel plain_skylake() { return find_cpu_model("skylake").value(); }

std::string refusal(std::string_view list) {
  CpuModel model = plain_skylake();
  const auto done = set_core_parameters(model.core, list);
  EXPECT_EQ(chosen_core_parameters(model), "") << list;
  return done.ok() ? "" : done.error().message;
}

std::vector<const CpuModel*> every_model() {
  std::vector<const CpuModel*> all;
  for (const Vendor vendor : {Vendor::intel, Vendor::amd})
    for (const CpuModel& model : cpu_models(vendor)) all.push_back(&model);
  return all;
}

TEST(CoreParameters, AreChosenByNameAndByShortName) {
  CpuModel model = plain_skylake();
  const std::string_view list = "L2=2MiB,ROB=512,predictor=gshare,load_buffer_entries=100,tsc=3G";
  ASSERT_TRUE(set_core_parameters(model.core, list).ok());
  EXPECT_EQ(model.core.l2.bytes, 2u << 20);
  EXPECT_EQ(model.core.l2.ways, plain_skylake().core.l2.ways);
  EXPECT_EQ(model.core.reorder_buffer_uops, 512u);
  EXPECT_EQ(model.core.predictor, "gshare");
  EXPECT_EQ(model.core.load_buffer_entries, 100u);
  EXPECT_EQ(model.core.tsc_hz, 3'000'000'000u);
}

TEST(CoreParameters, WhatWasChosenIsAListThatChoosesIt) {
  CpuModel model = plain_skylake(), again = plain_skylake();
  ASSERT_TRUE(set_core_parameters(model.core, "rob=512,l3=0,move_elimination=none").ok());
  EXPECT_EQ(chosen_core_parameters(model), "reorder_buffer_uops=512,move_elimination=none,l3_bytes=0");
  ASSERT_TRUE(set_core_parameters(again.core, chosen_core_parameters(model)).ok());
  EXPECT_EQ(chosen_core_parameters(again), chosen_core_parameters(model));
  EXPECT_EQ(chosen_core_parameters(plain_skylake()), "");
}

TEST(CoreParameters, SizesMayHaveUnits) {
  for (const char* const size : {"262144", "256K", "256k", "256KiB", "256kb"}) {
    CpuModel model = plain_skylake();
    ASSERT_TRUE(set_core_parameters(model.core, std::string("l2=") + size).ok()) << size;
    EXPECT_EQ(model.core.l2.bytes, 256u << 10) << size;
  }
}

TEST(CoreParameters, RefusesWithTheRangeOrTheNamesThatAreNear) {
  EXPECT_EQ(refusal("robb=512"), "there is no core parameter 'robb'; did you mean rob?");
  EXPECT_EQ(refusal("rob=0"), "core parameter reorder_buffer_uops is '0'; it must be 1 to 1048576 uops");
  EXPECT_EQ(refusal("width=17"), "core parameter issue_width is '17'; it must be 1 to 16 uops");
  EXPECT_EQ(refusal("predictor=oracle"),
            "core parameter predictor is 'oracle'; it must be bimodal, gshare or tage");
  EXPECT_EQ(refusal("l1_stride_loads=3"),
            "core parameter l1_stride_loads is '3'; it must be 0 to 1048576 entries, a power of two");
  for (const char* const value : {"", "-1", "many", "1e9", "512x", "18446744073709551616", "20000000000G"})
    EXPECT_THAT(refusal(std::string("l2=") + value), HasSubstr("it must be 1 to 1GiB")) << value;
  EXPECT_EQ(refusal("rob"), "'rob': expected NAME=VALUE, as rob=512");
  EXPECT_EQ(refusal("rob=512,"), "'': expected NAME=VALUE, as rob=512");
}

TEST(CoreParameters, RefusesWhatMakesNoMachine) {
  EXPECT_EQ(refusal("l2_ways=7"), "cache l2: 262144 bytes are no multiple of 7 ways of 64-byte lines");
  EXPECT_EQ(refusal("dtlb=63"),
            "core parameter dtlb_entries is 63; it must be a positive multiple of 4 ways");
}

TEST(CoreParameters, EveryOneOfEveryModelIsInItsRangeAndHasASource) {
  for (const CpuModel* const model : every_model()) {
    EXPECT_TRUE(check_core_parameters(model->core).ok()) << model->name;
    for (const CoreParameter& parameter : core_parameters())
      EXPECT_NE(source_of(*model, parameter), FactSource::none) << model->name << ": " << parameter.name;
  }
}

TEST(CoreParameters, NoNameMeansTwoThings) {
  std::set<std::string_view> names;
  for (const CoreParameter& parameter : core_parameters()) {
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
    EXPECT_TRUE(parameter.short_name.empty() || names.insert(parameter.short_name).second)
        << parameter.short_name;
    EXPECT_FALSE(parameter.meaning.empty()) << parameter.name;
  }
}

// What a core's file lists can be chosen, and is the member that its name says.
TEST(CoreParameters, HaveAllNumbersOfTheCores) {
  for (const CpuModel* const model : every_model()) {
    for (const CoreNumber& number : core_numbers(*model)) {
      const auto parameter = std::ranges::find(core_parameters(), number.name, &CoreParameter::listed_as);
      ASSERT_NE(parameter, core_parameters().end()) << number.name;
      const u64 value = number.cache != nullptr ? number.geometry.bytes : number.value;
      EXPECT_EQ(parameter->get(model->core), value) << model->name << ": " << number.name;
    }
  }
}

TEST(CoreParameters, EachIsSetWhereItIsRead) {
  for (const CoreParameter& parameter : core_parameters()) {
    CoreParameters core;
    for (const u64 value : {parameter.most, parameter.least}) {
      parameter.set(core, value);
      EXPECT_EQ(parameter.get(core), value) << parameter.name;
    }
    for (const CoreParameter& other : core_parameters()) {
      if (other.name == parameter.name || parameter.name == "line_bytes") continue;
      CoreParameters changed;
      parameter.set(changed, parameter.most);
      EXPECT_EQ(other.get(changed), other.get(CoreParameters{})) << parameter.name << ", " << other.name;
    }
  }
}

}  // namespace
}  // namespace pmusim
