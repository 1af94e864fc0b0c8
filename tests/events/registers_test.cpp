// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "pmusim/base/types.h"
#include "pmusim/events/parser.h"

namespace pmusim::events {
namespace {

TEST(RegisterList, BitsArePerfRegisterNumbers) {
  EXPECT_EQ(*parse_registers("ax"), 1u);
  EXPECT_EQ(*parse_registers("ip,flags,r15"), bit(8) | bit(9) | bit(23));
  EXPECT_EQ(*parse_registers("xmm0,xmm15"), bits(33, 32) | bits(63, 62));
}

TEST(RegisterList, UnknownNamesAreRefusedByName) {
  for (const char* list : {"", "ax,", "ds", "xmm16", "xmm", "xmm1x", "eax"})
    EXPECT_FALSE(parse_registers(list).ok()) << list;
  EXPECT_THAT(parse_registers("bx,r16").error().message, testing::HasSubstr("'r16'"));
}

}  // namespace
}  // namespace pmusim::events
