// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "perfdata/payload.h"
#include "perfdata/sample_parser.h"
#include "pmusim/perfdata/reader.h"
#include "tests/perfdata/feature_editor.h"
#include "tests/perfdata/file_fixture.h"
#include "tests/perfdata/raw_records.h"

/// Files that this writer does not write: those of older and newer perfs, damaged ones, directories.
namespace pmusim::perfdata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Reading {
  std::vector<u64> times;  // of samples
  std::vector<std::string> events, warnings;
  Metadata metadata;
};

Reading read(SampleReader samples) {
  Reading reading;
  while (true) {
    auto sample = samples.next();
    EXPECT_TRUE(sample) << sample.error().message;
    if (!sample || !*sample) break;
    reading.times.push_back((*sample)->sample.who.time);
  }
  for (const EventDescription& event : samples.file().events()) reading.events.push_back(event.name);
  reading.warnings = samples.file().warnings();
  reading.metadata = samples.file().metadata();
  return reading;
}

Reading read(Bytes bytes) {
  auto file = Reader::from_memory("test", std::move(bytes));
  EXPECT_TRUE(file) << file.error().message;
  return file ? read(SampleReader(*std::move(file))) : Reading();
}

class ForeignFile : public FileTest {
 protected:
  Bytes file(Options options = {.metadata = everything()}, u64 samples = 9) {
    write_file(path(), std::move(options), samples);
    return content();
  }
  FeatureEditor editor() { return FeatureEditor(file()); }
};

constexpr unsigned event_desc = 12, cpu_topology = 13;

/// Three CPUs more than the one list of siblings says: the numbers of CPUs are those of NRCPUS.
Payload topology_without_dies() {
  Payload payload;
  for (int list = 0; list < 2; ++list) {
    payload.put(u32{1});
    payload.put_string("0-3");
  }
  return payload;
}

// perf before 5.3, ARM, kernels without die_cpus_list.
TEST_F(ForeignFile, HasNoDies) {
  Payload payload = topology_without_dies();
  for (u32 cpu = 0; cpu < 4; ++cpu) {
    payload.put(cpu);
    payload.put(u32{7});
  }
  const Reading reading = read(editor().replace(cpu_topology, bytes_of(payload)).bytes());
  EXPECT_EQ(reading.times.size(), 9u);
  EXPECT_THAT(reading.metadata.cpu_places,
              ElementsAre(CpuPlace{7, 0, 0}, CpuPlace{7, 0, 1}, CpuPlace{7, 0, 2}, CpuPlace{7, 0, 3}));
  EXPECT_THAT(reading.warnings, IsEmpty());
}

// perf 3.x.
TEST_F(ForeignFile, HasNoCoreNumbers) {
  const Reading reading = read(editor().replace(cpu_topology, bytes_of(topology_without_dies())).bytes());
  EXPECT_EQ(reading.times.size(), 9u);
  EXPECT_THAT(reading.metadata.cpu_places, IsEmpty());
  EXPECT_THAT(reading.warnings, IsEmpty());
}

TEST_F(ForeignFile, IsReadWhateverItsFeaturesHave) {
  const FeatureEditor whole = editor();
  const std::vector<u64> times = read(whole.bytes()).times;
  ASSERT_EQ(times.size(), 9u);
  EXPECT_GT(whole.features().size(), 15u);
  for (const unsigned feature : whole.features()) {
    const Bytes payload = whole.payload(feature);
    const auto with = [&](const Bytes& other) {
      return read(FeatureEditor(whole).replace(feature, other).bytes());
    };
    const Reading emptied = with({});
    EXPECT_EQ(emptied.times, times) << feature;
    EXPECT_THAT(emptied.warnings, IsEmpty()) << feature;
    Bytes longer = payload;
    longer.resize(payload.size() + 8);
    const Reading lengthened = with(longer);
    EXPECT_EQ(lengthened.times, times) << feature;
    EXPECT_THAT(lengthened.warnings, IsEmpty()) << feature;
    EXPECT_EQ(lengthened.metadata, everything()) << feature;
    for (std::size_t bytes = 1; bytes < payload.size(); ++bytes) {
      const Reading cut = with({payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(bytes)});
      EXPECT_EQ(cut.times, times) << feature << ' ' << bytes;
      EXPECT_LE(cut.warnings.size(), 1u) << feature << ' ' << bytes;
    }
  }
}

