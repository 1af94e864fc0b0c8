// SPDX-License-Identifier: MIT
#include "base/build_id.h"

#include <gtest/gtest.h>

#include <vector>

namespace pmusim {
namespace {

using Id = std::vector<std::byte>;

Id with_zeros(Id id, std::size_t bytes) {
  id.resize(bytes);
  return id;
}

TEST(BuildId, WithoutARecordedSizeHasZerosBehindIt) {
  const Id short_id(8, std::byte{0x57}), uuid(16, std::byte{0x11}), sha1(20, std::byte{0x22});
  EXPECT_TRUE(is_same_build(short_id, short_id));
  EXPECT_TRUE(is_same_build(sha1, sha1));
  EXPECT_TRUE(is_same_build(with_zeros(short_id, 20), short_id));
  EXPECT_TRUE(is_same_build(with_zeros(uuid, 20), uuid));
}

TEST(BuildId, OfAnotherBuildIsNoneOfIt) {
  const Id short_id(8, std::byte{0x57}), sha1(20, std::byte{0x57});
  EXPECT_FALSE(is_same_build(sha1, short_id)) << "more than zeros behind it";
  EXPECT_FALSE(is_same_build(with_zeros(short_id, 16), short_id)) << "its size was recorded";
  EXPECT_FALSE(is_same_build(with_zeros({}, 20), {})) << "the file has no id";
  EXPECT_FALSE(is_same_build(short_id, sha1));
}

}  // namespace
}  // namespace pmusim
