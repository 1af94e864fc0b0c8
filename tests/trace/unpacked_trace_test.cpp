// SPDX-License-Identifier: MIT
// What the fuzzer of trace files feeds: traces whose streams stand as they are, with every checksum made
// right.
#include "tests/support/unpacked_trace.h"

#include <gmock/gmock.h>

#include "tests/trace/sample_trace.h"

namespace pmusim::trace {
namespace {

std::vector<u8> bytes_of(const std::string& path) {
  const auto content = file_content(path);
  return {content.begin(), content.end()};
}

void write_bytes(const std::string& path, const std::vector<u8>& bytes) {
  write_content(path, {bytes.begin(), bytes.end()});
}

class UnpackedTrace : public testing::TestWithParam<Contents> {
 protected:
  void SetUp() override {
    RandomTrace(7, GetParam()).write(packed, 40);
    file = unpacked(bytes_of(packed));
  }
  TemporaryDirectory directory;
  const std::string packed = directory.file("packed"), changed = directory.file("changed");
  std::vector<u8> file;
};

TEST_P(UnpackedTrace, HasTheItemsOfThePackedOne) {
  write_bytes(changed, file);
  const auto expected = read_all(packed), found = read_all(changed);
  ASSERT_TRUE(expected.ok() && found.ok());
  EXPECT_EQ(*found, *expected);
  EXPECT_GT(file.size(), bytes_of(packed).size());
}

TEST_P(UnpackedTrace, IsNotRefusedForAChecksumWhateverChanges) {
  unsigned refused = 0;
  for (std::size_t at = 0; at < file.size(); at += 3) {
    auto other = file;
    other[at] ^= 0x11;
    seal_unpacked(other);
    write_bytes(changed, other);
    const auto items = read_all(changed);
    if (items.ok()) continue;
    ++refused;
    // Said of another magic, too.
    if (items.error().message.ends_with("header of the timing has a wrong checksum")) continue;
    EXPECT_THAT(items.error().message, testing::Not(testing::HasSubstr("checksum"))) << at;
  }
  EXPECT_GT(refused, 0u);
}

INSTANTIATE_TEST_SUITE_P(Of, UnpackedTrace,
                         testing::Values(Contents{}, Contents{.addresses = true, .registers = true},
                                         Contents{.timing = true}));

}  // namespace
}  // namespace pmusim::trace
