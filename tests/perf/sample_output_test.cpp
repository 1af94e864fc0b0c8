// SPDX-License-Identifier: MIT
#include "perf/sample_output.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "pmusim/perf/core.h"
#include "tests/perf/sample_parser.h"

namespace pmusim::perf {
namespace {

using Fields = SampleParser::Fields;

/// Everything a sample can hold, each field with a value of its own (those of perf's own parsing test where
/// it has one), and what a reader must find.
struct Scene {
  Event event;
  SampleData data;
  InterruptFrame frame;
  SampleEnvironment environment;
  std::vector<u64> read_values, callchain = {201, 202, 203}, counters = {0xab, 0xcd};
  std::vector<BranchEntry> branches;
  BranchStack branch_stack;
  std::vector<std::byte> stack, raw;
  std::vector<u64> xmm;
  Registers user;
  u16 branch_entries_limit = 0;

  Scene() {
    event.id = 106;
    event.leader = &event;
    event.attr.sample_regs_user = 0x3fff & ~u64{0x3000};
    event.attr.sample_regs_intr = 0xff0fff;
    event.attr.sample_stack_user = 24;
    for (u64 i = 0; i < 16; ++i) {
      frame.registers.gpr[i] = 1000 + i;
      user.gpr[i] = 2000 + i;
    }
    frame.registers.rip = 101;
    user.rip = 2100;
    user[Gpr::rsp] = 0x7ffd0000;
    data.period = 108;
    data.address = 105;
    data.physical_address = 113;
    data.weight = 109;
    data.data_source = 111;
    data.transaction = 112;
    environment.moment = {102, 103, 110, 104};
    environment.cgroup = 114;
    environment.data_page_size = 115;
    environment.code_page_size = 116;
    for (int i = 0; i < 20; ++i) raw.push_back(static_cast<std::byte>(i));
    for (int i = 0; i < 24; ++i) stack.push_back(static_cast<std::byte>(100 + i));
    branches.resize(2);
    branches[0].from = 211;
    branches[0].to = 212;
    branches[0].mispred = 1;
    branches[0].abort = 1;
    branches[0].cycles = 0x1234;
    branches[1].from = 213;
    branches[1].type = 5;
    branches[1].priv = 2;
    data.raw = raw;
    branch_stack = {branches, 7, counters};
    data.branches = &branch_stack;
    environment.callchain = callchain;
    environment.user_registers = &user;
    environment.user_stack = stack;
  }

  void set_read_format(u64 format) {
    event.attr.read_format = format;
    const u64 times = (format & 1) + (format >> 1 & 1), entry = 1 + (format >> 2 & 1) + (format >> 4 & 1);
    const u64 members = format & 8 ? 4 : 1;
    if (format & 8) read_values.push_back(members);
    for (u64 i = 0; i < times + members * entry; ++i) read_values.push_back(0x030a59d664fca7de + i);
    environment.read_values = read_values;
  }

  std::vector<std::byte> write() {
    event.layout = make_sample_layout(event.attr);
    event.layout.branch_entries_limit = branch_entries_limit;
    const Sample sample{event, data, frame, environment};
    const SampleSize size = sample_size(sample);
    std::vector<std::byte> record(size.bytes + 16, std::byte{0xff});
    const std::byte* end = write_sample(record.data(), sample, size);
    EXPECT_EQ(static_cast<std::size_t>(end - record.data()), size.bytes);
    EXPECT_EQ(record[size.bytes], std::byte{0xff}) << "written past the end";
    record.resize(size.bytes);
    return record;
  }

  /// The record twice, as a ring has it: the first finds its room by looking, the second ahead of it.
  std::vector<std::byte> output_twice() {
    event.layout = make_sample_layout(event.attr);
    RingBuffer ring(4, {});
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(output_sample(ring, event, data, frame, environment));
    std::vector<std::byte> records;
    RingReader(ring).drain([&](auto piece) { records.insert(records.end(), piece.begin(), piece.end()); });
    return records;
  }

