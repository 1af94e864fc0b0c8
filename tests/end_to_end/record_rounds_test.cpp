// FINISHED_ROUND: what lets a reader deliver samples before the end of the file.
#include <gmock/gmock.h>

#include <algorithm>

#include "command.h"
#include "pmusim/perfdata/file_format.h"
#include "pmusim/perfdata/reader.h"
#include "pmusim/perfdata/sample_parser.h"

namespace pmusim::test {
namespace {

using perfdata::RecordView;

bool is_round(const RecordView& record) {
  return record.header.type == static_cast<u32>(perfdata::UserRecord::finished_round);
}

u64 time_of(const RecordView& record, const perf::Attr& attr) {
  if (record.header.type == static_cast<u32>(perf::RecordType::sample))
    return perfdata::parse_sample(record, attr)->who.time;
  return perfdata::parse_sample_id(record, attr).time;
}

/// Rounds of a file; fails where a record is older than one before the latest round.
int checked_rounds(const std::string& path) {
  perfdata::Reader reader = std::move(*perfdata::Reader::open(path));
  int rounds = 0;
  u64 newest = 0, promised = 0;
  while (true) {
    const auto record = reader.next();
    EXPECT_TRUE(record.ok());
    if (!record.ok() || !*record) return rounds;
    if (is_round(**record)) {
      ++rounds;
      promised = newest;
    } else if ((*record)->header.type < static_cast<u32>(perfdata::UserRecord::header_attr)) {
      const u64 time = time_of(**record, reader.events().front().attr);
      EXPECT_GE(time, promised) << "in round " << rounds;
      newest = std::max(newest, time);
    }
  }
}

// PEBS buffers deliver their samples late: beside them the other event's records are much younger.
TEST(RecordRounds, NoRecordIsOlderThanTheRoundsBeforeItAndPerfTakesThem) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data"), trace_path = recorded("branches", {"12000"});
  for (const char* events : {"instructions", "instructions,cycles:pp,branches:pp"}) {
    const Output output =
        run({pmusim(), "record", "-e", events, "-c", "211", "-m", "1", "-o", file, trace_path});
    ASSERT_EQ(output.status, 0) << output.err;
    EXPECT_GE(checked_rounds(file), 1) << events;
    const Output dump = run({"perf", "report", "-D", "-i", file});
    EXPECT_EQ(dump.err, "") << events;
    EXPECT_THAT(dump.out, testing::HasSubstr("FINISHED_ROUND events:"));
    EXPECT_THAT(dump.out, testing::HasSubstr("PERF_RECORD_TIME_CONV\n... Time Shift      31\n"));
  }
}

}  // namespace
}  // namespace pmusim::test
