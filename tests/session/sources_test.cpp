// SPDX-License-Identifier: MIT
// However a trace is read, the replay is the same: on a thread of its own or not, with all that it holds or
// without what this replay does not look at.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "pmusim/session/stat.h"
#include "pmusim/trace/trace.h"
#include "tests/session/outcome.h"
#include "tests/session/walk.h"
#include "tests/support/dice.h"

namespace pmusim::sources_test {
namespace {

constexpr u64 draws = 60;
constexpr u64 block_runs = 1500;

/// A trace that tells everything, whoever needs it.
class Whole final : public trace::Source {
 public:
  explicit Whole(trace::Reader reader) : reader_(std::move(reader)) {}
  const trace::Contents& contents() const override { return reader_.contents(); }
  std::optional<u64> length() const override { return reader_.length(); }
  const std::optional<std::string>& truncation() const override { return reader_.truncation(); }
  Result<trace::Items, Error> read() override { return trace::items_of(reader_.next()); }
  std::vector<std::byte> code(u32 pid, u64 address, std::size_t bytes) const override {
    return reader_.code(pid, address, bytes);
  }

 private:
  trace::Reader reader_;
};

enum class Way : u8 { whole, as_needed, ahead, ahead_whole };

std::unique_ptr<trace::Source> open(const std::string& path, Way way) {
  trace::Reader reader = *trace::Reader::open(path);
  if (way == Way::ahead || way == Way::ahead_whole) reader.decode_ahead();
  if (way == Way::whole || way == Way::ahead_whole) return std::make_unique<Whole>(std::move(reader));
  return std::make_unique<trace::Reader>(std::move(reader));
}

/// A random walk in a file, with addresses that its instructions might have accessed.
class WalkFile {
 public:
  WalkFile(u64 seed, test::Walk::Registers registers)
      : path_(testing::TempDir() + "walk" + std::to_string(getpid()) + "." + std::to_string(seed)) {
    test::Walk walk(seed, block_runs, registers);
    auto writer = trace::Writer::create(path_, {.addresses = true, .registers = walk.contents().registers});
    std::map<u32, const trace::Block*> blocks;
    Dice dice(seed);
    std::vector<u64> addresses;
    for (auto item = walk.next(); item->has_value(); item = walk.next()) {
      if (const auto* record = std::get_if<trace::SideBandRecord>(&**item)) {
        EXPECT_TRUE(writer->side_band(*record).ok());
        continue;
      }
      trace::BlockRun run = std::get<trace::BlockRun>(**item);
      addresses.assign(run.block->operands, 0);
      for (u64& address : addresses) address = 0x600000 + dice.below(dice.one_in(4) ? 1 << 22 : 4096);
      const trace::Block*& block = blocks[run.block->id];
      if (block == nullptr) block = &copy_of(*run.block, *writer);
      run.block = block;
      run.addresses = addresses;
      EXPECT_TRUE(writer->run(run).ok());
    }
    EXPECT_TRUE(writer->finish().ok());
  }
  WalkFile(const WalkFile&) = delete;
  WalkFile& operator=(const WalkFile&) = delete;
  ~WalkFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  static const trace::Block& copy_of(const trace::Block& block, trace::Writer& writer) {
    std::vector<u8> lengths;
    for (const auto& i : block.instructions) lengths.push_back(i.length);
    return writer.add_block(block.start(), block.code, lengths);
  }
  std::string path_;
};

/// The machine and the events of a replay, drawn.
struct Draw {
  SessionOptions machine;
  RecordOptions options;
  test::Walk::Registers registers = test::Walk::Registers::unknown;
};

std::string draw_events(Dice& dice) {
  constexpr std::array names{"cycles",
                             "instructions",
                             "branches",
                             "branch-misses",
                             "cpu-clock",
                             "ref-cycles",
                             "cycles:pp",
                             "instructions:ppp",
                             "branches:p",
                             "L1-dcache-loads",
                             "L1-dcache-load-misses",
                             "cache-misses",
                             "{cycles,instructions}",
                             "{branches,cycles:p}"};
  std::string list;
  for (u64 n = 1 + dice.below(4); n != 0; --n)
    list += std::string(list.empty() ? "" : ",") + names[dice.below(names.size())];
  return list;
}

Draw draw(u64 seed) {
  using namespace perf::branch;
  constexpr std::array levels{CoreLevel::interval, CoreLevel::memory, CoreLevel::simple, CoreLevel::flat};
  constexpr std::array<u64, 4> filters{0, ANY | USER, COND | USER, CALL_STACK | USER};
  Dice dice(seed);
  CpuModel model = cpu_models()[seed % cpu_models().size()];
  test::draw_policies(model, dice);
  Draw drawn{.machine = {.model = model, .core = levels[dice.below(levels.size())]}};
  if (dice.one_in(3)) drawn.machine.stepping = Stepping::instructions;
  if (dice.one_in(2)) drawn.registers = test::Walk::Registers::known;
  RecordOptions& options = drawn.options;
  options.events = events::parse_events(draw_events(dice), model).value_or({});
  options.period = 30 + dice.below(dice.one_in(2) ? 300 : 4000);
  options.branch_sample_type = filters[dice.below(filters.size())];
  options.addresses = drawn.machine.core == CoreLevel::interval && dice.one_in(2);
  constexpr u64 instruction_pointer = bit(8), some = bits(8, 0);
  if (dice.one_in(2))
    options.user_registers = options.interrupt_registers =
        drawn.registers == test::Walk::Registers::known && dice.one_in(2) ? some : instruction_pointer;
  return drawn;
}

test::Outcome recorded(const Draw& drawn, std::unique_ptr<trace::Source> source) {
  const bool samples = samples_registers(drawn.options);
  if (!samples) source->leave_out(trace::Detail::registers);
  Session session = *Session::open(std::move(source), drawn.machine);
  test::Outcome outcome = test::outcome_of(session, drawn.options);
  // Of the PMU's inside: it holds the registers of the last instruction where they are told.
  if (drawn.registers == test::Walk::Registers::known && !samples) outcome.state = 0;
  return outcome;
}

/// Counts of all events, beside what they are called.
std::vector<u64> counted(const Draw& drawn, std::unique_ptr<trace::Source> source) {
  StatOptions options{.events = drawn.options.events, .uncountable = Uncountable::shown};
  source->leave_out(trace::Detail::registers);
  Session session = *Session::open(std::move(source), drawn.machine);
  const auto report = stat(session, options);
  if (!report.ok()) return {};
  std::vector<u64> counts{report->instructions, report->elapsed_ns, report->replays};
  for (const EventTotal& e : report->events)
    counts.insert(counts.end(), {e.counted, e.enabled_ns, e.running_ns, u64{e.supported}});
  return counts;
}

TEST(Sources, ReplayTheSameHoweverTheTraceIsRead) {
  u64 recordings = 0, samples = 0;
  for (u64 seed = 0; seed < draws; ++seed) {
    const Draw drawn = draw(seed);
    if (drawn.options.events.empty()) continue;
    const WalkFile walk(seed, drawn.registers);
    const test::Outcome whole = recorded(drawn, open(walk.path(), Way::whole));
    for (const Way way : {Way::as_needed, Way::ahead, Way::ahead_whole})
      ASSERT_TRUE(recorded(drawn, open(walk.path(), way)) == whole)
          << "seed " << seed << " on " << drawn.machine.model.name << ", way " << static_cast<int>(way);
    recordings += whole.error.empty();
    samples += whole.samples;
  }
  EXPECT_GT(recordings, draws / 3);
  EXPECT_GT(samples, 10 * recordings);
}

TEST(Sources, ATraceCountsToTheSameTotalsHoweverItIsRead) {
  u64 counts = 0;
  for (u64 seed = 0; seed < draws; ++seed) {
    const Draw drawn = draw(seed);
    const WalkFile walk(seed, drawn.registers);
    const auto whole = counted(drawn, open(walk.path(), Way::whole));
    for (const Way way : {Way::as_needed, Way::ahead, Way::ahead_whole})
      ASSERT_EQ(counted(drawn, open(walk.path(), way)), whole) << "seed " << seed;
    counts += whole.size() > 3;
  }
  EXPECT_GT(counts, draws / 2);
}

TEST(Sources, OnlyCoresWithCachesGetAddresses) {
  const WalkFile walk(1, test::Walk::Registers::unknown);
  for (const CoreLevel level : {CoreLevel::interval, CoreLevel::memory, CoreLevel::simple, CoreLevel::flat}) {
    /// Notes what it is told to leave out.
    class Asked final : public trace::Source {
     public:
      Asked(const std::string& path, std::vector<trace::Detail>& left_out)
          : reader_(*trace::Reader::open(path)), left_out_(left_out) {}
      const trace::Contents& contents() const override { return reader_.contents(); }
      std::optional<u64> length() const override { return reader_.length(); }
      const std::optional<std::string>& truncation() const override { return reader_.truncation(); }
      Result<trace::Items, Error> read() override { return trace::items_of(reader_.next()); }
      void leave_out(trace::Detail detail) override { left_out_.push_back(detail); }
      std::vector<std::byte> code(u32, u64, std::size_t) const override { return {}; }

     private:
      trace::Reader reader_;
      std::vector<trace::Detail>& left_out_;
    };
    std::vector<trace::Detail> left_out;
    ASSERT_TRUE(Session::open(std::make_unique<Asked>(walk.path(), left_out),
                              {.model = find_cpu_model("skylake").value(), .core = level})
                    .ok());
    EXPECT_EQ(left_out.size(), has_caches(level) ? 0u : 1u) << name_of(level);
  }
}

}  // namespace
}  // namespace pmusim::sources_test
