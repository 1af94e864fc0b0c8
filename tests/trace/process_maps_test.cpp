// SPDX-License-Identifier: MIT
// /proc/PID/maps (proc(5)) as text, and what changed in it.
#include "trace/process_maps.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

namespace pmusim::trace {
namespace {

using testing::ElementsAre;

const Mapping code{0x401000, 0x2000, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE, "/bin/a b", {}};
const Mapping data{0x404000, 0x1000, 0x4000, PROT_READ | PROT_WRITE, MAP_SHARED, "/bin/a b", {}};
const Mapping made{0x7000000000, 0x1000, 0, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, "//anon", {}};

TEST(ProcessMaps, AreWhatTheKernelWrites) {
  EXPECT_THAT(parse_maps("00401000-00403000 r-xp 00001000 08:02 1234                 /bin/a b\n"
                         "00404000-00405000 rw-s 00004000 08:02 1234                 /bin/a b\n"
                         "00405000-00406000 rw-p 00000000 00:00 0 \n"
                         "7000000000-7000001000 rwxp 00000000 00:00 0 \n"),
              ElementsAre(code, data, made))
      << "memory without a name is told where it has code";
}

TEST(ProcessMaps, WhatIsNoLineOfThemIsLeftOut) {
  EXPECT_THAT(
      parse_maps("\n00401000\n00401000-\n00401000-00403000\n00401000-00403000 \n00401000-00403000 r\n"
                 "00403000-00401000 r-xp 00001000 08:02 1234 /bin/a b\nmaps - x /\n- rwxp\n"
                 "-00403000 r-xp 00001000 08:02 1234 /bin/a b\n4o1000-00403000 r-xp 0 08:02 1234 /bin/a b\n"
                 "00401000-00403000 r-xp 00001000 08:02 1234 /bin/a b"),
      ElementsAre(code));
}

TEST(ProcessMaps, CodeHasChangedWhereSomeWasAddedOrRemoved) {
  EXPECT_TRUE(compare_maps({data}, {code, data}).code_changed());
  EXPECT_TRUE(compare_maps({code, data}, {data}).code_changed());
  EXPECT_FALSE(compare_maps({code}, {code, data}).code_changed());
  EXPECT_FALSE(compare_maps({code, data}, {code}).code_changed());
  EXPECT_FALSE(compare_maps({code, data}, {code, data}).code_changed());
}

TEST(ProcessMaps, AMappingThatChangedIsRemovedAndAdded) {
  Mapping longer = code;
  longer.bytes += 0x1000;
  const MapChanges changes = compare_maps({code, data}, {longer, data, made});
  EXPECT_THAT(changes.removed, ElementsAre(code));
  EXPECT_THAT(changes.added, ElementsAre(longer, made));
}

TEST(ProcessMaps, ABuildIdThatIsKnownOfTheOldIsNoChange) {
  Mapping known = code;
  known.build_id = {1, 2, 3};
  EXPECT_THAT(compare_maps({known}, {code}).added, ElementsAre());
}

}  // namespace
}  // namespace pmusim::trace