TEST_F(ForeignFile, SaysOnceWhichFeaturesAreCut) {
  FeatureEditor edited = editor();
  for (const unsigned feature : {event_desc, cpu_topology}) {
    Bytes payload = edited.payload(feature);
    payload.pop_back();
    edited.replace(feature, payload);
  }
  EXPECT_THAT(read(edited.bytes()).warnings,
              ElementsAre("metadata that is cut or damaged is left out: EVENT_DESC, CPU_TOPOLOGY"));
}

TEST_F(ForeignFile, MayHaveLostTheEndThatHoldsFeatures) {
  const FeatureEditor whole = editor();
  const Reading reading = read(FeatureEditor(whole).move(cpu_topology, whole.bytes().size(), 8).bytes());
  EXPECT_EQ(reading.times.size(), 9u);
  EXPECT_THAT(reading.warnings, ElementsAre(HasSubstr("CPU_TOPOLOGY")));
  Bytes cut = file({}, 9);
  u64 data[2];
  std::memcpy(data, cut.data() + 40, sizeof data);
  cut.resize(data[0] + data[1]);
  const Reading without = read(cut);
  EXPECT_EQ(without.times.size(), 9u);
  EXPECT_THAT(without.warnings, ElementsAre(HasSubstr("left out: BUILD_ID, ARCH, NRCPUS, EVENT_DESC")));
}

// --- records

TEST_F(ForeignFile, OfANewerPerfHasRecordsThatAreSaidToBeLeftOut) {
  Bytes stream = file({.form = Form::pipe});
  Payload payload;
  payload.put(u64{0});
  append(stream, user_record(120, payload));
  append(stream, user_record(120, payload));
  append(stream, user_record(60, payload));
  const Reading reading = read(stream);
  EXPECT_EQ(reading.times.size(), 9u);
  EXPECT_THAT(
      reading.warnings,
      ElementsAre("records that are unknown here are left out (1 of type 60, 2 of type 120): samples may be "
                  "missing"));
}

TEST_F(ForeignFile, HasTheSecondFormOfCompressedRecords) {
  const Bytes first = file({.form = Form::pipe, .compression = Compression::zstd}, 2000);
  const Bytes second = with_second_form_of_compression(first);
  ASSERT_GT(second.size(), first.size());
  const Reading reading = read(second);
  EXPECT_EQ(reading.times.size(), 2000u);
  EXPECT_EQ(reading.times, read(first).times);
  EXPECT_THAT(reading.warnings, IsEmpty());
}

TEST_F(ForeignFile, HasLessCompressedDataThanItsRecordSays) {
  Bytes stream = file({.form = Form::pipe});
  Payload payload;
  payload.put(u64{9});
  payload.put(u64{0});
  append(stream, user_record(83, payload));
  auto reader = Reader::from_memory("test", stream);
  ASSERT_TRUE(reader);
  auto record = reader->next();
  while (record && *record) record = reader->next();
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().message, HasSubstr("less data than it says"));
}

// --- streams

/// Tracing data with one tracepoint, as perf takes it from tracefs.
Payload tracing_data() {
  const std::string format = "name: sched_switch\nID: 372\nformat:\n";
  Payload data;
  const auto text = [&](std::string_view characters) { data.put_padded(characters, characters.size() + 1); };
  data.put_padded("\x17\x08\x44tracing", 10);
  text("0.6");
  data.put_zeros(2 + sizeof(u32));  // byte order, size of long, page size
  for (const char* header : {"header_page", "header_event"}) {
    text(header);
    data.put(u64{3});
    data.put_padded("abc", 3);
  }
  data.put(u32{1});  // a format of ftrace
  data.put(u64{5});
  data.put_padded("ID: 1", 5);
  data.put(u32{1});  // systems
  text("sched");
  data.put(u32{1});
  data.put(u64{format.size()});
  data.put_padded(format, format.size());
  return data;
}

