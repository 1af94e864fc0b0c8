// SPDX-License-Identifier: MIT
#include "pmusim/events/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cpu/core_facts.h"
#include "events/sampling_pmus.h"

namespace pmusim::events {
namespace {

using testing::HasSubstr;

CpuModel ice_lake() {
  CpuModel model = find_cpu_model("icelake-server").value();
  model.events = core_facts(Microarchitecture::ice_lake).events;
  return model;
}

/// A model with auto counter reload.
CpuModel skymont() { return find_cpu_model("skymont").value(); }

ParsedEvent parse_one(std::string_view text, const CpuModel& model = ice_lake()) {
  const auto groups = parse_events(text, model);
  if (!groups.ok()) {
    ADD_FAILURE() << groups.error().message;
    return {};
  }
  EXPECT_EQ(groups->size(), 1u);
  EXPECT_EQ(groups->front().events.size(), 1u);
  return groups->front().events.front();
}

std::string refusal_of(std::string_view text, const CpuModel& model = ice_lake()) {
  const auto groups = parse_events(text, model);
  return groups.ok() ? "accepted" : groups.error().message;
}

constexpr u32 hardware = 0, software = 1, hw_cache = 3, raw = 4;

struct Expected {
  std::string_view text;
  u32 type;
  u64 config, config1 = 0;
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.text; }

class EventSyntax : public testing::TestWithParam<Expected> {};

TEST_P(EventSyntax, GivesTheAttributeThatPerfWouldOpen) {
  const ParsedEvent event = parse_one(GetParam().text);
  EXPECT_EQ(event.attr.type, GetParam().type);
  EXPECT_EQ(event.attr.config, GetParam().config);
  EXPECT_EQ(event.attr.config1, GetParam().config1);
}

INSTANTIATE_TEST_SUITE_P(
    Generic, EventSyntax,
    testing::Values(Expected{"cycles", hardware, 0}, Expected{"cpu-cycles", hardware, 0},
                    Expected{"instructions", hardware, 1}, Expected{"cache-references", hardware, 2},
                    Expected{"cache-misses", hardware, 3}, Expected{"branches", hardware, 4},
                    Expected{"branch-instructions", hardware, 4}, Expected{"branch-misses", hardware, 5},
                    Expected{"bus-cycles", hardware, 6}, Expected{"stalled-cycles-frontend", hardware, 7},
                    Expected{"idle-cycles-backend", hardware, 8}, Expected{"ref-cycles", hardware, 9}));

INSTANTIATE_TEST_SUITE_P(
    Software, EventSyntax,
    testing::Values(Expected{"cpu-clock", software, 0}, Expected{"task-clock", software, 1},
                    Expected{"page-faults", software, 2}, Expected{"faults", software, 2},
                    Expected{"cs", software, 3}, Expected{"migrations", software, 4},
                    Expected{"minor-faults", software, 5}, Expected{"major-faults", software, 6},
                    Expected{"dummy", software, 9}));

INSTANTIATE_TEST_SUITE_P(
    Cache, EventSyntax,
    testing::Values(
        Expected{"L1-dcache-loads", hw_cache, 0}, Expected{"L1-dcache-load-misses", hw_cache, 0x10000},
        Expected{"l1d-stores", hw_cache, 0x100}, Expected{"L1-icache-load-misses", hw_cache, 0x10001},
        Expected{"LLC-loads", hw_cache, 2}, Expected{"LLC-store-misses", hw_cache, 0x10102},
        Expected{"dTLB-load-misses", hw_cache, 0x10003}, Expected{"iTLB-load-misses", hw_cache, 0x10004},
        Expected{"branch-loads", hw_cache, 5}, Expected{"branch-load-misses", hw_cache, 0x10005},
        Expected{"LLC-prefetches", hw_cache, 0x202}, Expected{"dtlb-misses", hw_cache, 0x10003}));

INSTANTIATE_TEST_SUITE_P(Vendor, EventSyntax,
                         testing::Values(Expected{"BR_MISP_RETIRED.ALL_BRANCHES", raw, 0x00C5},
                                         Expected{"br_misp_retired.all_branches", raw, 0x00C5},
                                         Expected{"BR_MISP_RETIRED:ALL_BRANCHES", raw, 0x00C5},
                                         Expected{"BR_MISP_RETIRED:ALL_BRANCHES:u", raw, 0x00C5},
                                         Expected{"MACHINE_CLEARS.COUNT", raw, 0x010401C3},  // CMASK 1, EDGE
                                         Expected{"UOPS_RETIRED.STALL_CYCLES", raw,
                                                  0x018002C2},                          // CMASK 1, INV
                                         Expected{"L2_LINES_OUT.SILENT", raw, 0x01F2},  // from libpfm4 only
                                         Expected{"MEM_TRANS_RETIRED.LOAD_LATENCY_GT_64", raw, 0x01CD, 64},
                                         Expected{"FRONTEND_RETIRED.L1I_MISS", raw, 0x01C6, 0x12},
                                         Expected{"OCR.DEMAND_DATA_RD.L3_MISS", raw, 0x01B7, 0x3FBFC00001}));

INSTANTIATE_TEST_SUITE_P(
    Terms, EventSyntax,
    testing::Values(Expected{"r1c4", raw, 0x1C4}, Expected{"r0x1c4", raw, 0x1C4},
                    Expected{"cpu/event=0xc4,umask=0x20,cmask=1/", raw, 0x010020C4},
                    Expected{"cpu/event=0xc4,umask=32,inv,edge,cmask=0x10/", raw, 0x108420C4},
                    Expected{"cpu/event=0x3c,in_tx=1,in_tx_cp=1/", raw, 0x30000003C},
                    Expected{"cpu/config=0x1c4,config1=7/", raw, 0x1C4, 7},
                    Expected{"cpu/event=0xcd,umask=1,ldlat=0x40/", raw, 0x01CD, 0x40},
                    Expected{"cpu/event=0xb7,umask=1,offcore_rsp=0x10001/", raw, 0x01B7, 0x10001},
                    Expected{"cpu/event=0xc6,umask=1,frontend=0x12/", raw, 0x01C6, 0x12},
                    Expected{"cpu/branch-misses,period=2000/", raw, 0x00C5},
                    Expected{"cpu/br_inst_retired.cond,cmask=2/", raw, 0x020011C4},
                    Expected{"cpu/mem-loads,ldlat=30/P", raw, 0x01CD, 30},
                    Expected{"mem-loads", raw, 0x01CD, 3}, Expected{"mem-stores", raw, 0x82D0},
                    Expected{"cpu/mem-stores/", raw, 0x82D0}, Expected{"slots", raw, 0x0400},
                    Expected{"topdown-be-bound", raw, 0x8300}, Expected{"tx-abort", raw, 0x04C9},
                    Expected{"cycles-t", raw, 0x10000003C}));

TEST(EventTerms, BehindAGenericNameSetThePeriodAndTheExtraWords) {
  const ParsedEvent event = parse_one("branch-misses/period=2000,acr_mask=0x2/ppu", skymont());
  EXPECT_EQ(event.attr.type, hardware);
  EXPECT_EQ(event.attr.config, 5u);
  EXPECT_EQ(event.attr.sample_period, 2000u);
  EXPECT_EQ(event.attr.config2, 2u);
  EXPECT_EQ(event.attr.precise_ip, 2u);
  EXPECT_TRUE(event.attr.exclude_kernel && event.attr.exclude_hv && !event.attr.exclude_user);
  EXPECT_EQ(event.name, "branch-misses:ppu");
}

TEST(EventTerms, AUmaskHasTwoBytesWhereThePartHasUmask2) {
  const CpuModel lion_cove = find_cpu_model("lioncove").value();
  EXPECT_EQ(parse_one("cpu/event=0xc4,umask=0x111/", lion_cove).attr.config, 0x0100'0000'11C4u);
  EXPECT_EQ(parse_one("BR_INST_RETIRED.COND", lion_cove).attr.config, 0x0100'0000'11C4u);
  EXPECT_THAT(refusal_of("cpu/event=0xc4,umask=0x111/"), HasSubstr("does not fit the 8 bits"));
}

// Linux, arch/x86/events/amd/ibs.c: the formats of the two PMUs.
TEST(EventTerms, OfInstructionBasedSamplingAreThoseOfItsPmus) {
  const CpuModel genoa = find_cpu_model("genoa").value(), turin = find_cpu_model("turin").value();
  EXPECT_EQ(parse_one("ibs_op//", genoa).attr.type, ibs_op_type);
  EXPECT_EQ(parse_one("ibs_op//", genoa).attr.config, 0u);
  EXPECT_EQ(parse_one("ibs_op//", genoa).name, "ibs_op//");
  EXPECT_EQ(parse_one("ibs_op/cnt_ctl=1,l3missonly/", genoa).attr.config, 0x90000u);
  EXPECT_EQ(parse_one("ibs_op/ldlat=128/", turin).attr.config1, 128u);
  EXPECT_EQ(parse_one("ibs_op/swfilt/u", genoa).attr.config2, 1u);
  EXPECT_EQ(parse_one("ibs_op/swfilt/u", genoa).attr.exclude_kernel, 1u);
  EXPECT_EQ(parse_one("ibs_op/period=100000/", genoa).attr.sample_period, 100'000u);
  EXPECT_EQ(parse_one("ibs_fetch/rand_en/", genoa).attr.type, ibs_fetch_type);
  EXPECT_EQ(parse_one("ibs_fetch/rand_en/", genoa).attr.config, u64{1} << 57);
  EXPECT_THAT(refusal_of("ibs_op/ldlat=128/", genoa), HasSubstr("no term 'ldlat'"));
  EXPECT_THAT(refusal_of("ibs_op/event=1/", genoa), HasSubstr("no term 'event'"));
  EXPECT_THAT(refusal_of("ibs_op", genoa), HasSubstr("its event is 'ibs_op//'"));
  EXPECT_THAT(refusal_of("ibs_op//", find_cpu_model("skylake").value()), HasSubstr("has no PMU 'ibs_op'"));
}

TEST(EventTerms, AFrequencyIsAPeriodWithTheFrequencyFlag) {
  const ParsedEvent event = parse_one("cpu/event=0xc0,freq=4000/");
  EXPECT_TRUE(event.attr.freq);
  EXPECT_EQ(event.attr.sample_period, 4000u);
}

TEST(EventNames, AreWhatPerfShows) {
  EXPECT_EQ(parse_one("cycles").name, "cycles");
  EXPECT_EQ(parse_one("cycles:pp").name, "cycles:pp");
  EXPECT_EQ(parse_one("cpu/event=0xc4,umask=0x20/u").name, "cpu/event=0xc4,umask=0x20/u");
  EXPECT_EQ(parse_one("cpu/event=0xc4,name=taken/u").name, "taken");
  EXPECT_EQ(parse_one("cpu/event=0xc4,name='taken, all'/u").name, "taken, all");
  EXPECT_EQ(parse_one("r1c4:k").name, "r1c4:k");
}

TEST(EventModifiers, RestrictTheLevelsThatAreNamed) {
  const auto levels = [](std::string_view text) {
    const perf::Attr attr = parse_one(text).attr;
    return std::string(attr.exclude_user ? "-" : "u") + (attr.exclude_kernel ? "-" : "k") +
           (attr.exclude_hv ? "-" : "h");
  };
  EXPECT_EQ(levels("cycles"), "ukh");
  EXPECT_EQ(levels("cycles:u"), "u--");
  EXPECT_EQ(levels("cycles:k"), "-k-");
  EXPECT_EQ(levels("cycles:h"), "--h");
  EXPECT_EQ(levels("cycles:uk"), "uk-");
  EXPECT_EQ(levels("cycles:p"), "ukh");
}

TEST(EventModifiers, SetTheirAttributes) {
  EXPECT_EQ(parse_one("cycles:ppp").attr.precise_ip, 3u);
  EXPECT_EQ(parse_one("cycles:P").attr.precise_ip, 3u) << "Ice Lake has PDIR";
  EXPECT_TRUE(parse_one("cycles:I").attr.exclude_idle);
  EXPECT_TRUE(parse_one("cycles:D").attr.pinned);
  EXPECT_TRUE(parse_one("cycles:e").attr.exclusive);
  EXPECT_TRUE(parse_one("cycles:G").attr.exclude_host);
  EXPECT_TRUE(parse_one("cycles:H").attr.exclude_guest);
  EXPECT_TRUE(parse_one("cycles:S").sample_read);
  EXPECT_TRUE(parse_one("cycles:W").weak_group);
  EXPECT_EQ(parse_one("cycles:X").attr.config, parse_one("cycles").attr.config) << "no group is regrouped";
}

TEST(EventModifiers, HighestPreciseLevelFollowsThePebsOfTheModel) {  // Linux: intel_pmu_hw_config
  CpuModel model = ice_lake();
  model.pebs.distribution = 0;
  EXPECT_EQ(parse_one("cycles:P", model).attr.precise_ip, 2u);
  model.pebs.format = 1;
  model.lbr.depth = 0;
  EXPECT_EQ(parse_one("cycles:P", model).attr.precise_ip, 1u);
  model.pebs.format = PebsFeatures::none;
  EXPECT_EQ(parse_one("cycles:P", model).attr.precise_ip, 0u);
  EXPECT_EQ(parse_one("cycles:P", *find_cpu_model("core2")).attr.precise_ip, 0u);  // off for its errata
  EXPECT_EQ(parse_one("cycles:P", *find_cpu_model("penryn")).attr.precise_ip, 2u);
}

TEST(EventGroups, KeepTheirMembersInOrder) {
  const auto groups = parse_events("cycles,{branch-misses,branches},instructions", ice_lake());
  ASSERT_TRUE(groups.ok()) << groups.error().message;
  ASSERT_EQ(groups->size(), 3u);
  ASSERT_EQ((*groups)[1].events.size(), 2u);
  EXPECT_EQ((*groups)[1].events[0].name, "branch-misses");
  EXPECT_EQ((*groups)[1].events[1].name, "branches");
}

TEST(EventGroups, PassTheirModifiersToEachMemberBesideItsOwn) {
  const auto groups = parse_events("{branch-misses:p,branches:u}:kD", ice_lake());
  ASSERT_TRUE(groups.ok()) << groups.error().message;
  const auto& [leader, member] = std::tie((*groups)[0].events[0], (*groups)[0].events[1]);
  EXPECT_TRUE(leader.attr.exclude_user && !leader.attr.exclude_kernel && leader.attr.pinned);
  EXPECT_TRUE(!member.attr.exclude_user && !member.attr.exclude_kernel && member.attr.exclude_hv);
  EXPECT_FALSE(member.attr.pinned) << "only a leader may be pinned";
}

TEST(EventGroups, TakeTheSyntaxOfAutoCounterReload) {  // issue: ACR on the command line
  const auto groups = parse_events(
      "{branch-misses/period=2000,acr_mask=0x2/ppu,branch-instructions/period=10000,acr_mask=0x3/u}",
      skymont());
  ASSERT_TRUE(groups.ok()) << groups.error().message;
  const auto& events = groups->front().events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].attr.sample_period, 2000u);
  EXPECT_EQ(events[0].attr.config2, 2u);
  EXPECT_EQ(events[1].attr.sample_period, 10000u);
  EXPECT_EQ(events[1].attr.config2, 3u);
}

TEST(EventGroups, TakeTheListOfThePatchWithItsLineBreak) {  // ACR patch 3/3 of October 2024, as it is printed
  const auto groups = parse_events(
      "{cpu_atom/branch-misses,period=200000,acr_mask=0x2/ppu,\n"
      "cpu_atom/branch-instructions,period=1000000,acr_mask=0x3/u}",
      skymont());
  ASSERT_TRUE(groups.ok()) << groups.error().message;
  const auto& events = groups->front().events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].attr.precise_ip, 2u);
  EXPECT_EQ(events[1].attr.sample_period, 1'000'000u);
  EXPECT_EQ(events[1].attr.config2, 3u);
  EXPECT_EQ(events[1].name, "cpu_atom/branch-instructions,period=1000000,acr_mask=0x3/u");
}

