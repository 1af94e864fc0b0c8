// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"
#include "perf/records.h"
#include "perfdata/writer.h"

/// The real perf reads every record that is no sample, each with its trailer, and prints what we wrote.
namespace pmusim::test::perf_reads_records_test {

using namespace perf;

namespace {

using ::testing::HasSubstr;

class PerfReadsRecords : public testing::Test {
 protected:
  void SetUp() override {
    Attr& attr = event_.attr;
    attr.type = static_cast<u32>(EventType::raw);
    attr.sample_period = 1000;
    attr.sample_id_all = 1;
    attr.sample_type = sample::IDENTIFIER | sample::IP | sample::TID | sample::TIME | sample::CPU;
    attr.read_format = read_format::ID | read_format::TOTAL_TIME_ENABLED;
    event_.id = 11;
    event_.layout = make_sample_layout(attr);
  }

  template <class Record>
  void add(const Record& record) {
    const Moment moment{100, 101, 0, time_ += 1000};
    const auto bytes = encode_record(record, event_, moment);
    records_.insert(records_.end(), bytes.begin(), bytes.end());
  }

  /// Output of perf for the records so far.
  std::string perf(std::vector<std::string> arguments) { return perf_output(std::move(arguments), write()); }
  std::string write() {
    const std::string path = scratch_.file("perf.data");
    auto writer = perfdata::Writer::create(path, {});
    EXPECT_TRUE(writer && writer->add_event(event_.attr, "cycles:u", {&event_.id, 1}));
    EXPECT_TRUE(writer->write(records_) && writer->finish());
    return path;
  }
  std::string dump() { return perf({"script", "-D"}); }

 private:
  Event event_;
  u64 time_ = 1'000'000'000;
  std::vector<std::byte> records_;
  ScratchDirectory scratch_;
};

TEST_F(PerfReadsRecords, Mappings) {
  add(MmapRecord{100, 101, 0x401000, 0x2000, 0x1000, "/bin/old"});
  Mmap2Record by_inode{100, 101, 0x501000, 0x3000, 0x2000, 8, 1, 77, 3, {}, 5, 2, "/bin/inode"};
  add(by_inode);
  const std::vector<std::byte> id(20, std::byte{0xab});
  Mmap2Record by_build_id = by_inode;
  by_build_id.build_id = id;
  by_build_id.misc = misc::USER | misc::MMAP_BUILD_ID;
  by_build_id.name = "/bin/identified";
  add(by_build_id);
  const std::string text = perf({"script", "--show-mmap-events"});
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_MMAP 100/101: [0x401000(0x2000) @ 0x1000]: x /bin/old\n"));
  EXPECT_THAT(
      text,
      HasSubstr("PERF_RECORD_MMAP2 100/101: [0x501000(0x3000) @ 0x2000 08:01 77 3]: r-xp /bin/inode\n"));
  EXPECT_THAT(text, HasSubstr("<abababababababababababababababababababab>]: r-xp /bin/identified\n"));
}

TEST_F(PerfReadsRecords, TasksComeAndGo) {
  add(CommRecord{100, 101, "program", misc::COMM_EXEC});
  add(TaskRecord{RecordType::fork, 200, 100, 201, 101, 1'000'001'000});
  add(TaskRecord{RecordType::exit, 200, 100, 201, 100, 1'000'002'000});
  const std::string text = perf({"script", "--show-task-events"});
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_COMM exec: program:100/101\n"));
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_FORK(200:201):(100:101)\n"));
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_EXIT(200:201):(100:100)\n"));
}

TEST_F(PerfReadsRecords, LossesAreAddedUpAndWarnedOf) {
  add(LostRecord{11, 30});
  add(LostSamplesRecord{7});
  const Output script = run_perf({"script", "--show-lost-events"}, write());
  EXPECT_THAT(script.out, HasSubstr("PERF_RECORD_LOST lost 30\n"));
  EXPECT_THAT(script.err, HasSubstr("Processed 7 samples and lost 100.00%!"));
  const std::string text = run_perf({"script", "-D"}, write()).out;
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_LOST: id:11: lost:30"));
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_LOST_SAMPLES: id:11: lost samples :7"));
}

TEST_F(PerfReadsRecords, Switches) {
  add(SwitchRecord{misc::SWITCH_OUT});
  add(SwitchCpuWideRecord{300, 301, misc::SWITCH_OUT | misc::SWITCH_OUT_PREEMPT});
  add(SwitchCpuWideRecord{300, 301, 0});
  const std::string text = perf({"script", "--show-switch-events"});
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_SWITCH OUT"));
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_SWITCH_CPU_WIDE OUT preempt  next pid/tid:   300/301"));
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_SWITCH_CPU_WIDE IN           prev pid/tid:   300/301"));
}

TEST_F(PerfReadsRecords, ThrottlingAndReads) {
  add(ThrottleRecord{RecordType::throttle, 5, 11, 12});
  add(ThrottleRecord{RecordType::unthrottle, 6, 11, 12});
  const std::vector<u64> values{4000, 250, 11};
  add(ReadRecord{100, 101, values});
  const std::string text = dump();
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_THROTTLE"));
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_UNTHROTTLE"));
  EXPECT_THAT(text, HasSubstr("PERF_RECORD_READ: 100 101 cycles:u 4000"));
  EXPECT_THAT(text, HasSubstr("... time enabled : 250"));
}

TEST_F(PerfReadsRecords, Cgroups) {
  add(CgroupRecord{77, "/group"});
  EXPECT_THAT(perf({"script", "--show-cgroup-events"}), HasSubstr("PERF_RECORD_CGROUP cgroup: 77 /group"));
}

}  // namespace
}  // namespace pmusim::test::perf_reads_records_test
