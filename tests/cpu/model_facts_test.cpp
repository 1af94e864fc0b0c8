// SPDX-License-Identifier: MIT
#include "cpu/model_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace pmusim {
namespace {

const ModelFact& fact(std::string_view name) {
  const auto found = std::ranges::find(model_facts(), name, &ModelFact::name);
  EXPECT_NE(found, model_facts().end()) << name;
  return *found;
}

std::set<std::string> words_of(std::string_view models) {
  std::istringstream text{std::string(models)};
  std::set<std::string> words;
  for (std::string word; text >> word;) words.insert(word);
  return words;
}

TEST(ModelFacts, SpeakOfPresetsThatThereAre) {
  for (const ModelFact& fact : model_facts())
    for (const ModelFact::Known& row : fact.known)
      for (const std::string& name : words_of(row.models))
        EXPECT_TRUE(name == "*" || find_cpu_model(name).ok()) << fact.name << ": " << name;
}

TEST(ModelFacts, SayOfAPresetOnceHowAFactIsKnown) {
  for (const ModelFact& fact : model_facts()) {
    std::set<std::string> seen;
    for (const ModelFact::Known& row : fact.known)
      for (const std::string& name : words_of(row.models))
        EXPECT_TRUE(seen.insert(name).second) << fact.name << ": " << name;
  }
}

// No dump of these was ever seen (docs/registers.md, what manuals leave open).
TEST(ModelFacts, CountersOfUnseenPartsAreInferred) {
  for (const char* model : {"diamondrapids", "coyotecove", "arcticwolf", "sierraforest", "clearwaterforest"})
    EXPECT_EQ(fact("counters").origin_of(model), FactOrigin::inferred) << model;
  EXPECT_EQ(fact("counters").origin_of("arrowlake-h"), FactOrigin::logged);
  EXPECT_EQ(fact("counters").origin_of("skymont"), FactOrigin::dumped);
}

// CPUID.23H.4 of Panther Lake was dumped; what other parts store of AVX-512 and APX no document says.
TEST(ModelFacts, SayWhichVectorRegistersRecordsHold) {
  const auto value = [](std::string_view model) {
    return fact("pebs_registers").value(find_cpu_model(model).value());
  };
  EXPECT_EQ(value("skylake"), "");
  EXPECT_EQ(value("icelake"), "XMM");
  EXPECT_EQ(value("cougarcove"), "XMM, YMMH");
  EXPECT_EQ(fact("pebs_registers").origin_of("darkmont"), FactOrigin::dumped);
  EXPECT_EQ(fact("pebs_registers").origin_of("icelake"), FactOrigin::documented);
  for (const char* model : {"diamondrapids", "coyotecove", "arcticwolf", "clearwaterforest"})
    EXPECT_EQ(fact("pebs_registers").origin_of(model), FactOrigin::inferred) << model;
}

TEST(ModelFacts, AModelThatNobodyLookedUpIsInferred) {
  EXPECT_EQ(fact("counters").origin_of("mine"), FactOrigin::inferred);
  EXPECT_EQ(fact("counters").origin_of("lake"), FactOrigin::inferred);  // a part of a name is none
  EXPECT_EQ(fact("perf_capabilities").origin_of("mine"), FactOrigin::computed);
}

}  // namespace
}  // namespace pmusim