TEST(Events, OfArrowLakeHsSmallestCoresAreThoseOfTheirOwnPmu) {
  CpuModel model = *find_cpu_model("arrowlake-h-atom");
  model.native_model_id = 2;
  EXPECT_TRUE(parse_events("cpu_lowpower/event=0xc4/", model).ok());
  const auto refused = parse_events("cpu_atom/event=0xc4/", model);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("has no PMU 'cpu_atom'; its PMU is 'cpu_lowpower'"),
            std::string::npos)
      << refused.error().message;
}

TEST(EventGroups, PassOverWhiteSpaceBetweenTheirParts) {  // perf 6.1 takes each of these
  const std::string plain = "{cycles:u,cpu/event=0xc4,umask=0x20,period=100/pp}:D";
  const auto wanted = parse_events(plain, ice_lake());
  ASSERT_TRUE(wanted.ok());
  for (const std::string_view text :
       {"\n{cycles:u,\n\tcpu/event=0xc4,umask=0x20,period=100/pp}:D\n",
        "{ cycles :u ,cpu /event=0xc4,umask=0x20,period=100/pp } :D",
        "{cycles: u,cpu/\nevent=0xc4,\r\n umask =0x20,period= 100\n/pp\n}: D"}) {
    const auto groups = parse_events(text, ice_lake());
    ASSERT_TRUE(groups.ok()) << groups.error().message;
    ASSERT_EQ(groups->size(), 1u);
    for (std::size_t i = 0; i < 2; ++i) {
      const perf::Attr &attr = groups->front().events[i].attr, &same = wanted->front().events[i].attr;
      EXPECT_EQ(std::memcmp(&attr, &same, sizeof attr), 0) << text;
      EXPECT_EQ(groups->front().events[i].name, wanted->front().events[i].name) << text;
    }
  }
}

