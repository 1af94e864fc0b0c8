// SPDX-License-Identifier: MIT
// Traces that are read from somewhere in the middle.
#include "trace/beginning.h"

#include <gmock/gmock.h>

#include <cstring>
#include <thread>
#include <utility>

#include "tests/trace/sample_trace.h"
#include "trace/format.h"

namespace pmusim::trace {
namespace {

using testing::HasSubstr;

/// A trace of several chunks whose blocks of 64 instructions follow each other in no order, in two threads.
class LongTrace {
 public:
  explicit LongTrace(Contents contents)
      : contents_(contents), writer_(*Writer::create(directory_.file("t"), contents)) {
    for (u64 n = 0; n < 5; ++n)
      blocks_.push_back(&writer_.add_block(0x400000 + 0x1000 * n, code(), lengths()));
  }

  void add_side_band(const SideBandRecord& record) { ASSERT_TRUE(writer_.side_band(record).ok()); }
  void run(u64 count) {
    for (u64 n = 0; n < count; ++n) run();
  }
  /// As many as begin another chunk.
  void run_into_next_chunk() { run(contents_.registers ? 600 : chunk_instructions / block_instructions); }

  std::string finish() {
    EXPECT_TRUE(writer_.finish().ok());
    return directory_.file("t");
  }

  static constexpr u64 block_instructions = 64;

 private:
  static std::vector<std::byte> code() {  // POP QWORD PTR [RAX]
    std::vector<std::byte> code(2 * block_instructions);
    for (std::size_t n = 0; n < code.size(); n += 2) code[n] = std::byte{0x8F};
    return code;
  }
  static std::vector<u8> lengths() { return std::vector<u8>(block_instructions, 2); }

  void run() {
    const Block& block = *blocks_[next_];
    next_ = random_() % blocks_.size();
    std::vector<u64> addresses;
    if (contents_.addresses)
      for (u32 n = 0; n < block.operands; ++n) addresses.push_back(random_() % 4096);
    std::vector<Registers> registers;
    if (contents_.registers)
      for (u64 n = 0; n < block_instructions; ++n) registers.push_back(next_registers(block, n));
    ASSERT_TRUE(writer_.run({&block, blocks_[next_]->start(), addresses, {}, registers}).ok());
  }
  Registers next_registers(const Block& block, u64 n) {
    for (u64& value : registers_.gpr) value = random_();
    registers_.rip = n + 1 == block_instructions ? blocks_[next_]->start() : block.start() + 2 * (n + 1);
    return registers_;
  }

