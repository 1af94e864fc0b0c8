// SPDX-License-Identifier: MIT
// Extended registers in traces: what is written is read, and what is recorded is what the program held.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include "pmusim/trace/trace.h"
#include "tests/trace/random_extended.h"
#include "tests/trace/sample_trace.h"
#include "trace/extended_log.h"
#include "trace/format.h"
#include "trace/xstate.h"

namespace pmusim::trace {
namespace {

using enum StateComponent;

/// A block of four one-byte instructions, executed again and again by two threads.
class SampleWriter {
 public:
  explicit SampleWriter(const std::string& path, Contents contents = {.extended = true})
      : writer_(Writer::create(path, contents).value()) {
    constexpr std::array<std::byte, 4> nops{std::byte{0x90}, std::byte{0x90}, std::byte{0x90},
                                            std::byte{0x90}};
    constexpr std::array<u8, 4> lengths{1, 1, 1, 1};
    block_ = &writer_.add_block(0x1000, nops, lengths);
  }
  void run(const ExtendedState& before, std::span<const InstructionChange> changes) {
    EXPECT_TRUE(writer_.run({block_, 0x1000, {}, {}, {}, &before, changes}).ok());
  }
  void switch_to(u32 tid) { EXPECT_TRUE(writer_.side_band(ThreadSwitch{1, tid}).ok()); }
  void finish() { EXPECT_TRUE(writer_.finish().ok()); }

 private:
  Writer writer_;
  const Block* block_;
};

/// States after each instruction of each run, in order, with the state before the run first.
std::vector<ExtendedState> states_in(const std::string& path) {
  std::vector<ExtendedState> states;
  auto reader = Reader::open(path);
  EXPECT_TRUE(reader.ok()) << reader.error().message;
  while (true) {
    const auto item = reader->next();
    EXPECT_TRUE(item.ok()) << item.error().message;
    if (!item.ok() || !item->has_value()) return states;
    const auto* const run = std::get_if<BlockRun>(&**item);
    if (run == nullptr) continue;
    ExtendedState state = *run->extended;
    states.push_back(state);
    for (const InstructionChange& change : run->extended_changes) {
      change.change.apply_to(state);
      states.push_back(state);
    }
  }
}

TEST(ExtendedTrace, IsReadAsItWasWritten) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("t");
  std::vector<ExtendedState> expected;
  {
    SampleWriter writer(path);
    std::array<ExtendedState, 2> threads;
    threads[1].write(hi16_zmm, 0, {77});
    for (u64 round = 0; round < 20; ++round) {
      const u32 tid = static_cast<u32>(round / 3 % 2);
      writer.switch_to(tid + 1);
      ExtendedState& state = threads[tid];
      if (round == 12) state.set_mxcsr(0x1FA0);  // by no instruction
      const std::array<u64, 2> low{round, round * round};
      const std::array<u64, 1> mask{~round};
      const std::array second{ExtendedWrite{sse, 4, low}};
      const std::array fourth{ExtendedWrite{sse, 4, low}, ExtendedWrite{opmask, 3, mask}};
      const std::array changes{
          InstructionChange{1, {state.in_use() | state_bit(sse), second}},
          InstructionChange{3,
                            {state.in_use() | (round % 5 == 0 ? state_bit(sse) : state_bits(sse, opmask)),
                             round % 5 == 0 ? std::span<const ExtendedWrite>(second) : fourth}}};
      const ExtendedState before = state;
      writer.run(before, changes);
      expected.push_back(before);
      for (const InstructionChange& change : changes) {
        change.change.apply_to(state);
        expected.push_back(state);
      }
    }
    writer.finish();
  }
  EXPECT_EQ(states_in(path), expected);
}

TEST(ExtendedTrace, EveryComponentOfEveryThreadIsReadAsWritten) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("t");
  std::mt19937_64 random(6);
  std::vector<ExtendedState> expected;
  {
    SampleWriter writer(path);
    std::array<ExtendedState, 3> threads;
    for (int run = 0; run < 300; ++run) {
      const u64 thread = random() % threads.size();
      writer.switch_to(static_cast<u32>(thread + 1));
      ExtendedState& state = threads[thread];
      if (random() % 8 == 0) state = changed(state, random);  // by no instruction
      ExtendedLog log;
      log.begin(state);
      const ExtendedState before = state;
      expected.push_back(state);
      for (u32 n = 0; n < 4; ++n) {
        const ExtendedState after = changed(state, random);
        log.add(n, state, after);
        if (after != state) expected.push_back(after);
        state = after;
      }
      BlockRun described;
      log.describe(described);
      writer.run(before, described.extended_changes);
    }
    writer.finish();
  }
  EXPECT_EQ(states_in(path), expected);
}