  Fields expected() const {
    const Attr& a = event.attr;
    Fields fields{{"misc", {2}}};
    const auto put = [&](u64 bits, const char* name, std::vector<u64> words) {
      if (a.sample_type & bits) fields[name] = std::move(words);
    };
    put(sample::IDENTIFIER, "identifier", {106});
    put(sample::IP, "ip", {101});
    put(sample::TID, "tid", {u64{103} << 32 | 102});
    put(sample::TIME, "time", {104});
    put(sample::ADDR, "addr", {105});
    put(sample::ID, "id", {106});
    put(sample::STREAM_ID, "stream_id", {106});
    put(sample::CPU, "cpu", {110});
    put(sample::PERIOD, "period", {108});
    put(sample::READ, "read", read_values);
    put(sample::CALLCHAIN, "callchain", {201, 202, 203});
    std::vector<u64> raw_words{20};
    for (u64 i = 0; i < 20; ++i) raw_words.push_back(i);
    put(sample::RAW, "raw", raw_words);
    put(sample::BRANCH_STACK, "branches", {2, 211, 212, 1 | 8 | 0x12340, 213, 0, 0x8050'0000});
    if (a.branch_sample_type & branch::HW_INDEX) put(sample::BRANCH_STACK, "hw_index", {7});
    if (a.branch_sample_type & branch::COUNTERS) put(sample::BRANCH_STACK, "branch_counters", {0xab, 0xcd});
    put(sample::REGS_USER, "regs_user",
        {2, 2000, 2003, 2001, 2002, 2006, 2007, 2005, 0x7ffd0000, 2100, 0x202, 0x33, 0x2b});
    put(sample::STACK_USER, "stack", {24, 0x6b6a696867666564, 0x737271706f6e6d6c, 0x7b7a797877767574});
    put(sample::STACK_USER, "dyn_size", {24});
    put(sample::WEIGHT | sample::WEIGHT_STRUCT, "weight", {109});
    put(sample::DATA_SRC, "data_src", {111});
    put(sample::TRANSACTION, "transaction", {112});
    put(sample::REGS_INTR, "regs_intr", {2,    1000, 1003, 1001, 1002, 1006, 1007, 1005, 1004, 101, 0x202,
                                         0x33, 0x2b, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015});
    put(sample::PHYS_ADDR, "phys_addr", {113});
    put(sample::CGROUP, "cgroup", {114});
    put(sample::DATA_PAGE_SIZE, "data_page_size", {115});
    put(sample::CODE_PAGE_SIZE, "code_page_size", {116});
    put(sample::AUX, "aux", {});
    return fields;
  }

  void expect_round_trip() {
    const auto parsed =
        SampleParser::parse(write(), event.attr, (event.attr.branch_sample_type & branch::COUNTERS) != 0);
    ASSERT_TRUE(parsed) << std::hex << event.attr.sample_type;
    EXPECT_EQ(*parsed, expected()) << std::hex << event.attr.sample_type;
    auto twice = write();
    twice.insert(twice.end(), twice.begin(), twice.end());
    EXPECT_EQ(output_twice(), twice) << std::hex << event.attr.sample_type;
  }
};

/// WEIGHT and WEIGHT_STRUCT exclude each other; open() refuses both.
bool is_legal(u64 sample_type) {
  const u64 both = sample::WEIGHT | sample::WEIGHT_STRUCT;
  return (sample_type & both) != both;
}

void round_trip(u64 sample_type, u64 read_format = 0, u64 branch_type = 0) {
  Scene scene;
  scene.event.attr.sample_type = sample_type;
  scene.event.attr.branch_sample_type = branch_type;
  scene.set_read_format(read_format);
  scene.expect_round_trip();
}

TEST(SampleOutput, EverySingleBitComesBack) {
  for (const unsigned i : set_bits(sample::ALL)) round_trip(bit(i));
}

TEST(SampleOutput, EveryPairComesBack) {
  for (const unsigned i : set_bits(sample::ALL))
    for (unsigned j = 0; j < i; ++j)
      if (is_legal(bit(i) | bit(j))) round_trip(bit(i) | bit(j));
}

TEST(SampleOutput, EveryReadFormatComesBackAlone) {
  for (u64 format = 0; format < 32; ++format) round_trip(sample::READ, format);
}

// Every read format with every branch flag, each over some eighty random sample types.
TEST(SampleOutput, TenThousandRandomCombinationsComeBack) {
  std::mt19937_64 random(6);
  constexpr u64 branch_flags[] = {0, branch::HW_INDEX, branch::COUNTERS, branch::HW_INDEX | branch::COUNTERS};
  for (u64 i = 0; i < 10'240; ++i) {
    const u64 type = random() & sample::ALL & (random() & 1 ? ~sample::WEIGHT : ~sample::WEIGHT_STRUCT);
    round_trip(type, i % 32, branch::ANY | branch_flags[i / 32 % 4]);
  }
}

TEST(SampleOutput, TheDriversAnswersWinOverTheCores) {
  Scene scene;
  const std::vector<u64> chain = {1, 2};
  scene.event.attr.sample_type = sample::IP | sample::TIME | sample::CALLCHAIN;
  scene.data.ip = 5;
  scene.data.time = 6;
  scene.data.callchain = chain;
  const auto fields = SampleParser::parse(scene.write(), scene.event.attr, false).value();
  EXPECT_EQ(fields.at("ip"), std::vector<u64>{5});
  EXPECT_EQ(fields.at("time"), std::vector<u64>{6});
  EXPECT_EQ(fields.at("callchain"), chain);
}

TEST(SampleOutput, MiscSaysTheModeAndWhetherTheIpIsExact) {
  Scene scene;
  scene.event.attr.sample_type = sample::IP;
  scene.frame.cpl = Cpl::kernel;
  scene.data.exact_ip = true;
  EXPECT_EQ(SampleParser::parse(scene.write(), scene.event.attr, false)->at("misc"),
            std::vector<u64>{0x4001});
}

TEST(SampleOutput, WhatTheDriverDoesNotKnowHasTheAbisDefault) {  // as perf_sample_data_init
  Scene scene;
  scene.data = SampleData{};
  scene.environment.callchain = {};
  scene.environment.user_registers = nullptr;
  scene.event.attr.sample_type = sample::ADDR | sample::CALLCHAIN | sample::RAW | sample::BRANCH_STACK |
                                 sample::REGS_USER | sample::STACK_USER | sample::WEIGHT | sample::DATA_SRC |
                                 sample::PHYS_ADDR;
  const Fields expected{{"misc", {2}},
                        {"addr", {0}},
                        {"callchain", {}},
                        {"raw", {4, 0, 0, 0, 0}},
                        {"branches", {0}},
                        {"regs_user", {0}},
                        {"stack", {0}},
                        {"weight", {0}},
                        {"data_src", {0x1e05080021}},
                        {"phys_addr", {0}}};
  EXPECT_EQ(SampleParser::parse(scene.write(), scene.event.attr, false), expected);
}

// The kernel leaves hw_idx out here, which the perf tool cannot read (docs/perf-abi-notes.md).
TEST(SampleOutput, HwIndexIsWrittenWithoutAStackToo) {
  Scene scene;
  scene.data.branches = nullptr;
  scene.event.attr.sample_type = sample::BRANCH_STACK | sample::WEIGHT;
  scene.event.attr.branch_sample_type = branch::ANY | branch::HW_INDEX;
  const auto fields = SampleParser::parse(scene.write(), scene.event.attr, false).value();
  EXPECT_EQ(fields.at("hw_index"), std::vector<u64>{~u64{0}});
  EXPECT_EQ(fields.at("weight"), std::vector<u64>{109});
}

// Linux: __perf_output_begin. What was lost is told with the time of the telling, and the sample behind it is
// of that time, too.
TEST(SampleOutput, BehindALostRecordASampleHasTheTimeOfTheOutput) {
  const auto time_of_sample = [](bool sample_id_all, bool lost) {
    Scene scene;
    scene.event.attr.sample_type = sample::TIME;
    scene.event.attr.sample_id_all = sample_id_all;
    scene.event.layout = make_sample_layout(scene.event.attr);
    scene.data.time = 77;
    RingBuffer ring(4, {});
    if (lost) ring.refuse();
    EXPECT_TRUE(output_sample(ring, scene.event, scene.data, scene.frame, scene.environment));
    std::vector<std::byte> records;
    RingReader(ring).drain([&](auto piece) { records.insert(records.end(), piece.begin(), piece.end()); });
    u64 written = 0;
    std::memcpy(&written, &records[records.size() - sizeof written], sizeof written);
    return written;
  };
  EXPECT_EQ(time_of_sample(true, false), 77u);
  EXPECT_EQ(time_of_sample(true, true), 104u);
  EXPECT_EQ(time_of_sample(false, true), 77u);
}

// The kernel writes a second zero word for which it made no room (docs/perf-abi-notes.md).
TEST(SampleOutput, AnEmptyStackIsOneWord) {
  Scene scene;
  scene.event.attr.sample_stack_user = 0;
  scene.event.attr.sample_type = sample::STACK_USER | sample::WEIGHT;
  const auto fields = SampleParser::parse(scene.write(), scene.event.attr, false).value();
  EXPECT_EQ(fields.count("dyn_size"), 0u);
  EXPECT_EQ(fields.at("weight"), std::vector<u64>{109});
}

TEST(SampleOutput, UnreadableStackIsZeroAndNotInDynSize) {
  Scene scene;
  scene.environment.user_stack = std::span(scene.stack).first(8);
  scene.event.attr.sample_type = sample::STACK_USER;
  const auto fields = SampleParser::parse(scene.write(), scene.event.attr, false).value();
  EXPECT_EQ(fields.at("stack"), (std::vector<u64>{24, 0x6b6a696867666564, 0, 0}));
  EXPECT_EQ(fields.at("dyn_size"), std::vector<u64>{8});
}

TEST(SampleOutput, TheStackEndsWithTheAddressSpace) {
  Scene scene;
  scene.user[Gpr::rsp] = scene.environment.address_space_end - 16;
  scene.event.attr.sample_type = sample::STACK_USER;
  EXPECT_EQ(SampleParser::parse(scene.write(), scene.event.attr, false)->at("stack").at(0), 16u);
}

// Observed in Linux: REGS_USER(2) + STACK_USER 65528 + WEIGHT gives a record of 65528 bytes. With REGS_INTR
// it forgets to subtract and the size wraps to 160; here the stack gives way (docs/perf-abi-notes.md).
TEST(SampleOutput, ALargeStackGivesWayToEverythingElse) {
  Scene scene;
  scene.event.attr.sample_stack_user = 65528;
  scene.event.attr.sample_regs_user = 3;
  scene.event.attr.sample_type = sample::REGS_USER | sample::STACK_USER | sample::WEIGHT;
  EXPECT_EQ(scene.write().size(), 65528u);
  scene.event.attr.sample_type |= sample::REGS_INTR;
  EXPECT_EQ(scene.write().size(), 65528u);
  EXPECT_TRUE(SampleParser::parse(scene.write(), scene.event.attr, false));
}

TEST(SampleOutput, ASampleThatCannotBeARecordIsDroppedAndCounted) {
  Scene scene;
  scene.raw.resize(65536);
  scene.data.raw = scene.raw;
  scene.event.attr.sample_type = sample::RAW;
  scene.event.layout = make_sample_layout(scene.event.attr);
  RingBuffer ring(64, {});
  EXPECT_FALSE(output_sample(ring, scene.event, scene.data, scene.frame, scene.environment));
  EXPECT_EQ(ring.lost(), 1u);
  EXPECT_EQ(scene.event.lost_samples, 1u);
}

TEST(SampleOutput, AMembersCountersGiveTheBlockToItsWholeGroup) {
  Scene scene;
  Event member;
  member.attr.branch_sample_type = branch::COUNTERS;
  scene.event.siblings.push_back(&member);
  scene.event.attr.sample_type = sample::BRANCH_STACK;
  EXPECT_EQ(SampleParser::parse(scene.write(), scene.event.attr, true)->at("branch_counters"),
            (std::vector<u64>{0xab, 0xcd}));
}

// Linux 7.3: a precise event that excludes the kernel and whose record skidded into it.
TEST(SampleOutput, SinceLinux7_3NothingOfAnExcludedKernelIsShown) {
  Scene scene;
  scene.event.attr.sample_type = sample::IP | sample::TID | sample::REGS_INTR;
  scene.event.attr.sample_regs_intr = 0x3;
  scene.event.attr.exclude_kernel = 1;
  scene.data.ip = 0xFFFFFFFF81000000;
  scene.data.cpl = Cpl::kernel;
  const auto words_under = [&](Kernel kernel) {
    scene.event.layout = make_sample_layout(scene.event.attr, kernel);
    const Sample sample{scene.event, scene.data, scene.frame, scene.environment};
    std::vector<u64> words(sample_size(sample).bytes / 8);
    write_sample(reinterpret_cast<std::byte*>(words.data()), sample, sample_size(sample));
    return words;
  };
  ASSERT_EQ(words_under(Kernel::v7_1).size(), 6u);
  EXPECT_EQ(words_under(Kernel::v7_1)[1], 0xFFFFFFFF81000000);
  for (const Kernel kernel : {Kernel::v7_3, Kernel::v7_4}) {
    const auto words = words_under(kernel);
    ASSERT_EQ(words.size(), 4u) << "header, IP, pid and tid, the ABI word";
    EXPECT_EQ(words[1], 0u);
    EXPECT_EQ(words[3], 0u) << "PERF_SAMPLE_REGS_ABI_NONE";
  }
  scene.data.cpl = Cpl::user;
  EXPECT_EQ(words_under(Kernel::v7_3).size(), 6u);
}

TEST(SampleOutput, TheLayoutCanLimitBranchEntries) {
  Scene scene;
  scene.branch_entries_limit = 1;
  scene.event.attr.sample_type = sample::BRANCH_STACK;
  EXPECT_EQ(SampleParser::parse(scene.write(), scene.event.attr, false)->at("branches").at(0), 1u);
}

TEST(SampleOutput, XmmHalvesFollowTheGeneralRegisters) {
  Scene scene;
  std::vector<u64> xmm(32);
  xmm[0] = 11;
  xmm[3] = 14;
  const ExtendedRegisters extended{.xmm = std::as_bytes(std::span(xmm))};
  scene.data.extended = &extended;
  scene.event.attr.sample_regs_intr = 1 | bit(32) | bit(35) | bit(63);
  scene.event.attr.sample_type = sample::REGS_INTR;
  EXPECT_EQ(SampleParser::parse(scene.write(), scene.event.attr, false)->at("regs_intr"),
            (std::vector<u64>{2, 1000, 11, 14, 0}));
}

}  // namespace
}  // namespace pmusim::perf