  TemporaryDirectory directory_;
  Contents contents_;
  Writer writer_;
  std::vector<const Block*> blocks_;
  std::size_t next_ = 0;
  std::mt19937_64 random_{1};
  Registers registers_;
};

/// Three chunks and a bit. Two threads and a child take turns.
std::string write_long_trace(LongTrace& trace) {
  trace.add_side_band(ProcessStart{1, 1, "a", true});
  trace.add_side_band(Map{1, {0x400000, 0x5000, 0, 5, 2, "/bin/a", {}}});
  trace.add_side_band(ThreadSwitch{1, 1});
  trace.run(10);
  trace.add_side_band(ThreadStart{1, 2, 1, 1});
  trace.add_side_band(ThreadName{1, 2, "b"});
  trace.add_side_band(ThreadSwitch{1, 2});
  trace.run_into_next_chunk();
  trace.add_side_band(Syscall{9, 0});
  trace.add_side_band(Map{1, {0x7000, 0x1000, 0, 5, 2, "/lib/b", {}}});
  trace.add_side_band(ThreadSwitch{1, 1});
  trace.run_into_next_chunk();
  trace.add_side_band(ThreadStart{3, 3, 1, 1});
  trace.add_side_band(SignalDelivery{11, 0x400000});
  trace.add_side_band(ThreadSwitch{1, 2});
  trace.run_into_next_chunk();
  trace.add_side_band(Unmap{1, 0x7000, 0x1000});
  trace.run(100);
  trace.add_side_band(ThreadSwitch{3, 3});
  trace.run(20);
  return trace.finish();
}

std::vector<OwnedItem> take(Reader& reader, std::size_t count) {
  std::vector<OwnedItem> items;
  while (items.size() < count) {
    const auto item = reader.next();
    EXPECT_TRUE(item.ok()) << item.error().message;
    if (!item.ok() || !*item) break;
    items.push_back(own(**item));
  }
  return items;
}

u64 instructions_of(const OwnedItem& item) { return item.side_band ? 0 : LongTrace::block_instructions; }

/// What comes from the block on that holds an instruction, in a reading of everything.
std::vector<OwnedItem> tail_of_whole(const std::string& path, u64 instruction, std::size_t count) {
  auto reader = Reader::open(path);
  u64 passed = 0;
  std::vector<OwnedItem> items = take(*reader, 1);
  while (passed + instructions_of(items[0]) <= instruction) {
    passed += instructions_of(items[0]);
    items = take(*reader, 1);
  }
  for (OwnedItem& item : take(*reader, count - 1)) items.push_back(std::move(item));
  return items;
}

/// The same from a reading that begins there.
std::vector<OwnedItem> tail(const std::string& path, u64 instruction, std::size_t count) {
  auto reader = Reader::open(path);
  EXPECT_TRUE(reader->begin_at(instruction).ok());
  std::vector<OwnedItem> items;
  do items = take(*reader, 1);
  while (!items.empty() && items[0].side_band);
  EXPECT_LE(reader->instructions_before(), instruction);
  EXPECT_GT(reader->instructions_before() + LongTrace::block_instructions, instruction);
  for (OwnedItem& item : take(*reader, count - 1)) items.push_back(std::move(item));
  return items;
}

std::size_t chunks_of(const std::string& path) {
  const auto content = file_content(path);
  Trailer trailer{};
  std::memcpy(&trailer, &content[content.size() - sizeof trailer], sizeof trailer);
  return (trailer.index_bytes - sizeof(IndexHeader)) / sizeof(IndexEntry);
}

class BeganInTheMiddle : public testing::TestWithParam<Contents> {};

TEST_P(BeganInTheMiddle, ATraceGoesOnAsTheWholeDoes) {
  LongTrace trace(GetParam());
  const std::string path = write_long_trace(trace);
  const u64 length = Reader::open(path)->instruction_count();
  ASSERT_GT(chunks_of(path), 3u);
  for (const u64 from : {u64{0}, u64{63}, u64{64}, length / 3, length / 2, length - 130 * 64, length - 1}) {
    SCOPED_TRACE(from);
    const auto whole = tail_of_whole(path, from, 300);
    EXPECT_EQ(tail(path, from, 300), whole);
    EXPECT_FALSE(whole[0].side_band);
  }
}

INSTANTIATE_TEST_SUITE_P(Contents, BeganInTheMiddle,
                         testing::Values(Contents{false, false}, Contents{true, false}, Contents{true, true},
                                         Contents{.timing = true},
                                         Contents{.addresses = true, .timing = true},
                                         Contents{.kernel = true},
                                         Contents{.addresses = true, .registers = true, .kernel = true}));

/// Side-band records before the first block of a reading that begins there.
std::vector<SideBandRecord> told_before(const std::string& path, u64 instruction) {
  auto reader = Reader::open(path);
  EXPECT_TRUE(reader->begin_at(instruction).ok());
  std::vector<SideBandRecord> records;
  for (auto item = take(*reader, 1); !item.empty() && item[0].side_band; item = take(*reader, 1))
    records.push_back(*item[0].side_band);
  return records;
}

TEST(Beginning, IsPrecededByProcessesThreadsMappingsAndWhoRuns) {
  LongTrace trace({});
  const std::string path = write_long_trace(trace);
  const u64 length = Reader::open(path)->instruction_count();
  const Map program{1, {0x400000, 0x5000, 0, 5, 2, "/bin/a", {}}},
      library{1, {0x7000, 0x1000, 0, 5, 2, "/lib/b", {}}};
  const ProcessStart start{1, 1, "a", true};
  const ThreadStart thread{1, 2, 1, 1}, child{3, 3, 1, 1};
  const ThreadName name{1, 2, "b"};
  EXPECT_EQ(told_before(path, 1), (std::vector<SideBandRecord>{start, program, ThreadSwitch{1, 1}}));
  EXPECT_EQ(told_before(path, 11 * 64),
            (std::vector<SideBandRecord>{start, program, thread, name, ThreadSwitch{1, 2}}));
  const std::vector<SideBandRecord> late{start, program, thread, name, ThreadSwitch{1, 2}, library, child};
  EXPECT_EQ(told_before(path, length - 121 * 64), late);
  auto at_the_end = late;
  at_the_end.insert(at_the_end.end(), {Unmap{1, 0x7000, 0x1000}, ThreadSwitch{3, 3}});
  EXPECT_EQ(told_before(path, length - 1), at_the_end);
}

TEST(Beginning, AMappingIsNeverOfAThreadThatHasEnded) {
  Beginning beginning(1'000);
  const SideBandRecord map = Map{1, {}};
  EXPECT_FALSE(beginning.switch_before(map)) << "nobody ran yet";
  EXPECT_FALSE(beginning.tells(ThreadSwitch{1, 1}));
  EXPECT_EQ(beginning.switch_before(map), (ThreadSwitch{1, 1}));
  EXPECT_FALSE(beginning.tells(ThreadSwitch{1, 2}));
  EXPECT_FALSE(beginning.switch_before(map)) << "thread 1 is there";
  EXPECT_TRUE(beginning.tells(ThreadExit{1, 1, 0}));
  EXPECT_EQ(beginning.switch_before(map), (ThreadSwitch{1, 2}));
}

/// Of the runs that begin in [from, to): how many, and something that depends on each.
std::pair<u64, u64> read_part(const std::string& path, u64 from, u64 to) {
  auto reader = Reader::open(path);
  if (!reader->begin_at(from).ok()) return {};
  u64 at = from, runs = 0, sum = 0;
  for (auto item = reader->next(); at < to && item.ok() && *item; item = reader->next()) {
    const auto* run = std::get_if<BlockRun>(&**item);
    if (run == nullptr) continue;
    at += run->block->instructions.size();
    ++runs;
    for (const u64 address : run->addresses) sum += address * run->next_ip;
  }
  return {runs, sum};
}

TEST(Beginning, PartsReadByThreadsOfTheirOwnAreTheWhole) {
  LongTrace trace({.addresses = true});
  const std::string path = write_long_trace(trace);
  const u64 length = Reader::open(path)->instruction_count();
  const u64 middle = length / 2 / LongTrace::block_instructions * LongTrace::block_instructions;
  std::pair<u64, u64> first, second;
  std::thread other([&] { first = read_part(path, 0, middle); });
  second = read_part(path, middle, length);
  other.join();
  EXPECT_EQ((std::pair{first.first + second.first, first.second + second.second}),
            read_part(path, 0, length));
  EXPECT_EQ(first.first, middle / LongTrace::block_instructions);
}

TEST(Beginning, LengthIsWhatFollowsIt) {
  LongTrace trace({});
  trace.run(10);
  auto reader = Reader::open(trace.finish());
  ASSERT_TRUE(reader->begin_at(128).ok());
  EXPECT_EQ(reader->length(), 512u);
  EXPECT_EQ(reader->instruction_count(), 640u);
}

TEST(Beginning, BehindTheLastInstructionIsRefused) {
  LongTrace trace({});
  trace.run(10);
  const std::string path = trace.finish();
  auto reader = Reader::open(path);
  const auto begun = reader->begin_at(640);
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.error().message,
            path + ": cannot begin at instruction 640: it has 640, the first of which is 0");
}

TEST(Beginning, ADamagedChunkBeforeItIsAnErrorWithItsOffset) {
  LongTrace trace({});
  const std::string path = write_long_trace(trace);
  auto content = file_content(path);
  content[sizeof(FileHeader) + sizeof(ChunkHeader) + 1] ^= 1;
  const std::string damaged = path + ".damaged";
  write_content(damaged, content);
  auto reader = Reader::open(damaged);
  ASSERT_TRUE(reader->begin_at(reader->instruction_count() - 1).ok());
  const auto first = reader->next();
  ASSERT_FALSE(first.ok());
  EXPECT_THAT(first.error().message, HasSubstr("offset 24"));
}

}  // namespace
}  // namespace pmusim::trace
