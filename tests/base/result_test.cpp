// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "pmusim/base/bus.h"
#include "pmusim/base/types.h"

namespace pmusim {
namespace {

// Returned in two registers: a register read is one of these.
static_assert(sizeof(FaultOr<u64>) == 16 && std::is_trivially_copyable_v<FaultOr<u64>>);

TEST(Result, HoldsAValueOrTheReasonWhyNot) {
  const FaultOr<u64> value = u64{7};
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, 7u);
  const FaultOr<u64> fault = Failure(Fault::gp);
  EXPECT_FALSE(fault.ok());
  EXPECT_EQ(fault.error(), Fault::gp);
  EXPECT_EQ(fault.value_or(9), 9u);
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<std::string>, Error> result = std::make_unique<std::string>("kept");
  EXPECT_EQ(**result, "kept");
  EXPECT_EQ(*std::move(result).value(), "kept");
  const Result<std::unique_ptr<std::string>, Error> failed = Failure(Error("why"));
  EXPECT_EQ(failed.error().message, "why");
}

TEST(Result, OfAnErrorThrowsItsSentenceWhereTheValueIsAskedFor) {
  Result<std::unique_ptr<int>, Error> failed = Failure(Error("no CPU model 'skylakee'"));
  const auto sentence_of = [](auto ask) -> std::string {
    try {
      ask();
    } catch (const NoValue& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(sentence_of([&] { static_cast<void>(*failed); }), "no CPU model 'skylakee'");
  EXPECT_EQ(sentence_of([&] { static_cast<void>(failed.value()); }), "no CPU model 'skylakee'");
  EXPECT_EQ(sentence_of([&] { static_cast<void>(std::as_const(failed).operator->()); }),
            "no CPU model 'skylakee'");
  const Result<int, Error> plain = Failure(Error("why"));
  EXPECT_EQ(sentence_of([&] { static_cast<void>(plain.value()); }), "why");
  const Result<Done, KernelError> refused = Failure(KernelError(22, "EINVAL, says the kernel"));
  EXPECT_EQ(sentence_of([&] { static_cast<void>(*refused); }), "EINVAL, says the kernel");
  const FaultOr<u64> fault = Failure(Fault::gp);
  EXPECT_EQ(sentence_of([&] { static_cast<void>(*fault); }), "#GP");
}

}  // namespace
}  // namespace pmusim
