// SPDX-License-Identifier: MIT
// Intel PT written and read again (by libipt), and files that nobody can have recorded.
#include <gmock/gmock.h>

#include <cstring>

#include "formats/pt_packets.h"
#include "perf/records.h"
#include "perfdata/writer.h"
#include "pmusim/formats/formats.h"
#include "tests/trace/sample_trace.h"

namespace pmusim::formats {
namespace {

using testing::HasSubstr;
using trace::OwnedItem;

/// A trace that is written block by block.
class Program {
 public:
  explicit Program(const std::string& path, const trace::Contents& contents = {})
      : writer_(*trace::Writer::create(path, contents)), contents_(contents) {}
  /// A block at an address, whose instructions have these bytes.
  void has(u64 ip, const std::vector<std::vector<u8>>& instructions) {
    std::vector<std::byte> code;
    std::vector<u8> lengths;
    for (const auto& bytes : instructions) {
      for (const u8 b : bytes) code.push_back(std::byte{b});
      lengths.push_back(static_cast<u8>(bytes.size()));
    }
    blocks_[ip] = &writer_.add_block(ip, code, lengths);
  }
  /// Blocks take 0 to 9,999 cycles, if that is told.
  void runs(u64 ip, u64 next_ip) {
    trace::BlockRun run{.block = blocks_.at(ip), .next_ip = next_ip};
    ++runs_;
    if (contents_.timing) run.cycles = runs_ * runs_ * 7919 % 10'000;
    EXPECT_TRUE(writer_.run(run));
  }
  void add_side_band(const trace::SideBandRecord& record) { EXPECT_TRUE(writer_.side_band(record)); }
  void ends() { EXPECT_TRUE(writer_.finish()); }

 private:
  trace::Writer writer_;
  trace::Contents contents_;
  u32 runs_ = 0;
  std::map<u64, const trace::Block*> blocks_;
};

constexpr u64 loop = 0x401000, test_of_loop = 0x401002, call = 0x401004, jump = 0x401006, function = 0x401100,
              handler = 0x401200, spin = 0x401300;

/// Two threads in a loop around an indirect call, a signal, system calls; `spin` is never left.
void write_program(const std::string& path, const trace::Contents& contents = {}) {
  Program p(path, contents);
  p.add_side_band(trace::ProcessStart{7, 7, "program", true});
  p.add_side_band(trace::Map{7, {0x401000, 0x1000, 0, 5, 2, "/no/such/program", {}}});
  p.has(loop, {{0xFF, 0xD0}});
  p.has(test_of_loop, {{0x75, 0xFC}});
  p.has(call, {{0x0F, 0x05}});
  p.has(jump, {{0xEB, 0xF8}});
  p.has(function, {{0x90}, {0xC3}});
  p.has(handler, {{0x90}, {0x0F, 0x05}});
  p.has(spin, {{0xEB, 0xFE}});
  const auto round = [&](u64 next_ip) {
    p.runs(loop, function);
    p.runs(function, test_of_loop);
    p.runs(test_of_loop, next_ip);
  };
  p.add_side_band(trace::ThreadSwitch{7, 7});
  for (int n = 0; n < 20; ++n) round(loop);
  round(call);
  p.runs(call, jump);
  p.add_side_band(trace::Syscall{56, 8});
  p.add_side_band(trace::ThreadStart{7, 8, 7, 7});
  p.runs(jump, loop);
  p.add_side_band(trace::ThreadSwitch{7, 8});
  round(loop);
  p.add_side_band(trace::ThreadSwitch{7, 7});
  round(loop);
  p.add_side_band(trace::SignalDelivery{14, handler});
  p.runs(handler, loop);
  round(call);
  p.runs(call, jump);
  p.add_side_band(trace::ThreadSwitch{7, 8});
  round(call);
  p.runs(call, spin);
  p.runs(spin, spin);
  p.add_side_band(trace::ThreadExit{7, 8, 0});
  p.ends();
}

struct Ran {
  u32 tid = 0;
  u64 ip = 0, next_ip = 0;
  friend bool operator==(const Ran&, const Ran&) = default;
};
void PrintTo(const Ran& ran, std::ostream* out) { *out << ran.tid << ": " << std::hex << ran.ip << std::dec; }

/// Every instruction of a trace in order, with its thread.
std::vector<Ran> executed(const std::string& path) {
  std::vector<Ran> result;
  u32 tid = 0;
  const auto items = trace::read_all(path);
  for (const OwnedItem& item : items.value()) {
    if (!item.side_band) {
      std::size_t at = 0;
      while (at < item.code.size()) {
        const u64 ip = item.start + at;
        at += x86::decode(std::span(item.code).subspan(at), ip).length;
        result.push_back({tid, ip, at < item.code.size() ? item.start + at : item.next_ip});
      }
    } else if (const auto* to = std::get_if<trace::ThreadSwitch>(&*item.side_band)) {
      tid = to->tid;
    }
  }
  return result;
}

class PtImport : public testing::Test {
 protected:
  PtImport() {
    write_program(trace_);
    EXPECT_TRUE(export_trace({Format::pt, trace_, pt_}).ok());
  }
  Result<Conversion, Error> import(const std::string& code) const {
    return import_trace({.format = Format::pt, .input = pt_, .output = back_, .code = code});
  }
  /// Imports a file of these bytes.
  Result<Conversion, Error> import_bytes(const std::vector<char>& bytes) const {
    trace::write_content(directory_.file("bytes"), bytes);
    return import_trace({.format = Format::pt,
                         .input = directory_.file("bytes"),
                         .output = back_,
                         .max_instructions = 1 << 20,
                         .code = trace_});
  }

