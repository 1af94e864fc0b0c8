// SPDX-License-Identifier: MIT
#include "perf/records.h"

#include <gtest/gtest.h>

#include "perf/output.h"
#include "tests/perf/core_fixture.h"

namespace pmusim::perf {
namespace {

/// The record as an event without trailer writes it.
template <class Record>
RawRecord bare(const Record& record) {
  Event event;
  RawRecord raw;
  raw.bytes = encode_record(record, event, {});
  std::memcpy(&raw.header, raw.bytes.data(), sizeof raw.header);
  EXPECT_EQ(raw.header.size, raw.bytes.size());
  EXPECT_EQ(raw.bytes.size() % 8, 0u);
  return raw;
}

// Offsets and sizes: <linux/perf_event.h>, enum perf_event_type.
TEST(Records, MmapHasItsNameAt40) {
  const auto r = bare(MmapRecord{1, 2, 3, 4, 5, "/bin/cat"});
  EXPECT_EQ(r.type(), RecordType::mmap);
  EXPECT_EQ(r.bytes.size(), 40 + 16u);
  EXPECT_EQ(r.at<u32>(8), 1u);
  EXPECT_EQ(r.at<u32>(12), 2u);
  EXPECT_EQ(r.at(32), 5u);
  EXPECT_EQ(r.text(40), "/bin/cat");
}

TEST(Records, Mmap2HasInodeOrBuildIdInTheSamePlace) {
  Mmap2Record record;
  record.major = 8;
  record.minor = 1;
  record.inode = 99;
  record.inode_generation = 98;
  record.protection = 5;
  record.flags = 2;
  record.name = "x";
  const auto inode = bare(record);
  EXPECT_EQ(inode.bytes.size(), 80u);
  EXPECT_EQ(inode.at<u32>(40), 8u);
  EXPECT_EQ(inode.at<u32>(44), 1u);
  EXPECT_EQ(inode.at(48), 99u);
  EXPECT_EQ(inode.at(56), 98u);
  EXPECT_EQ(inode.at<u32>(64), 5u);
  EXPECT_EQ(inode.at<u32>(68), 2u);

  const std::vector<std::byte> id(20, std::byte{0xab});
  record.build_id = id;
  const auto build_id = bare(record);
  EXPECT_EQ(build_id.at<u32>(40), 20u);
  EXPECT_EQ(build_id.at(44), 0xababababababababu);
  EXPECT_EQ(build_id.at<u32>(60), 0xababababu);
  EXPECT_EQ(build_id.at<u32>(64), 5u);
}

TEST(Records, CommKeepsFifteenCharacters) {
  const auto r = bare(CommRecord{1, 2, "a-very-long-thread-name"});
  EXPECT_EQ(r.bytes.size(), 32u);
  EXPECT_EQ(r.text(16), "a-very-long-thr");
}

TEST(Records, ForkAndExitNameBothTasksAndTheTime) {
  for (const RecordType type : {RecordType::fork, RecordType::exit}) {
    const auto r = bare(TaskRecord{type, 1, 2, 3, 4, 5});
    EXPECT_EQ(r.type(), type);
    EXPECT_EQ(r.bytes.size(), 32u);
    for (u32 i = 0; i < 4; ++i) EXPECT_EQ(r.at<u32>(8 + 4 * i), i + 1);
    EXPECT_EQ(r.at(24), 5u);
  }
}

TEST(Records, SmallRecordsHaveTheDocumentedSizes) {
  EXPECT_EQ(bare(LostRecord{1, 2}).bytes.size(), 24u);
  EXPECT_EQ(bare(LostSamplesRecord{1}).bytes.size(), 16u);
  EXPECT_EQ(bare(ThrottleRecord{}).bytes.size(), 32u);
  EXPECT_EQ(bare(SwitchRecord{}).bytes.size(), 8u);
  EXPECT_EQ(bare(SwitchCpuWideRecord{}).bytes.size(), 16u);
  const u64 values[3] = {7, 8, 9};
  EXPECT_EQ(bare(ReadRecord{1, 2, values}).at(32), 9u);
}

TEST(Records, WordsStandInTheOrderOfTheHeader) {  // <linux/perf_event.h>, enum perf_event_type
  const auto comm = bare(CommRecord{1, 2, "name"});
  EXPECT_EQ(comm.at<u32>(8), 1u);
  EXPECT_EQ(comm.at<u32>(12), 2u);
  const auto lost = bare(LostRecord{1, 2});
  EXPECT_EQ(lost.at(8), 1u);
  EXPECT_EQ(lost.at(16), 2u);
  const auto throttle = bare(ThrottleRecord{.time = 1, .id = 2, .stream_id = 3});
  for (u64 word = 1; word <= 3; ++word) EXPECT_EQ(throttle.at(8 * word), word);
  const u64 values[2] = {7, 8};
  const auto read = bare(ReadRecord{1, 2, values});
  EXPECT_EQ(read.at<u32>(8), 1u);
  EXPECT_EQ(read.at<u32>(12), 2u);
  EXPECT_EQ(read.at(16), 7u);
  const auto other_task = bare(SwitchCpuWideRecord{.pid = 1, .tid = 2});
  EXPECT_EQ(other_task.at<u32>(8), 1u);
  EXPECT_EQ(other_task.at<u32>(12), 2u);
}

TEST(Records, CgroupsHaveTheirPathBehindTheirId) { EXPECT_EQ(bare(CgroupRecord{3, "/a"}).text(16), "/a"); }

TEST(Records, TheTrailerHasItsFieldsInOrderAndTheIdentifierLast) {  // struct sample_id
  Event event;
  event.id = 9;
  event.attr.sample_id_all = 1;
  event.attr.sample_type = sample::TID | sample::TIME | sample::ID | sample::STREAM_ID | sample::CPU |
                           sample::IDENTIFIER | sample::IP | sample::PERIOD;
  RawRecord r;
  r.bytes = encode_record(LostSamplesRecord{1}, event, {1, 2, 3, 4});
  ASSERT_EQ(r.bytes.size(), 16 + 6 * 8u);
  EXPECT_EQ(r.at<u32>(16), 1u);
  EXPECT_EQ(r.at<u32>(20), 2u);
  EXPECT_EQ(r.at(24), 4u);
  EXPECT_EQ(r.at(32), 9u);
  EXPECT_EQ(r.at(40), 9u);
  EXPECT_EQ(r.at<u32>(48), 3u);
  EXPECT_EQ(r.at(56), 9u);
}

TEST(Records, EachTrailerBitAddsItsWordOnlyWithSampleIdAll) {
  for (const unsigned i : set_bits(sample::ALL)) {
    Event event;
    event.attr.sample_type = bit(i);
    EXPECT_EQ(encode_record(SwitchRecord{}, event, {}).size(), 8u);
    event.attr.sample_id_all = 1;
    const u64 in_trailer =
        sample::TID | sample::TIME | sample::ID | sample::STREAM_ID | sample::CPU | sample::IDENTIFIER;
    EXPECT_EQ(encode_record(SwitchRecord{}, event, {}).size(), in_trailer & bit(i) ? 16u : 8u) << i;
  }
}

class RecordsOfTheCore : public CoreTest {};

TEST_F(RecordsOfTheCore, BuildIdTakesTheInodesPlaceOnlyOnRequest) {
  Attr attr = sampling(1000);
  attr.mmap = attr.mmap2 = 1;
  Event& with_inode = open(attr);
  attr.build_id = 1;
  Event& with_build_id = open(attr);
  RingBuffer& first = map(with_inode);
  RingBuffer& second = map(with_build_id);
  const std::vector<std::byte> id(20, std::byte{1});
  core.mmap_region(100, {.address = 1, .length = 2, .inode = 5, .name = "x", .build_id = id});
  EXPECT_EQ(drain_records(first).at(0).header.misc, misc::USER);
  EXPECT_EQ(drain_records(second).at(0).header.misc, misc::USER | misc::MMAP_BUILD_ID);
}

TEST_F(RecordsOfTheCore, DataMappingsAreForEventsThatAskForThem) {
  Attr attr = sampling(1000);
  attr.mmap = 1;
  Event& code_only = open(attr);
  attr.mmap_data = 1;
  Event& both = open(attr);
  RingBuffer& first = map(code_only);
  RingBuffer& second = map(both);
  core.mmap_region(100, {.address = 1, .length = 2, .protection = 3, .name = "x"});
  EXPECT_TRUE(drain_records(first).empty());
  EXPECT_EQ(drain_records(second).at(0).header.misc, misc::USER | misc::MMAP_DATA);
}

TEST_F(RecordsOfTheCore, CpuWideSwitchRecordsNameTheOtherTask) {
  Attr attr = sampling(1000);
  attr.context_switch = 1;
  Event& event = open(attr, nullptr, -1, 0);
  RingBuffer& ring = map(event);
  core.fork(100, 200, 200);
  cpu.switch_to(200, PerfCpu::SwitchReason::preempted);
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].type(), RecordType::switch_cpu_wide);
  EXPECT_EQ(records[0].header.misc, misc::SWITCH_OUT | misc::SWITCH_OUT_PREEMPT);
  EXPECT_EQ(records[0].at<u32>(8), 200u);
  EXPECT_EQ(records[1].header.misc, 0u);
  EXPECT_EQ(records[1].at<u32>(8), 100u);
}