TEST(ExtendedTrace, MayHaveMoreThreadsThanAChunk) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("t");
  std::vector<ExtendedState> expected;
  {
    SampleWriter writer(path);
    for (u32 tid = 1; tid <= max_extended_threads + 10; ++tid) {
      writer.switch_to(tid);
      expected.emplace_back().write(sse, tid % 32, {tid});
      writer.run(expected.back(), {});
    }
    writer.finish();
  }
  EXPECT_EQ(states_in(path), expected);
}

TEST(ExtendedTrace, SaysHowMuchItTakes) {
  const TemporaryDirectory directory;
  SampleWriter writer(directory.file("t"));
  writer.run(ExtendedState{}, {});
  writer.finish();
  const auto reader = Reader::open(directory.file("t"));
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(reader->contents().extended);
  const auto streams = reader->streams();
  EXPECT_EQ(streams.back().name, "extended values");
  EXPECT_EQ(streams.at(streams.size() - 2).raw_bytes, 7u)
      << "a restated state of no range, four instructions";
}

TEST(ExtendedTrace, WithoutExtendedRegistersTheFormatIsTheOldOne) {
  const TemporaryDirectory directory;
  SampleWriter writer(directory.file("t"), {});
  writer.run(ExtendedState{}, {});
  writer.finish();
  const std::vector<char> content = file_content(directory.file("t"));
  EXPECT_EQ(content.at(8), 1) << "version";
  const auto reader = Reader::open(directory.file("t"));
  ASSERT_TRUE(reader.ok());
  EXPECT_FALSE(reader->contents().extended);
}

TEST(ExtendedTrace, ThatIsCutWithinTheExtendedPartHasNoWholeChunk) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("t");
  SampleWriter writer(path);
  ExtendedState state;
  state.write(hi16_zmm, 0, {1, 2, 3, 4, 5, 6, 7, 8});
  writer.run(state, {});
  writer.finish();
  std::vector<char> content = file_content(path);
  constexpr std::size_t end_mark_index_and_some = 32 + 16 + 168 + 32 + 20;
  content.resize(content.size() - end_mark_index_and_some);
  write_content(path, content);
  const auto reader = Reader::open(path);
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.error().message.find("truncated"), std::string::npos) << reader.error().message;
}

TEST(ExtendedTrace, HasTheShadowStackPointer) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("t");
  const ExtendedState before = with_shadow_stack({}, 0x7000);
  EXPECT_TRUE(has_shadow_stack(before));
  EXPECT_FALSE(has_shadow_stack({}));
  {
    SampleWriter writer(path);
    const std::array<u64, 1> pushed{0x6FF8};
    const std::array write{ExtendedWrite{cet_u, 1, pushed}};
    const std::array changes{InstructionChange{2, {before.in_use(), write}}};
    writer.run(before, changes);
    writer.finish();
  }
  const std::vector<ExtendedState> states = states_in(path);
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[0].ssp(), 0x7000u);
  EXPECT_EQ(states[1].ssp(), 0x6FF8u);
}

/// A line of the workload's log.
struct Stretch {
  u64 begin = 0, end = 0, thread = 0, round = 0;
  unsigned width_bytes = 0, registers = 0, masks = 0;
};

std::vector<Stretch> read_log(const std::string& path) {
  std::vector<Stretch> stretches;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    Stretch s;
    const int fields =
        std::sscanf(line.c_str(), "stretch %lx %lx thread %lu round %lu width %u registers %u masks %u",
                    &s.begin, &s.end, &s.thread, &s.round, &s.width_bytes, &s.registers, &s.masks);
    EXPECT_EQ(fields, 7) << line;
    stretches.push_back(s);
  }
  return stretches;
}

