// SPDX-License-Identifier: MIT
#include "base/demangle.h"

#include <gtest/gtest.h>

namespace pmusim {

namespace {

TEST(Demangled, NamesReadAsTheyWereWritten) {
  EXPECT_EQ(demangled("_ZNK8geometry7PolygonIiLi3EE4areaEm"),
            "geometry::Polygon<int, 3>::area(unsigned long) const");
  EXPECT_EQ(demangled("main"), "main");
  EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
}

TEST(Demangled, LongNamesOfTheStandardLibraryAreStillReadable) {
  const std::string name =
      "_ZNSt8_Rb_treeINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4pairIKS5_"
      "St6vectorIS5_SaIS5_EEESt10_Select1stISA_ESt4lessIS5_ESaISA_EE22_M_emplace_hint_"
      "uniqueIJRKSt21piecewise_"
      "construct_tSt5tupleIJRS7_EESL_IJEEEEESt17_Rb_tree_iteratorISA_ESt23_Rb_tree_const_iteratorISA_EDpOT_";
  EXPECT_NE(demangled(name).find("::_M_emplace_hint_unique<"), std::string::npos) << demangled(name);
}

/// f(pair<int, int>, pair<S0_, S0_>, ...): each parameter is twice as long as the one before.
std::string doubling_name(int parameters) {
  std::string name = "_Z1fSt4pairIiiE";
  for (int i = 0; i < parameters; ++i) {
    const std::string reference =
        "S" + std::string(1, static_cast<char>("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i])) + "_";
    name += "S_I" + reference + reference + "E";
  }
  return name;
}

TEST(Demangled, ANameThatWouldGrowWithoutBoundStaysMangled) {
  EXPECT_NE(demangled(doubling_name(4)), doubling_name(4));
  EXPECT_EQ(demangled(doubling_name(34)), doubling_name(34));
}

}  // namespace

}  // namespace pmusim