TEST_F(RecordsOfTheCore, InheritStatReportsWhatAChildCounted) {
  Attr attr = sampling(1000);
  attr.inherit = attr.inherit_stat = 1;
  Event& event = open(attr, nullptr, 100, 0);
  RingBuffer& ring = map(event);
  core.fork(100, 101, 102);
  cpu.switch_to(102);
  count(42);
  core.exit(102);
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].type(), RecordType::read);
  EXPECT_EQ(records[0].at<u32>(12), 102u);
  EXPECT_EQ(records[0].at(16), 42u);
}

// <linux/perf_event.h>: PERF_RECORD_MISC_COMM_EXEC tells execve from prctl.
TEST_F(RecordsOfTheCore, ANameSaysWhetherItCameByExec) {
  Attr attr = sampling(1000);
  attr.comm = 1;
  RingBuffer& ring = map(open(attr));
  core.set_comm(100, "renamed");
  core.exec(100, "another");
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].type(), RecordType::comm);
  EXPECT_EQ(records[0].header.misc, 0u);
  EXPECT_EQ(records[0].text(16), "renamed");
  EXPECT_EQ(records[1].header.misc, misc::COMM_EXEC);
}

TEST_F(RecordsOfTheCore, WithoutInheritStatAChildLeavesNoCount) {
  Attr attr = sampling(1000);
  attr.inherit = 1;
  RingBuffer& ring = map(open(attr, nullptr, 100, 0));
  core.fork(100, 101, 102);
  cpu.switch_to(102);
  count(42);
  core.exit(102);
  EXPECT_TRUE(drain_records(ring).empty());
}

}  // namespace
}  // namespace pmusim::perf