/// A stream of perf before 4.17, in which nothing names the event.
Bytes nameless_stream(const perf::Attr& attr, const Payload& tracing_data = {}) {
  Payload head, described;
  head.put(u64{0x32454c4946524550});
  head.put(u64{16});
  described.put_bytes(std::as_bytes(std::span(&attr, 1)).first(attr.size));
  Bytes stream = bytes_of(head);
  append(stream, user_record(64, described));
  if (tracing_data.size() != 0) {
    Payload size;
    size.put(static_cast<u32>(tracing_data.size()));
    append(stream, user_record(66, size));
    append(stream, tracing_data.bytes());
    stream.resize(stream.size() + (8 - tracing_data.size() % 8) % 8);
  }
  perf::Event event = sampled_event();
  append(stream, sample_at(5, event));
  return stream;
}

TEST_F(ForeignFile, HasTracingDataBehindARecord) {
  Payload data;
  data.put_padded("hello", 5);
  const Reading reading = read(nameless_stream(sampled_event().attr, data));
  EXPECT_THAT(reading.times, ElementsAre(5u));
}

TEST_F(ForeignFile, NamesTracepointsInItsTracingData) {
  perf::Attr attr = sampled_event().attr;
  attr.type = 2;
  attr.config = 372;
  EXPECT_THAT(read(nameless_stream(attr, tracing_data())).events, ElementsAre("sched:sched_switch"));
  EXPECT_THAT(read(nameless_stream(attr)).events, ElementsAre("unknown tracepoint"));
}

TEST_F(ForeignFile, HasLessTracingDataThanItsRecordSays) {
  Payload data;
  data.put_zeros(64);
  Bytes stream = nameless_stream(sampled_event().attr, data);
  stream.resize(16 + 8 + 128 + 12 + 63);
  const Reading reading = read(stream);
  EXPECT_THAT(reading.times, IsEmpty());
  EXPECT_THAT(reading.warnings, ElementsAre("at offset 0x98: the last record is cut; missing bytes: 1"));
}

/// What perf script 6.1 shows of files without names.
TEST_F(ForeignFile, NamesEventsByTheirAttributesAsPerfDoes) {
  struct Row {
    u32 type;
    u64 config;
    bool kernel, user, hypervisor, host, guest;  // excluded
    u64 precise;
    const char* name;
  };
  constexpr bool no = false, yes = true;
  for (const Row& row :
       {Row{0, 0, no, no, no, no, no, 0, "cycles:HG"}, Row{0, 0, no, no, no, no, yes, 0, "cycles"},
        Row{0, 0, yes, no, yes, no, no, 0, "cycles:u"}, Row{0, 0, yes, no, yes, no, yes, 0, "cycles:uH"},
        Row{0, 0, no, no, no, no, yes, 2, "cycles:ppH"},
        Row{0, 5, no, yes, no, no, no, 0, "branch-misses:kh"},
        Row{0, 99, no, no, no, no, no, 0, "unknown-hardware:HG"},
        Row{1, 0, no, no, no, no, yes, 0, "cpu-clock"}, Row{1, 1, yes, no, no, no, no, 0, "task-clock:uh"},
        Row{3, 0x10002, no, no, no, no, no, 0, "LLC-load-misses:HG"},
        Row{3, 0x10100, no, no, no, no, yes, 0, "L1-dcache-store-misses"},
        Row{3, 0x205, no, no, no, no, no, 0, "invalid-cache:HG"},
        Row{4, 0x1c2, no, no, no, no, yes, 2, "raw 0x1c2:ppH"},
        Row{11, 0, no, no, no, no, no, 0, "unknown attr type: 11"}}) {
    perf::Attr attr = sampled_event().attr;
    attr.type = row.type;
    attr.config = row.config;
    attr.exclude_kernel = row.kernel;
    attr.exclude_user = row.user;
    attr.exclude_hv = row.hypervisor;
    attr.exclude_host = row.host;
    attr.exclude_guest = row.guest;
    attr.precise_ip = row.precise & 3;
    EXPECT_THAT(read(nameless_stream(attr)).events, ElementsAre(row.name));
  }
}

// --- attributes

