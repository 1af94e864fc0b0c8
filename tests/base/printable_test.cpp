// SPDX-License-Identifier: MIT
#include "base/printable.h"

#include <gtest/gtest.h>

namespace pmusim {
namespace {

TEST(Printable, OrdinaryTextStaysInAnyScript) {
  for (const char* text : {"", "/usr/bin/true", "[stack]", "größe", "数据", "\xF0\x9F\x98\x80"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, WhatATerminalActsOnIsShownAsBytes) {
  EXPECT_EQ(printable("a\x1B[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("line\nend\r\x7F"), "line\\x0aend\\x0d\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xc2\\x9b") << "CSI in one character";
  EXPECT_EQ(printable("C:\\x1b"), "C:\\\\x1b") << "nothing can pretend to be escaped";
}

TEST(Printable, BytesThatAreNoUtf8AreShownAsBytes) {
  EXPECT_EQ(printable("\x9B"), "\\x9b");
  EXPECT_EQ(printable("\xC0\xAF"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(printable("\xF0\x9F\x98"), "\\xf0\\x9f\\x98") << "cut";
}

TEST(Printable, SentencesKeepWhatTheirNamesHaveEscaped) {
  EXPECT_EQ(printable_sentence("x\x1B[2J: no such file"), "x\\x1b[2J: no such file");
  EXPECT_EQ(printable_sentence(printable("a\nb") + ": damaged"), "a\\x0ab: damaged");
}

}  // namespace
}  // namespace pmusim
