// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pmusim/events/parser.h"
#include "pmusim/perf/abi.h"

namespace pmusim::events::branch_filter_test {
namespace {

using namespace perf::branch;
using testing::HasSubstr;

struct Row {
  std::string_view list;
  u64 bits;
};
TEST(BranchFilterNames, AreThoseOfPerfRecord) {
  const Row rows[] = {
      {"any", ANY},
      {"any_call,u", ANY_CALL | USER},
      {"any_ret,k", ANY_RETURN | KERNEL},
      {"ind_call,hv", IND_CALL | HV},
      {"cond,u,k", COND | USER | KERNEL},
      {"stack", CALL_STACK},
      {"ind_jmp,save_type,priv", IND_JUMP | TYPE_SAVE | PRIV_SAVE},
      {"call", CALL},
      {"abort_tx,in_tx,no_tx", ABORT_TX | IN_TX | NO_TX},
      {"any,no_flags,no_cycles", ANY | NO_FLAGS | NO_CYCLES},
      {"any,hw_index,counter", ANY | HW_INDEX | COUNTERS},
  };
  for (const Row& row : rows) EXPECT_EQ(parse_branch_filter(row.list).value_or(0), row.bits) << row.list;
}

TEST(BranchFilterNames, PrivilegesAloneMeanAnyBranchAtThem) {
  EXPECT_EQ(parse_branch_filter("u").value_or(0), ANY | USER);
  EXPECT_EQ(parse_branch_filter("u,k").value_or(0), ANY | USER | KERNEL);
}

TEST(BranchFilterNames, AWrongNameBringsItsNeighbours) {
  const auto result = parse_branch_filter("any_cal,u");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("'any_cal'"));
  EXPECT_THAT(result.error().message, HasSubstr("any_call"));
}

TEST(BranchFilterNames, AnEmptyNameIsAnError) {
  for (const std::string_view list : {"", "any,", ",u", "any,,u"})
    EXPECT_FALSE(parse_branch_filter(list).ok()) << list;
}

}  // namespace
}  // namespace pmusim::events::branch_filter_test