  trace::TemporaryDirectory directory_;
  const std::string trace_ = directory_.file("trace"), pt_ = directory_.file("pt"),
                    back_ = directory_.file("back");
};

TEST_F(PtImport, OfAnExportHasTheSameInstructionsAndInterruptions) {
  const auto conversion = import(trace_);
  ASSERT_TRUE(conversion.ok()) << conversion.error().message;
  auto before = executed(trace_), after = executed(back_);
  ASSERT_EQ(before.back().ip, spin);
  before.pop_back();  // a jump to itself leaves no packet
  EXPECT_EQ(after, before);
}

/// A block that ran, and the cycle in which it ended.
struct Timed {
  u64 start = 0, end_cycle = 0;
};
std::vector<Timed> timed_blocks(const std::string& path) {
  std::vector<Timed> result;
  u64 cycle = 0;
  const auto items = trace::read_all(path);
  for (const OwnedItem& item : items.value())
    if (!item.side_band) result.push_back({item.start, cycle += item.cycles.value()});
  return result;
}

// Where the program stops, libipt tells that time with the branch before; a direct jump has no packet.
TEST_F(PtImport, OfAStreamWithCyclePacketsHasTheTimeOfEveryBranch) {
  write_program(trace_, {.timing = true});
  ASSERT_TRUE(export_trace({Format::pt, trace_, pt_}).ok());
  const auto conversion = import(trace_);
  ASSERT_TRUE(conversion.ok()) << conversion.error().message;
  EXPECT_TRUE(trace::Reader::open(back_)->contents().timing);
  EXPECT_THAT(conversion->remarks, testing::Contains(HasSubstr("cycles are those of its time packets")));
  auto before = timed_blocks(trace_), after = timed_blocks(back_);
  before.pop_back();  // a jump to itself leaves no packet
  ASSERT_EQ(after.size(), before.size());
  unsigned compared = 0;
  for (std::size_t n = 0; n + 1 < before.size(); ++n) {
    ASSERT_EQ(after[n].start, before[n].start);
    const bool before_stop = before[n + 1].start == call || before[n + 1].start == handler;
    if (before[n].start == jump || before_stop) continue;
    ASSERT_EQ(after[n].end_cycle, before[n].end_cycle) << n;
    ++compared;
  }
  EXPECT_GT(compared, 60u);
}

TEST_F(PtImport, OfTimeStampsAloneLeavesTimeToTheCoreModel) {
  const auto conversion = import(trace_);
  ASSERT_TRUE(conversion.ok()) << conversion.error().message;
  EXPECT_FALSE(trace::Reader::open(back_)->contents().timing);
  EXPECT_THAT(conversion->remarks, testing::Contains(HasSubstr("cycles are the core model's")));
}

TEST_F(PtImport, HasProcessesMappingsAndThreadsWhereTheyBegan) {
  ASSERT_TRUE(import(trace_).ok());
  const auto kinds_of = [](const std::string& path) {
    std::vector<std::size_t> kinds;
    const auto items = trace::read_all(path);
    for (const OwnedItem& item : items.value())
      if (item.side_band && !std::holds_alternative<trace::ThreadSwitch>(*item.side_band) &&
          !std::holds_alternative<trace::Syscall>(*item.side_band) &&
          !std::holds_alternative<trace::SignalDelivery>(*item.side_band))
        kinds.push_back(item.side_band->index());
    return kinds;
  };
  EXPECT_EQ(kinds_of(back_), kinds_of(trace_));
}

TEST_F(PtImport, WithoutCodeIsAnErrorThatSaysWhereCodeComesFrom) {
  const auto conversion = import("");
  ASSERT_FALSE(conversion.ok());
  EXPECT_THAT(conversion.error().message,
              HasSubstr("code comes from the files that it names, or from a trace"));
  EXPECT_EQ(directory_.entries(), 2u);
}

TEST_F(PtImport, OfACutFileHasWhatIsThereAndSaysSo) {
  const auto whole = trace::file_content(pt_);
  // Where the data section of a perf.data begins and how long it is; features stand behind it.
  u64 data[2];
  std::memcpy(data, whole.data() + 40, sizeof data);
  const u64 all = import(trace_)->instructions;
  unsigned imported = 0, partly = 0;
  std::set<u64> lengths;
  for (u64 bytes = 0; bytes < whole.size(); bytes += 7) {
    const auto conversion = import_bytes({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
    if (!conversion.ok()) {
      EXPECT_THAT(conversion.error().message, HasSubstr(directory_.file("bytes"))) << bytes;
      continue;
    }
    ++imported;
    partly += conversion->instructions < all ? 1 : 0;
    lengths.insert(conversion->instructions);
    const bool is_cut = bytes < data[0] + data[1];
    EXPECT_THAT(conversion->remarks,
                testing::Contains(HasSubstr(is_cut ? "within its data section" : "metadata")))
        << bytes;
  }
  EXPECT_GT(imported, 10u);
  EXPECT_GT(partly, 1u);
  EXPECT_GT(lengths.size(), 8u) << "packets in front of a cut within AUX data are decoded";
}

TEST_F(PtImport, OfDamagedPacketsEnds) {
  const auto whole = trace::file_content(pt_);
  std::mt19937 random(1);
  for (int n = 0; n < 100; ++n) {
    auto bytes = whole;
    for (int changes = 0; changes < 4; ++changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto conversion = import_bytes(bytes);
    ASSERT_TRUE(conversion.ok() || !conversion.error().message.empty());
  }
}

/// A file with one stream of these packets, of thread 7, behind these records.
void write_stream(const std::string& path, std::vector<std::byte> packets, std::span<const u64> info,
                  std::span<const u64> records = {}) {
  const u64 id = 1;
  perf::Event event;
  event.id = id;
  event.attr.type = 8;
  event.attr.config = 1 << 10 | 1 << 13;
  event.attr.sample_type = perf::sample::TID | perf::sample::TIME | perf::sample::IDENTIFIER;
  event.attr.sample_id_all = 1;
  auto writer = perfdata::Writer::create(path, {});
  ASSERT_TRUE(writer->add_event(event.attr, "intel_pt//u", {&id, 1}));
  std::vector<u64> record{70 | (8 + info.size_bytes()) << 48};
  record.insert(record.end(), info.begin(), info.end());
  ASSERT_TRUE(writer->write(std::as_bytes(std::span(record))));
  ASSERT_TRUE(writer->write(std::as_bytes(records)));
  packets.resize((packets.size() + 7) / 8 * 8);
  ASSERT_TRUE(writer->write_aux({.reference = 1, .tid = 7}, packets));
  ASSERT_TRUE(writer->finish());
}
constexpr std::array<u64, 11> info_of_8{1, 8, 0, 1, 0, 1, 0x400, 0x800, 0, 0, 0};

TEST_F(PtImport, OfALoopWithoutPacketsIsAGapAndEnds) {
  PtPackets packets;
  packets.psb();
  packets.time(1);
  packets.long_mode();
  packets.end_psb();
  packets.address(PtAddressPacket::pge, spin);
  packets.address(PtAddressPacket::tip, loop);
  packets.pad();
  write_stream(pt_, packets.take_words(), info_of_8);
  const auto conversion = import(trace_);
  ASSERT_TRUE(conversion.ok()) << conversion.error().message;
  EXPECT_LT(conversion->instructions, 10'000u);
  EXPECT_THAT(conversion->remarks, testing::Contains(HasSubstr("1 gaps where packets were lost")));
}

// PERF_RECORD_AUX with PERF_AUX_FLAG_TRUNCATED, one with PARTIAL and one without, and PERF_RECORD_LOST.
TEST_F(PtImport, SaysWhatItsRecorderLost) {
  PtPackets packets;
  packets.psb();
  packets.time(1);
  packets.long_mode();
  packets.end_psb();
  packets.address(PtAddressPacket::pge, call);
  packets.pad();
  const auto header = [](u64 type, u64 bytes) { return type | bytes << 48; };
  const std::array<u64, 15> records{header(11, 32), 0,   64, 1, header(11, 32), 64, 64, 4,
                                    header(11, 32), 128, 64, 0, header(2, 24),  1,  5};
  write_stream(pt_, packets.take_words(), info_of_8, records);
  const auto conversion = import(trace_);
  const std::vector<std::string> said =
      conversion.ok() ? conversion->remarks : std::vector{conversion.error().message};
  EXPECT_THAT(said, testing::Contains(HasSubstr("2 AUX records say that packets were lost")));
  EXPECT_THAT(said, testing::Contains(HasSubstr("5 records were lost")));
}

TEST_F(PtImport, OfAnotherKindOfAuxDataIsAnError) {
  auto branch_trace_store = info_of_8;
  branch_trace_store[0] = 2;
  write_stream(pt_, {}, branch_trace_store);
  EXPECT_THAT(import(trace_).error().message, HasSubstr("AUX data of kind 2; expected 1, Intel PT"));
  write_stream(pt_, {}, std::span(info_of_8).first(5));
  EXPECT_THAT(import(trace_).error().message, HasSubstr("an AUXTRACE_INFO record that ends early"));
  auto shifted = info_of_8;
  shifted[2] = 64;
  write_stream(pt_, {}, shifted);
  EXPECT_THAT(import(trace_).error().message, HasSubstr("a time shift of 64"));
}

}  // namespace
}  // namespace pmusim::formats
