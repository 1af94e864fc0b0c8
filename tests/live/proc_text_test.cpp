// SPDX-License-Identifier: MIT
// What is read of /proc, whatever stands there: a kernel's lines (proc(5)), and those made odd in every
// place.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "live/cgroups.h"
#include "live/processes.h"
#include "trace/process_maps.h"

namespace pmusim::test {
namespace {

/// The text cut behind and before each byte, without each byte, and with each byte something that separates.
std::vector<std::string> odd_forms(const std::string& text) {
  const std::string others(" \t\n:-\\/,()9\0", 12);
  std::vector<std::string> forms;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    forms.push_back(text.substr(0, at));
    forms.push_back(text.substr(at));
    if (at == text.size()) continue;
    forms.push_back(text.substr(0, at) + text.substr(at + 1));
    for (const char other : others) {
      forms.push_back(text);
      forms.back()[at] = other;
    }
  }
  return forms;
}

bool is_cgroup(const std::string& name) {
  return name == "/" || (name.starts_with('/') && !name.ends_with('/') && name.find("//") == name.npos);
}

const std::string version_2_mount = "32 1 0:28 /up /sys/fs/c\\040g rw,nosuid shared:4 - cgroup2 cgroup2 rw\n",
                  version_1_mount = "31 1 0:27 /up /sys/fs/c\\040g rw - cgroup cgroup rw,perf_event\n",
                  version_2 = "0::/up/a\n", version_1 = "3:cpu,perf_event:/up/a\n";

TEST(ProcText, MountsWithoutAFileSystemAreNone) {
  for (const char* const end : {" - ", " -  ", " - \n", "- ", " -"})
    EXPECT_EQ(
        live::CgroupMounts(version_2, std::string("33 1 0:28 / /sys/fs/cgroup rw") + end).directory_of("/up"),
        std::nullopt)
        << end;
}

TEST(ProcText, OddMountsAreNoneOrOthers) {
  const struct {
    const std::string &memberships, &mounts;
  } kinds[] = {{version_2, version_2_mount}, {version_1, version_1_mount}};
  for (const auto& [memberships, mounts] : kinds) {
    EXPECT_EQ(live::CgroupMounts(memberships, mounts).directory_of("/up/a"), "/sys/fs/c g/a");
    for (const std::string& odd : odd_forms(mounts)) {
      const auto cgroup = live::CgroupMounts(memberships, odd).cgroup_at("/sys/fs/c g/a");
      EXPECT_TRUE(!cgroup || is_cgroup(*cgroup)) << odd << " -> " << *cgroup;
      const auto directory = live::CgroupMounts(memberships, odd).directory_of("/up/a");
      EXPECT_TRUE(!directory || is_cgroup(*directory)) << odd << " -> " << *directory;
    }
  }
}

// The perf core refuses what is no path.
TEST(ProcText, OddMembershipsArePaths) {
  for (const std::string& kind : {version_2, version_1, version_1 + version_2})
    for (const std::string& odd : odd_forms(kind)) EXPECT_TRUE(is_cgroup(live::cgroup_in(odd))) << odd;
}

TEST(ProcText, OctalDigitsAloneAreEscapes) {
  const auto point = [](const std::string& text) {
    return live::CgroupMounts(version_2, "32 1 0:28 / " + text + " rw - cgroup2 cgroup2 rw\n")
        .directory_of("/");
  };
  EXPECT_EQ(point("/a\\011b\\134"), "/a\tb\\");
  EXPECT_EQ(point("/a\\01"), "/a\\01");
  EXPECT_EQ(point("/a\\x41\\899"), "/a\\x41\\899");
}

TEST(ProcText, ParentsStandBehindNamesThatHoldAnything) {
  EXPECT_EQ(live::parent_in("7 (a) S 9 (b) R 12 7 7 0"), 12u);
  EXPECT_EQ(live::parent_in("7 (a b) S 12 7 7 0"), 12u);
  for (const char* const odd : {"", ")", "7", "7 (a", "7 (a)", "7 (a) ", "7 (a) S", "7 (a) S ", "7 (a) S x"})
    EXPECT_EQ(live::parent_in(odd), 0u) << odd;
}

TEST(ProcText, AStatusSaysWhatItHas) {
  const std::string text =
      "Name:\ta\nState:\tS (sleeping)\nTgid:\t5\nPid:\t6\nPPid:\t4\nTracerPid:\t3\nUid:\t7\t8\t7\t7\n"
      "CapEff:\t00000000000000ff\n";
  const live::TaskStatus whole = live::status_in(text);
  EXPECT_EQ(whole.process, 5u);
  EXPECT_EQ(whole.parent, 4u);
  EXPECT_EQ(whole.tracer, 3u);
  EXPECT_EQ(whole.user, 7u);
  EXPECT_EQ(whole.capabilities, 0xFFu);
  EXPECT_FALSE(whole.has_ended);
  for (std::size_t bytes = 0; bytes < text.find("\nCapEff:"); ++bytes) {
    const live::TaskStatus part = live::status_in(text.substr(0, bytes));
    EXPECT_EQ(part.capabilities, 0u) << bytes;
    EXPECT_EQ(part.has_ended, bytes <= text.find("S (")) << bytes;
  }
}

TEST(ProcText, OddMapsAreMappingsOrNone) {
  const std::string text = "00401000-00403000 r-xp 00001000 08:02 1234 /bin/a b\n";
  for (const std::string& odd : odd_forms(text))
    for (const trace::Mapping& mapping : trace::parse_maps(odd)) {
      EXPECT_NE(mapping.bytes, 0u) << odd;
      EXPECT_GT(mapping.start + mapping.bytes, mapping.start) << odd;
      EXPECT_FALSE(mapping.path.empty()) << odd;
    }
}

}  // namespace
}  // namespace pmusim::test