/// As examples/workloads/simd.c fills them.
void expect_held(const ExtendedState& state, const Stretch& s) {
  const u64 base = s.thread * 0x1000000 + s.round;
  for (unsigned r = 0; r < s.registers; ++r)
    for (unsigned lane = 0; lane < s.width_bytes / 8; ++lane)
      ASSERT_EQ(state.vector(r)[lane], base + r * 0x10000 + lane * 0x100)
          << "register " << r << " lane " << lane;
  for (unsigned k = 1; k <= s.masks; ++k) ASSERT_EQ(state.opmask(k), base + k * 0x10000) << "k" << k;
}

TEST(ExtendedRecording, ExecutedProgramBeginsWithInitialRegisters) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("t");
  const auto summary = record({std::string(TEST_PROGRAMS) + "/exec_vectors"},
                              {.output = path, .registers = RecordedRegisters::simd});
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->status, 0);
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader.ok());
  std::vector<u64> at_start;  // of each program
  bool starts = false, held = false;
  while (true) {
    const auto item = reader->next();
    ASSERT_TRUE(item.ok()) << item.error().message;
    if (!item->has_value()) break;
    const auto* const run = std::get_if<BlockRun>(&**item);
    if (run == nullptr) {
      starts = starts || std::holds_alternative<ProcessStart>(std::get<SideBandRecord>(**item));
      continue;
    }
    const u64 value = run->extended->vector(15)[0];
    if (std::exchange(starts, false)) at_start.push_back(value);
    for (const InstructionChange& change : run->extended_changes) {
      ExtendedState state = *run->extended;
      change.change.apply_to(state);
      held = held || state.vector(15)[0] == 0x1234567890abcdef;
    }
  }
  EXPECT_TRUE(held) << "the first program had something in it";
  EXPECT_EQ(at_start, (std::vector<u64>{0, 0}));
}

TEST(ExtendedRecording, HasWhatTheProgramHeldAtEachInstruction) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  const TemporaryDirectory directory;
  const std::string path = directory.file("t"), log = directory.file("log");
  constexpr std::size_t threads = 3, rounds = 2;
  const auto summary = record({std::string(WORKLOADS) + "/simd", "3", "2", log},
                              {.output = path, .registers = RecordedRegisters::simd});
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  const std::vector<Stretch> stretches = read_log(log);
  ASSERT_GE(stretches.size(), threads * rounds);

  auto reader = Reader::open(path);
  ASSERT_TRUE(reader.ok());
  std::set<std::tuple<u64, u64, u64>> seen;  // begin, thread, round
  while (true) {
    const auto item = reader->next();
    ASSERT_TRUE(item.ok()) << item.error().message;
    if (!item->has_value()) break;
    const auto* const run = std::get_if<BlockRun>(&**item);
    if (run == nullptr) continue;
    ExtendedState state = *run->extended;
    auto change = run->extended_changes.begin();
    for (u32 n = 0; n < run->block->instructions.size(); ++n) {
      if (change != run->extended_changes.end() && change->instruction == n)
        (change++)->change.apply_to(state);
      const u64 ip = run->block->instructions[n].ip;
      const u64 thread = state.vector(0)[0] / 0x1000000, round = state.vector(0)[0] & 0xFF;
      const auto at = std::ranges::find_if(stretches, [&](const Stretch& s) {
        return ip >= s.begin && ip < s.end && s.thread == thread && s.round == round;
      });
      const bool in_some =
          std::ranges::any_of(stretches, [&](const Stretch& s) { return ip >= s.begin && ip < s.end; });
      ASSERT_EQ(in_some, at != stretches.end()) << std::hex << ip << " with " << state.vector(0)[0];
      if (!in_some) continue;
      if (seen.insert({at->begin, thread, round}).second) expect_held(state, *at);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(seen.size(), stretches.size());
}

}  // namespace
}  // namespace pmusim::trace