TEST(EventGroups, RatioToPreviousFillsInThePeriodAndTheMasks) {  // perf record, ratio-to-prev
  const auto groups = parse_events("{instructions,cycles/period=20000,ratio-to-prev=0.5/}", skymont());
  ASSERT_TRUE(groups.ok()) << groups.error().message;
  const auto& events = groups->front().events;
  EXPECT_EQ(events[0].attr.sample_period, 40000u);
  EXPECT_EQ(events[0].attr.config2, 2u);
  EXPECT_EQ(events[1].attr.config2, 3u);
}

TEST(EventGroups, RatioToPreviousNeedsAnEventANumberAndAPeriod) {
  EXPECT_THAT(refusal_of("cycles/ratio-to-prev=2/", skymont()), HasSubstr("needs an event before it"));
  EXPECT_THAT(refusal_of("{cycles,branches/ratio-to-prev=x/}", skymont()),
              HasSubstr("needs a number above 0"));
  EXPECT_THAT(refusal_of("{cycles,branches/ratio-to-prev=2/}", skymont()), HasSubstr("needs a period"));
}

TEST(EventTerms, RefuseAutoReloadAndNameTheModelsThatHaveIt) {
  const std::string refusal = refusal_of("branch-misses/acr_mask=2/");
  for (const CpuModel& model : cpu_models())
    EXPECT_EQ(refusal.find(" " + model.name) != refusal.npos, model.acr.cause != 0) << model.name;
}

