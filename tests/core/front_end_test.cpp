// SPDX-License-Identifier: MIT
// Where uops come from, on cores that have a uop cache, a loop stream, both or neither.
#include <gtest/gtest.h>

#include "tests/core/code.h"
#include "tests/core/program.h"

namespace pmusim::front_end_test {
namespace {

using namespace test;

constexpr u64 text = 0x400000;
constexpr unsigned rax = 0, rcx = 1, rdx = 2;  // so many that nothing waits for the addition before

/// Runs blocks again and again, and sums up what the core tells.
class Told {
 public:
  explicit Told(std::string_view model) : core_(make_core(find_cpu_model(model).value())) {}

  Told& run(const trace::Block& block, unsigned times, u64 next_ip = 0) {
    trace::BlockRun block_run;
    block_run.block = &block;
    block_run.next_ip = next_ip != 0 ? next_ip : block.instructions.back().end();
    for (unsigned n = 0; n < times; ++n) core_.run(block_run, [&](const Retirement& r) { keep(r); });
    return *this;
  }
  void forget() { totals_ = {}, signals_ = {}; }
  u64 operator[](Quantity which) const { return totals_[static_cast<unsigned>(which)]; }
  u64 times(Signal signal) const { return signals_[static_cast<unsigned>(signal)]; }

