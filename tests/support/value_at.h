// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_VALUE_AT_H
#define PMUSIM_TESTS_SUPPORT_VALUE_AT_H

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace pmusim::test {

/// What stands at an offset of a file or a record; beyond its end the test fails.
template <class T>
T value_at(const std::vector<std::byte>& bytes, std::size_t offset) {
  T value{};
  EXPECT_LE(offset + sizeof value, bytes.size());
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace pmusim::test

#endif
