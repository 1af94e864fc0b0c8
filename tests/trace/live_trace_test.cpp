// SPDX-License-Identifier: MIT
// A trace that is read while something writes it.
#include "trace/live_trace.h"

#include <gmock/gmock.h>
#include <time.h>

#include <new>

#include "tests/trace/sample_trace.h"

namespace pmusim::trace {
namespace {

using testing::HasSubstr;

constexpr Contents everything{.addresses = true, .registers = true};

LiveTrace::Maker maker_of(RandomTrace& trace, unsigned runs) {
  return [&trace, runs](const std::string& output, const std::atomic<bool>&) {
    auto writer = trace.write_to(output, runs);
    return writer.ok() ? Result<Done, Error>(Done{}) : Failure(writer.error());
  };
}

/// Instructions from here to the end.
Result<u64, Error> count_of(Source& source) {
  u64 instructions = 0;
  while (true) {
    const auto item = source.next();
    if (!item.ok()) return Failure(item.error());
    if (!item->has_value()) return instructions;
    if (const auto* run = std::get_if<BlockRun>(&**item)) instructions += run->block->instructions.size();
  }
}

/// Runs a block of NOPs again and again, so many times or until it is told to end.
Result<Done, Error> write_nops(const std::string& output, u64 runs, const std::atomic<bool>& stop) {
  auto writer = Writer::create(output, {});
  const std::vector<std::byte> nops(max_block_instructions, std::byte{0x90});
  const std::vector<u8> lengths(max_block_instructions, 1);
  const Block& block = writer->add_block(0x400000, nops, lengths);
  for (u64 n = 0; n < runs && !stop; ++n)
    if (!writer->run({&block, 0x400000, {}, {}, {}}).ok()) return Failure(Error("cannot write"));
  const auto finished = writer->finish();
  return finished.ok() ? Result<Done, Error>(Done{}) : Failure(finished.error());
}
Result<Done, Error> write_for_ever(const std::string& output, const std::atomic<bool>& stop) {
  return write_nops(output, ~u64{0}, stop);
}

TEST(LiveTrace, GivesWhatAFileWouldHave) {
  RandomTrace trace(1, everything);
  LiveTrace live("sample", everything, maker_of(trace, 20'000));
  const auto source = live.source();
  EXPECT_EQ(source->contents(), everything);
  const auto items = items_of(*source);
  ASSERT_TRUE(items.ok()) << items.error().message;
  EXPECT_EQ(*items, trace.items);
  EXPECT_EQ(source->length(), trace.instructions);
  EXPECT_FALSE(source->next()->has_value()) << "again and again";
}

TEST(LiveTrace, StartsWithTheFirstItemThatIsAskedFor) {
  std::atomic<bool> started = false;
  LiveTrace live("sample", {}, [&](const std::string&, const std::atomic<bool>&) -> Result<Done, Error> {
    started = true;
    return Failure(Error("sample: cannot be started: it is not there"));
  });
  const auto source = live.source();
  EXPECT_FALSE(started);
  EXPECT_FALSE(source->length());
  EXPECT_EQ(source->next().error().message, "sample: cannot be started: it is not there");
  EXPECT_TRUE(started);
}

TEST(LiveTrace, SaysWhatWentWrongWhereItsMakerThrows) {
  LiveTrace live("sample", {}, [&](const std::string&, const std::atomic<bool>&) -> Result<Done, Error> {
    throw std::bad_alloc();
  });
  EXPECT_EQ(live.source()->next().error().message, "sample: not enough memory to record it");
}

TEST(LiveTrace, LeavesOutWhatNobodyLooksAt) {
  RandomTrace trace(1, everything);
  LiveTrace live("sample", everything, maker_of(trace, 2'000));
  const auto source = live.source();
  source->leave_out(Detail::addresses);
  const auto items = items_of(*source);
  ASSERT_TRUE(items.ok()) << items.error().message;
  for (OwnedItem& item : trace.items) item.addresses.clear();
  EXPECT_EQ(*items, trace.items);
}

TEST(LiveTrace, IsReadAgainFromTheBeginningAfterAPreview) {
  constexpr u64 runs = 10'000;  // three chunks
  LiveTrace live("nops", {},
                 [](const std::string& output, const auto& stop) { return write_nops(output, runs, stop); });
  {
    const auto preview = live.preview();
    for (u64 n = 0; n < runs / 2; ++n) ASSERT_TRUE(preview->next().ok());
    EXPECT_FALSE(preview->length());
  }
  EXPECT_EQ(count_of(*live.source()).value(), runs * max_block_instructions);
}

TEST(LiveTrace, APreviewToTheEndKnowsTheLength) {
  RandomTrace trace(3, everything);
  LiveTrace live("sample", everything, maker_of(trace, 1000));
  const auto preview = live.preview();
  ASSERT_TRUE(items_of(*preview).ok());
  EXPECT_EQ(preview->length(), trace.instructions);
  EXPECT_EQ(items_of(*live.source()).value(), trace.items);
}

TEST(LiveTrace, EndsWhatMakesItWhenNobodyWantsTheRest) {
  LiveTrace live("endless", {}, write_for_ever);
  ASSERT_TRUE(live.source()->next().ok());
  EXPECT_TRUE(live.finish().ok());
}

TEST(LiveTrace, ReadsToTheEndWhatWasMadeUntilTheStop) {
  std::atomic<bool> stop = false;
  LiveTrace live("endless", {}, write_for_ever, &stop);
  const auto source = live.source();
  ASSERT_TRUE(source->next().ok());
  stop = true;
  EXPECT_GT(count_of(*source).value(), 0u);
}

TEST(LiveTrace, InterruptsWhatMakesItWhereItWaits) {
  std::atomic<bool> stop = false;
  bool interrupted = false;
  const auto sleep = [&](const std::string&, const std::atomic<bool>& stopped) -> Result<Done, Error> {
    stop = true;
    const timespec long_time{1000, 0};
    do {
      interrupted = ::nanosleep(&long_time, nullptr) == -1;
    } while (!stopped);
    return Failure(Error("asleep: woken"));
  };
  LiveTrace live("asleep", {}, sleep, &stop);
  EXPECT_EQ(live.source()->next().error().message, "asleep: woken");
  EXPECT_TRUE(interrupted);
}

TEST(LiveTrace, ReportsAnErrorOfItsMakerAfterWhatWasMade) {
  LiveTrace live("broken", {},
                 [](const std::string& output, const std::atomic<bool>&) -> Result<Done, Error> {
                   auto writer = Writer::create(output, {});
                   const std::vector<std::byte> nop{std::byte{0x90}};
                   const Block& block = writer->add_block(0x400000, nop, std::vector<u8>{1});
                   for (u32 n = 0; n < 1u << 20; ++n)
                     if (!writer->run({&block, 0x400000, {}, {}, {}}).ok())
                       return Failure(Error("cannot write"));
                   return Failure(Error("the power went"));
                 });
  const auto source = live.source();
  EXPECT_TRUE(source->next().ok());
  EXPECT_EQ(items_of(*source).error().message, "the power went");
}

TEST(LiveTrace, RefusesOtherContentsThanPromised) {
  RandomTrace trace(4, everything);
  LiveTrace live("sample", {}, maker_of(trace, 10));
  EXPECT_THAT(live.source()->next().error().message, HasSubstr("not the contents that were promised"));
}

TEST(LiveTrace, NamesItselfWhereTheBytesAreNoTrace) {
  LiveTrace live("noise", {}, [](const std::string& output, const std::atomic<bool>&) -> Result<Done, Error> {
    write_content(output, std::vector<char>(100, 'x'));
    return Done{};
  });
  EXPECT_THAT(live.source()->next().error().message, HasSubstr("noise: not a trace"));
}

}  // namespace
}  // namespace pmusim::trace