 private:
  void keep(const Retirement& r) {
    for (std::size_t q = 0; q < totals_.size(); ++q) totals_[q] += r.quantities[q];
    for (std::size_t s = 0; s < signals_.size(); ++s) signals_[s] += r.signals.has(static_cast<Signal>(s));
  }
  Core core_;
  std::array<u64, static_cast<unsigned>(Quantity::count_)> totals_{};
  std::array<u64, static_cast<unsigned>(Signal::count_)> signals_{};
};

/// One-byte NOPs, and a jump back to the first.
trace::Block loop_of(unsigned nops) {
  std::vector<unsigned> bytes(nops, 0x90);
  bytes.insert(bytes.end(), {0xEB, static_cast<unsigned>(0x100 - nops - 2) & 0xFF});
  return code(text, bytes);
}

TEST(UopSources, ALoopComesFromTheUopCacheWhereTheLoopStreamIsOff) {
  Told skylake("skylake");
  skylake.run(loop_of(10), 1000, text);
  EXPECT_GT(skylake[Quantity::uops_dsb], 10'900u);
  EXPECT_LT(skylake[Quantity::uops_mite], 100u);
  EXPECT_EQ(skylake[Quantity::uops_lsd], 0u);
}

TEST(UopSources, AShortLoopStaysInTheQueueWhereThereIsALoopStream) {
  Told haswell("haswell");
  haswell.run(loop_of(10), 1000, text);
  EXPECT_GT(haswell[Quantity::uops_lsd], 10'900u);
  EXPECT_GT(haswell[Quantity::lsd_cycles_any], 10'900u / 4);
  Told longer("haswell");
  longer.run(loop_of(100), 1000, text);  // 56 uops fit
  EXPECT_EQ(longer[Quantity::uops_lsd], 0u);
}

TEST(UopSources, EverythingIsDecodedWhereThereIsNeither) {
  Told tremont("tremont");
  tremont.run(loop_of(10), 1000, text);
  EXPECT_EQ(tremont[Quantity::uops_mite], 11'000u);
  EXPECT_EQ(tremont.times(Signal::dsb_miss), 0u) << "there is no uop cache to miss";
}

// UOPS_DECODED.DEC0: whoever begins a cycle is at the first decoder.
TEST(UopSources, OneInstructionOfACycleIsAtTheFirstDecoder) {
  Told tremont("tremont");
  tremont.run(loop_of(10), 1000, text);
  EXPECT_EQ(tremont[Quantity::uops_first_decoder], tremont[Quantity::mite_cycles_any]);
  EXPECT_LT(tremont[Quantity::uops_first_decoder], tremont[Quantity::uops_mite]);
  EXPECT_EQ(Told("skylake").run(loop_of(10), 10, text)[Quantity::uops_first_decoder] == 0, false);
}

// INST_DECODED.DECODERS: as many decoders are in use as instructions come, a fused pair as one. Ten NOPs and
// a jump, four of which Skylake and two of which a core of two decoders takes in a cycle.
TEST(UopSources, EachDecoderTakesAnInstruction) {
  Told tremont("tremont");
  tremont.run(loop_of(10), 1000, text);
  EXPECT_EQ(tremont[Quantity::instructions_decoded], 11'000u);
  EXPECT_GT(tremont[Quantity::mite_cycles_two_decoders], 0u);
  EXPECT_LE(tremont[Quantity::mite_cycles_two_decoders], tremont[Quantity::mite_cycles_any]);
  Told alone("skylake");
  alone.run(code(text, {0xEB, 0x00}), 1);
  EXPECT_EQ(alone[Quantity::instructions_decoded], 1u);
  EXPECT_EQ(alone[Quantity::mite_cycles_any], 1u);
  EXPECT_EQ(alone[Quantity::mite_cycles_two_decoders], 0u);
  EXPECT_EQ(alone[Quantity::mite_cycles_four_uops], 0u);
}

// Three lines of six uops hold a window of 32 bytes (Intel's optimization manual, Sandy Bridge).
TEST(UopSources, AWindowThatExceedsItsLinesIsDecodedEveryTime) {
  const auto window = [](unsigned nops) {
    std::vector<unsigned> bytes(nops, 0x90);
    bytes.insert(bytes.end(), {0xEB, 30 - nops});
    return code(text, bytes);
  };
  Told fits("skylake"), too_many("skylake");
  fits.run(window(17), 100).forget();
  fits.run(window(17), 100);
  too_many.run(window(18), 100).forget();
  too_many.run(window(18), 100);
  EXPECT_EQ(fits[Quantity::uops_mite], 0u);
  EXPECT_EQ(too_many[Quantity::uops_dsb], 0u);
}

TEST(UopSources, CodeBeyondTheUopCacheIsLimitedByDecodeBandwidth) {
  std::vector<unsigned> bytes;
  for (unsigned n = 0; n < 3500; ++n)  // add r64, 1: 3500 uops for 1536 places, in 24 KiB
    bytes.insert(bytes.end(), {0x48, 0x81, 0xC0 + std::array{rax, rcx, rdx}[n % 3], 1, 0, 0, 0});
  const trace::Block straight = code(text, bytes);
  Told skylake("skylake");
  skylake.run(straight, 2, text).forget();
  skylake.run(straight, 10, text);
  EXPECT_EQ(skylake[Quantity::uops_dsb], 0u);
  EXPECT_EQ(skylake[Quantity::uops_mite], skylake[Quantity::uops]);
  // 16 bytes a cycle are two or three of these instructions.
  EXPECT_NEAR(static_cast<double>(skylake[Quantity::cycles]), 10 * 3500 * 7 / 16.0, 10 * 3500 * 0.05);
  EXPECT_GT(skylake[Quantity::slots_fetch_bandwidth], skylake[Quantity::slots_fetch_latency]);
  EXPECT_EQ(skylake[Quantity::slots_frontend],
            skylake[Quantity::slots_fetch_bandwidth] + skylake[Quantity::slots_fetch_latency]);
  EXPECT_EQ(skylake[Quantity::mite_cycles_ok], 0u);
}

TEST(UopSources, MicrocodeComesFromTheSequencerAndBack) {
  Told skylake("skylake");
  skylake.run(code(text, {0x90, 0x90, 0x0F, 0xA2, 0x90, 0x90}), 100);  // cpuid
  EXPECT_EQ(skylake.times(Signal::ms_switch), 100u);
  EXPECT_GT(skylake[Quantity::uops_ms], 100u * 4);
  EXPECT_GE(skylake[Quantity::ms_cycles], skylake[Quantity::uops_ms] / 4);
}

// add ax, 0x1234: the prefix makes a constant of four bytes one of two.
TEST(UopSources, LengthChangingPrefixesHoldUpTheDecoders) {
  std::vector<unsigned> changing, plain;
  for (unsigned n = 0; n < 3500; ++n) {
    changing.insert(changing.end(), {0x66, 0x81, 0xC1, 0x34, 0x12, 0x90, 0x90});
    plain.insert(plain.end(), {0x66, 0x01, 0xC1, 0x90, 0x90, 0x90, 0x90});
  }
  Told slow("skylake"), fast("skylake");
  slow.run(code(text, changing), 1, text).forget();  // brings the code into L1I
  fast.run(code(text, plain), 1, text).forget();
  slow.run(code(text, changing), 3, text);
  fast.run(code(text, plain), 3, text);
  EXPECT_EQ(slow[Quantity::length_stall_cycles], 3u * 3500 * 3);
  EXPECT_EQ(fast[Quantity::length_stall_cycles], 0u);
  EXPECT_GT(slow[Quantity::cycles], 2 * fast[Quantity::cycles]);
}

TEST(UopSources, GoingFromTheUopCacheToTheDecodersTakesTime) {
  const trace::Block known = loop_of(10);
  Told skylake("skylake");
  skylake.run(known, 10, text + 0x1000);
  skylake.run(code(text + 0x1000, {0x90, 0x90}), 1);
  EXPECT_EQ(skylake.times(Signal::dsb_to_mite), 1u);
  EXPECT_EQ(skylake[Quantity::dsb_to_mite_cycles], 2u);
}

// RESOURCE_STALLS.SCOREBOARD: LFENCE waits until all before it has retired, and what follows waits for it.
TEST(Serialization, HoldsDispatchBeforeAndBehind) {
  Told plain("icelake"), fenced("icelake");
  const std::vector<unsigned> chain{0x48, 0x0F, 0xAF, 0xC0, 0x48, 0x0F, 0xAF, 0xC0};  // imul rax, rax
  plain.run(code(text, chain), 100);
  std::vector<unsigned> with_fence = chain;
  with_fence.insert(with_fence.end(), {0x0F, 0xAE, 0xE8});
  fenced.run(code(text, with_fence), 100);
  EXPECT_EQ(plain[Quantity::serializing_stall_cycles], 0u);
  EXPECT_GE(fenced[Quantity::serializing_stall_cycles], 100u * 2 * 3);
  EXPECT_LE(fenced[Quantity::serializing_stall_cycles], fenced[Quantity::cycles_not_issuing]);
}

// UOPS_EXECUTED.X87: an addition has one where one port adds, and a load beside it adds its own.
TEST(X87, UopsAreCountedWithThoseOfMemory) {
  Told alone("haswell"), with_load("haswell");
  alone.run(code(text, {0xD8, 0xC1}), 100);      // fadd st, st(1)
  with_load.run(code(text, {0xD8, 0x07}), 100);  // fadd dword [rdi]
  EXPECT_EQ(alone[Quantity::uops_x87], 100u);
  EXPECT_EQ(with_load[Quantity::uops_x87], 200u);
}

// INT_MISC.CLEAR_RESTEER_CYCLES: behind a wrong branch to code that is not there, fetch waits once more.
TEST(Recovery, GoesOverIntoWaitsForCode) {
  Told cold("skylake"), straight("skylake");
  for (u64 n = 0; n < 100; ++n) {
    const u64 at = text + n * 0x1000;
    const trace::Block branch = code(at, {0x75, 0x7E});  // jne, taken
    cold.run(branch, 1, branch.instructions[0].target).run(code(at + 0x80, {0x90}), 1);
    straight.run(code(at, {0x90}), 1).run(code(at + 0x80, {0x90}), 1);
  }
  EXPECT_GT(cold[Quantity::recovery_cycles], 100u);
  EXPECT_GT(cold[Quantity::clear_resteer_cycles], 100u);
  EXPECT_LE(cold[Quantity::clear_resteer_cycles], cold[Quantity::starved_cycles]);
  EXPECT_EQ(straight[Quantity::clear_resteer_cycles], 0u);
}

}  // namespace
}  // namespace pmusim::front_end_test