TEST(EventTerms, OfOtherModelsAreNoTermsOfThisOne) {
  const CpuModel nehalem = find_cpu_model("nehalem").value();
  const auto parsed = parse_events("cpu/event=0xc6,frontend=0x12/", nehalem);
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.error().message, HasSubstr("character 16: the PMU of Nehalem has no term 'frontend'"));
}

struct Refused {
  std::string_view text, why;
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << '"' << refused.text << '"'; }

class EventErrors : public testing::TestWithParam<Refused> {};

TEST_P(EventErrors, SayWhatIsWrongAndWhere) {
  EXPECT_THAT(refusal_of(GetParam().text), HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    All, EventErrors,
    testing::Values(
        Refused{"", "character 1: expected an event, found the end of the list"},
        Refused{"cycles,", "character 8: expected an event, found the end of the list"},
        Refused{"cycles,,branches", "character 8: expected an event, found ','"},
        Refused{"branch-mises", "unknown event 'branch-mises' on Ice Lake server; did you mean"},
        Refused{"cycles,br_misp_retired.all_branch", "BR_MISP_RETIRED.ALL_BRANCHES"},
        Refused{"iTLB-stores", "unknown event 'iTLB-stores'"},
        Refused{"sched:sched_switch", "tracepoint or breakpoint"},
        Refused{"mem:0x1000:rw", "tracepoint or breakpoint"},
        Refused{"cpu_atom/event=0xc0/", "Ice Lake server has no PMU 'cpu_atom'"},
        Refused{"cycles:z", "character 8: unknown modifier 'z'"}, Refused{"cycles:b", "BPF"},
        Refused{"cycles:uu", "modifier 'u' is given twice"}, Refused{"cycles:pppp", "precise level 4"},
        Refused{"cycles:", "expected modifiers after ':'"},
        Refused{"{cycles,branches", "character 1: group without a closing '}'"},
        Refused{"{cycles,{branches}}", "character 9: groups do not nest"},
        Refused{"cycles}", "character 7: '}' without a '{'"}, Refused{"{}", "expected an event, found '}'"},
        Refused{"{cycles}:", "expected modifiers after ':'"}, Refused{"{cycles:p}:ppp", "precise level 4"},
        Refused{"cpu/event=0xc4", "no second '/'"}, Refused{"cpu//", "names no event"},
        Refused{"cpu/event=0x1c4/", "character 5: 0x1c4 does not fit the 8 bits of term 'event'"},
        Refused{"cpu/event=zz/", "needs a decimal or 0x number, not 'zz'"},
        Refused{"cpu/event/", "term 'event' needs a value"},
        Refused{"cpu/edge=2/", "does not fit the 1 bit of term 'edge'"},
        Refused{"cpu/event=1,umsk=2/", "unknown term 'umsk'; did you mean umask"},
        Refused{"cpu/event=1,foo/", "'foo' is neither a term nor an event"},
        Refused{"cycles/period=0/", "must not be 0"}, Refused{"cpu/event=1,name=/", "needs a value"},
        Refused{"cycles/cmask=1/", "generic event has none"},
        Refused{
            "branch-misses/acr_mask=2/",
            "character 15: term 'acr_mask' needs auto counter reload, which Ice Lake server does not have; "},
        Refused{"{cycles,branches/ratio-to-prev=2/}", "term 'ratio-to-prev' needs auto counter reload"},
        Refused{"cpu/stalled-cycles-frontend/", "Ice Lake server has no event for"},
        Refused{"cycles,\n\tbranch-mises", "event list 'cycles,  branch-mises', character 10: unknown event"},
        Refused{"cpu/event=0xc4,\n umask=zz/", "character 18: term 'umask' needs"},
        Refused{"cpu/ \n/", "names no event"}, Refused{"cycles, ,branches", "found ','"},
        Refused{"cycles\nbranches", "expected ',' or the end of the list, found 'b'"},
        Refused{"cycles instructions", "expected ',' or the end of the list, found 'i'"},
        Refused{"r12345678901234567", "unknown event"}));

}  // namespace
}  // namespace pmusim::events
