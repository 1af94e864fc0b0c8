// SPDX-License-Identifier: MIT
#include "base/suggest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

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

std::size_t edits_between(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::string_view a_rest = a.substr(1), b_rest = b.substr(1);
  if (a[0] == b[0]) return edits_between(a_rest, b_rest);
  return 1 + std::min({edits_between(a_rest, b), edits_between(a, b_rest), edits_between(a_rest, b_rest)});
}

TEST(Suggest, NamesAreNearExactlyWhereEditsLettersOrBeginningsSay) {
  std::minstd_rand random(1);
  const auto text = [&](std::size_t most) {
    std::string result(1 + random() % most, ' ');
    for (char& c : result) c = "abcABC"[random() % 6];
    return result;
  };
  const auto small = [](std::string s) {
    for (char& c : s) c = static_cast<char>(c | 0x20);
    return s;
  };
  std::size_t near = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string wanted = text(9), name = text(8), w = small(wanted), n = small(name);
    const bool expected =
        edits_between(w, n) <= std::max<std::size_t>(1, w.size() / 3) || n.find(w) != n.npos;
    EXPECT_EQ(!near_matches(wanted, std::array{std::string_view(name)}).empty(), expected)
        << wanted << ' ' << name;
    near += expected;
  }
  EXPECT_GT(near, 300u);
  EXPECT_LT(near, 2700u);
}

}  // namespace
}  // namespace pmusim
