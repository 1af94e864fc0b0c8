// SPDX-License-Identifier: MIT
#include "events/census.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <numeric>

namespace pmusim::events {
namespace {

TEST(Census, OfThePageIsTheOneOfTheTables) {
  std::ifstream file(PMUSIM_SOURCE_DIR "/docs/events.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string tables = census_tables(take_census());
  EXPECT_NE(page.find(tables), std::string::npos) << "docs/events.md does not have this:\n" << tables;
}

TEST(Census, CountsEachEventOnce) {
  const Census census = take_census();
  unsigned listed = 0, counted = 0;
  for (const ModelCensus& model : census.models) {
    EXPECT_GT(model.counted, 0u) << model.model;
    listed += model.listed;
    counted += model.counted;
  }
  const unsigned refused =
      std::accumulate(census.refused.begin(), census.refused.end(), 0u,
                      [](unsigned sum, const auto& reason) { return sum + reason.second; });
  EXPECT_EQ(listed, counted + refused);
}

}  // namespace
}  // namespace pmusim::events