TEST_F(ForeignFile, OfANewerPerfHasAttributesWithUnknownParts) {
  const perf::Attr known = sampled_event().attr;
  EXPECT_THAT(read(nameless_stream(known)).warnings, IsEmpty());
  perf::Attr attr = known;
  attr.reserved_1 = 1 << 9;
  attr.sample_type |= bit(30);
  const Reading reading = read(nameless_stream(attr));
  EXPECT_EQ(reading.times.size(), 1u);
  EXPECT_THAT(reading.warnings, ElementsAre(HasSubstr("reserved bits, sample type 0x40000000")));
}

TEST_F(ForeignFile, HasAttributesOfAnotherSizeThanItsHeaderSays) {
  Bytes bytes = file();
  u64 attrs;
  std::memcpy(&attrs, bytes.data() + 24, sizeof attrs);
  bytes[attrs + 4] = std::byte{112};
  const Reading reading = read(bytes);
  EXPECT_EQ(reading.times.size(), 9u);
  EXPECT_THAT(reading.warnings,
              ElementsAre("attributes say that they have 112 bytes where the file has 128 for each"));
}

// --- directories

class ForeignDirectory : public ForeignFile {
 protected:
  void write(const std::string& name, const Bytes& bytes) const {
    std::ofstream out(directory() / "d" / name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  void make_directory() const { std::filesystem::create_directory(directory() / "d"); }
  Bytes part(std::initializer_list<u64> times) const {
    Bytes records;
    for (const u64 time : times) {
      append(records, sample_at(time));
      append(records, user_record(68, {}));  // FINISHED_ROUND
    }
    return records;
  }
};

TEST_F(ForeignDirectory, OfThreadsHasSamplesInEachOfItsFiles) {
  const Bytes head = file({}, 0);
  make_directory();
  write("data", head);
  write("data.0", part({20, 40, 60}));
  write("data.1", {});
  write("data.10", part({10, 30, 50}));
  write("data.old", part({1}));
  auto samples = SampleReader::open(directory() / "d");
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_THAT(read(*std::move(samples)).times, ElementsAre(10, 20, 30, 40, 50, 60));
}

TEST_F(ForeignDirectory, OfKcoreHasOneFile) {
  const Bytes head = file({}, 3);
  make_directory();
  write("data", head);
  std::filesystem::create_directory(directory() / "d" / "kcore_dir");
  auto samples = SampleReader::open(directory() / "d");
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(read(*std::move(samples)).times.size(), 3u);
}

TEST_F(ForeignDirectory, WithoutDataIsRefusedWithASentence) {
  make_directory();
  const auto samples = SampleReader::open(directory() / "d");
  ASSERT_FALSE(samples);
  EXPECT_THAT(samples.error().message, HasSubstr("is a directory without a file 'data'"));
}

TEST_F(ForeignDirectory, NamesTheFileThatIsBroken) {
  const Bytes head = file({}, 0);
  make_directory();
  write("data", head);
  Bytes records = part({5});
  records[6] = records[7] = std::byte{0};  // its size
  write("data.3", records);
  auto samples = SampleReader::open(directory() / "d");
  ASSERT_TRUE(samples);
  const auto sample = samples->next();
  ASSERT_FALSE(sample);
  EXPECT_THAT(sample.error().message, HasSubstr("data.3: at offset 0x0"));
}

TEST_F(ForeignDirectory, NamesTheFileThatIsCut) {
  const Bytes head = file({}, 0);
  make_directory();
  write("data", head);
  Bytes records = part({5, 6});
  records.pop_back();
  write("data.3", records);
  auto samples = SampleReader::open(directory() / "d");
  ASSERT_TRUE(samples);
  const Reading reading = read(*std::move(samples));
  EXPECT_THAT(reading.times, ElementsAre(5u, 6u));
  EXPECT_THAT(reading.warnings, ElementsAre(HasSubstr("data.3: at offset")));
}

TEST_F(ForeignFile, CanBeReadAgainFromItsStart) {
  auto reader = Reader::from_memory("test", file());
  ASSERT_TRUE(reader && reader->next());
  Reader again = reader->from_start();
  EXPECT_EQ(read(SampleReader(std::move(again))).times.size(), 9u);
}

}  // namespace
}  // namespace pmusim::perfdata
