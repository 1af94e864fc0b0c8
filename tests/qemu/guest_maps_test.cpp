// SPDX-License-Identifier: MIT
#include "qemu/guest_maps.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

namespace pmusim::qemu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using trace::Map;
using trace::Mapping;
using trace::SideBandRecord;
using trace::Unmap;

constexpr u32 rx = PROT_READ | PROT_EXEC, rw = PROT_READ | PROT_WRITE;

Mapping file(u64 start, u64 bytes, u64 offset, u32 protection) {
  return {start, bytes, offset, protection, MAP_PRIVATE, "/no/such/file", {}};
}

TEST(GuestMaps, AMappingOverAnotherLeavesWhatItDoesNotCover) {
  GuestMaps maps;
  maps.map(1, file(0x10000, 0x4000, 0, PROT_READ));
  EXPECT_THAT(maps.map(1, file(0x11000, 0x1000, 0x1000, rx)),
              ElementsAre(SideBandRecord(Unmap{1, 0x11000, 0x1000}),
                          SideBandRecord(Map{1, file(0x11000, 0x1000, 0x1000, rx)})));
  // The piece behind it keeps its place in the file.
  EXPECT_THAT(maps.protect(1, 0x12000, 0x2000, rw),
              ElementsAre(SideBandRecord(Unmap{1, 0x12000, 0x2000}),
                          SideBandRecord(Map{1, file(0x12000, 0x2000, 0x2000, rw)})));
}

TEST(GuestMaps, OnlyExecutableAnonymousMemoryIsKept) {
  GuestMaps maps;
  EXPECT_THAT(maps.map(1, {0x10000, 0x1000, 0, rw, MAP_PRIVATE, "", {}}), IsEmpty());
  const Mapping code{0x20000, 0x1000, 0, rx, MAP_PRIVATE, "//anon", {}};
  EXPECT_THAT(maps.protect(1, 0x20000, 0x1000, rx), ElementsAre(SideBandRecord(Map{1, code})));
  EXPECT_THAT(maps.unmap(1, 0x20000, 1), ElementsAre(SideBandRecord(Unmap{1, 0x20000, 0x1000})));
}

TEST(GuestMaps, AProgramsProtectionsAreThoseOfItsSegments) {
  GuestMaps maps;
  bool code = false;
  // This test itself, as qemu maps it: without execution.
  for (const SideBandRecord& record :
       maps.start(1, "4000000000-4000001000 r--p 00000000 08:01 1 /proc/self/exe\n")) {
    const Mapping& mapping = std::get<Map>(record).mapping;
    EXPECT_EQ(mapping.start % 4096, 0u);
    code = code || mapping.protection == rx;
  }
  EXPECT_TRUE(code);
}

}  // namespace
}  // namespace pmusim::qemu
