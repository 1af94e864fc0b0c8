// SPDX-License-Identifier: MIT
#include "base/suggest.h"

#include <gtest/gtest.h>

#include <array>

namespace pmusim {
namespace {

constexpr std::array<std::string_view, 5> names{"skylake", "skylake-x", "sandybridge", "icelake",
                                                "icelake-server"};

TEST(Suggest, BeginningsComeFirstAndInTheirOrder) {
  EXPECT_EQ(near_matches("ice", names), (std::vector<std::string_view>{"icelake", "icelake-server"}));
}

TEST(Suggest, AFewTypingErrorsAreForgiven) {
  EXPECT_EQ(near_matches("skylkae", names), (std::vector<std::string_view>{"skylake"}));
  EXPECT_EQ(near_matches("SKYLAKE-Y", names).front(), "skylake-x");
}

TEST(Suggest, WhatNamesContainIsFound) {
  EXPECT_EQ(near_matches("bridge", names), (std::vector<std::string_view>{"sandybridge"}));
}

TEST(Suggest, NothingNearMeansNoSuggestion) {
  EXPECT_TRUE(near_matches("xyzzy", names).empty());
  EXPECT_TRUE(near_matches("", names).empty());
  EXPECT_EQ(did_you_mean("xyzzy", names), "");
}

TEST(Suggest, SentencesListUpToTheLimit) {
  EXPECT_EQ(did_you_mean("icelake", names, 2), "; did you mean icelake or icelake-server?");
  EXPECT_EQ(did_you_mean("lake", names, 3), "; did you mean skylake, skylake-x or icelake?");
}

}  // namespace
}  // namespace pmusim
