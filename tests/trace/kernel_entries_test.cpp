// SPDX-License-Identifier: MIT
// A program's entries into a synthetic kernel: how long they are, where they lead, and what the registers
// are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "tests/support/system_call_loop.h"

namespace pmusim::test::kernel_entries_test {
namespace {

using namespace trace;

/// A run that owns what it refers to, or a record.
struct Seen {
  u64 start = 0, last_ip = 0, next_ip = 0;
  Cpl ring = Cpl::user, next_ring = Cpl::user;
  std::size_t instructions = 0;
  u32 operands = 0, id = 0;
  std::vector<u64> addresses;
  std::vector<Registers> registers;
  std::optional<SideBandRecord> record;
};

std::vector<Seen> all_of(Source& source) {
  std::vector<Seen> all;
  for (auto item = source.next(); item.ok() && *item; item = source.next()) {
    Seen& seen = all.emplace_back();
    if (const auto* record = std::get_if<SideBandRecord>(&**item)) {
      seen.record = *record;
      continue;
    }
    const auto& run = std::get<BlockRun>(**item);
    seen = {run.block->start(),
            run.block->instructions.back().ip,
            run.next_ip,
            run.block->ring,
            run.next_ring,
            run.block->instructions.size(),
            run.block->operands,
            run.block->id,
            {run.addresses.begin(), run.addresses.end()},
            {run.registers.begin(), run.registers.end()},
            {}};
  }
  return all;
}

std::unique_ptr<Source> entered(const KernelEntries& entries, unsigned rounds,
                                Contents contents = {.addresses = true}) {
  auto source = with_kernel_entries(std::make_unique<SystemCallLoop>(rounds, contents), entries);
  EXPECT_TRUE(source.ok());
  return std::move(source).value();
}

u64 instructions_at(const std::vector<Seen>& all, Cpl ring) {
  u64 sum = 0;
  for (const Seen& seen : all) sum += !seen.record && seen.ring == ring ? seen.instructions : 0;
  return sum;
}

template <class Record>
std::size_t count(const std::vector<Seen>& all) {
  return static_cast<std::size_t>(std::ranges::count_if(
      all, [](const Seen& seen) { return seen.record && std::holds_alternative<Record>(*seen.record); }));
}

TEST(KernelEntries, TakeAsManyInstructionsAsTheyAreToldTo) {
  for (const u32 length : {61u, 62u, 67u, 68u, 200u, 1000u, 12345u}) {
    const auto all = all_of(*entered({.system_call = length}, 3));
    EXPECT_EQ(instructions_at(all, Cpl::kernel), 3u * length);
    EXPECT_EQ(instructions_at(all, Cpl::user), 150u);
  }
}

TEST(KernelEntries, LeaveNoGapInWhereExecutionGoesOn) {
  const auto all = all_of(*entered({.system_call = 300, .tick = 500, .tick_every = 120}, 40));
  u64 next_ip = SystemCallLoop::start;
  Cpl ring = Cpl::user;
  for (const Seen& seen : all) {
    if (seen.record) {
      const auto* const interrupt = std::get_if<Interrupt>(&*seen.record);
      if (interrupt == nullptr) continue;
      EXPECT_EQ(interrupt->from, next_ip);
      EXPECT_EQ(ring, Cpl::user);
      next_ip = interrupt->handler;
      ring = Cpl::kernel;
      continue;
    }
    ASSERT_EQ(seen.start, next_ip);
    ASSERT_EQ(seen.ring, ring);
    EXPECT_EQ(seen.ring == Cpl::kernel, (seen.start >> 63) != 0);
    EXPECT_EQ(seen.addresses.size(), seen.operands);
    next_ip = seen.next_ip;
    ring = seen.next_ring;
  }
  EXPECT_EQ(ring, Cpl::user);
  EXPECT_EQ(count<Interrupt>(all), 16u) << "2000 instructions of the program, a tick every 120";
  EXPECT_EQ(instructions_at(all, Cpl::kernel), 40u * 300 + 16u * 500);
}

TEST(KernelEntries, TouchMemoryOfTheKernelAlone) {
  for (const Seen& seen : all_of(*entered({.tick_every = 100}, 20)))
    if (!seen.record && seen.ring == Cpl::kernel) {
      EXPECT_THAT(seen.addresses, testing::Each(testing::Ge(bit(63))));
    }
}

TEST(KernelEntries, GiveTheProgramItsRegistersBack) {
  const auto all = all_of(*entered({}, 2, {.addresses = true, .registers = true}));
  std::vector<const Seen*> runs;
  for (const Seen& seen : all)
    if (!seen.record) runs.push_back(&seen);
  const Registers& called = runs.front()->registers.back();
  EXPECT_EQ(called[Gpr::rax], SystemCallLoop::number);
  EXPECT_EQ(called[Gpr::rcx], SystemCallLoop::jump);
  EXPECT_EQ(called[Gpr::r11], called.rflags);
  EXPECT_EQ(called.rip, runs[1]->start);
  const auto leaving = std::ranges::find_if(
      runs, [](const Seen* s) { return s->ring == Cpl::kernel && s->next_ring == Cpl::user; });
  ASSERT_NE(leaving, runs.end());
  const Registers& returned = (*leaving)->registers.back();
  EXPECT_EQ(returned[Gpr::rax], 7u);
  EXPECT_EQ(returned[Gpr::rsp], SystemCallLoop::stack);
  EXPECT_EQ(returned.rip, SystemCallLoop::jump);
  for (const Seen* seen : runs)
    if (seen->ring == Cpl::kernel && seen->next_ring == Cpl::kernel) {
      EXPECT_GE(seen->registers.back()[Gpr::rsp], bit(63));
    }
}

TEST(KernelEntries, ASignalsHandlerIsEnteredByTheWayOutOfTheCall) {
  auto loop = std::make_unique<SystemCallLoop>(3);
  loop->interrupt_at(1);
  auto source = with_kernel_entries(std::move(loop), {});
  const auto all = all_of(**source);
  EXPECT_EQ(count<Interrupt>(all), 0u);
  const auto signal = std::ranges::find_if(
      all, [](const Seen& s) { return s.record && std::holds_alternative<SignalDelivery>(*s.record); });
  ASSERT_NE(signal, all.end());
  EXPECT_EQ(std::next(signal)->ring, Cpl::kernel);
  EXPECT_EQ(std::next(signal)->next_ip, SystemCallLoop::jump);
}

TEST(KernelEntries, NumberBlocksDensely) {
  std::vector<u32> ids;
  for (const Seen& seen : all_of(*entered({}, 2)))
    if (!seen.record && std::ranges::find(ids, seen.id) == ids.end()) ids.push_back(seen.id);
  std::vector<u32> expected(ids.size());
  for (u32 n = 0; n < ids.size(); ++n) expected[n] = n;
  EXPECT_EQ(ids, expected);
}

TEST(KernelEntries, CodeIsThereForWhoeverReadsIt) {
  auto source = entered({}, 1);
  const auto all = all_of(*source);
  const auto first = std::ranges::find(all, Cpl::kernel, &Seen::ring);
  EXPECT_EQ(x86::decode(source->code(1, first->start, 15), first->start).length, 3u) << "SWAPGS";
  EXPECT_TRUE(source->code(1, 0xFFFF'FFFF'9000'0000, 15).empty());
  EXPECT_EQ(source->code(1, SystemCallLoop::start, 1).size(), 1u);
}

/// Writes a program into a file.
void write(Source& source, const std::string& path) {
  auto writer = Writer::create(path, source.contents());
  std::map<u32, const Block*> blocks;
  for (auto item = source.next(); item.ok() && *item; item = source.next()) {
    if (const auto* record = std::get_if<SideBandRecord>(&**item)) {
      ASSERT_TRUE(writer->side_band(*record).ok());
      continue;
    }
    BlockRun run = std::get<BlockRun>(**item);
    const Block*& block = blocks[run.block->id];
    std::vector<u8> lengths;
    for (const x86::Instruction& each : run.block->instructions) lengths.push_back(each.length);
    if (block == nullptr)
      block = &writer->add_block(run.block->start(), run.block->code, lengths, run.block->ring);
    run.block = block;
    ASSERT_TRUE(writer->run(run).ok());
  }
  ASSERT_TRUE(writer->finish().ok());
}

// The ring of what follows is not in the file: it is that of the way there.
TEST(KernelEntries, AFileWithRing0ReadsAsItWasWritten) {
  const std::string path = testing::TempDir() + "ring0" + std::to_string(getpid());
  for (const Contents contents :
       {Contents{.addresses = true}, Contents{.addresses = true, .registers = true}}) {
    const auto program = [&] {
      auto loop = std::make_unique<SystemCallLoop>(30, contents);
      loop->interrupt_at(7);
      return *with_kernel_entries(std::move(loop), {.tick_every = 170});
    };
    write(*program(), path);
    auto reader = Reader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    EXPECT_TRUE(reader->contents().kernel);
    const auto written = all_of(*program()), read = all_of(*reader);
    ASSERT_EQ(written.size(), read.size());
    for (std::size_t n = 0; n < read.size(); ++n) {
      EXPECT_EQ(written[n].record, read[n].record);
      EXPECT_EQ(written[n].start, read[n].start);
      EXPECT_EQ(written[n].next_ip, read[n].next_ip);
      EXPECT_EQ(written[n].ring, read[n].ring);
      EXPECT_EQ(written[n].next_ring, read[n].next_ring) << std::hex << read[n].last_ip;
      EXPECT_EQ(written[n].addresses, read[n].addresses);
      for (std::size_t i = 0; i < read[n].registers.size(); ++i)
        EXPECT_EQ(written[n].registers[i].gpr, read[n].registers[i].gpr);
    }
    const u64 entry = std::ranges::find(read, Cpl::kernel, &Seen::ring)->start;
    EXPECT_EQ(reader->code(1, entry, 3).size(), 3u) << "in the process";
    EXPECT_EQ(reader->code(99, entry, 3).size(), 3u) << "and in every other";
  }
  std::filesystem::remove(path);
}

TEST(KernelEntries, SayWhatIsWrongWithThem) {
  const auto problem = [](const KernelEntries& entries, Contents contents) {
    const auto source = with_kernel_entries(std::make_unique<SystemCallLoop>(1, contents), entries);
    return source.ok() ? "" : source.error().message;
  };
  EXPECT_EQ(problem({.system_call = 60}, {}),
            "kernel entries: syscall=60: an entry takes 61 to 10000000 instructions");
  EXPECT_THAT(problem({}, {.kernel = true}), testing::HasSubstr("ring 0 of its own"));
  EXPECT_THAT(problem({}, {.timing = true}), testing::HasSubstr("recorded time"));
}

TEST(KernelEntries, KallsymsNamesEachFunctionOnceAndInOrder) {
  std::istringstream lines(synthetic_kallsyms({}));
  u64 previous = 0, address = 0, functions = 0;
  std::string type, name;
  while (lines >> std::hex >> address >> type >> name) {
    EXPECT_GE(address, previous);
    previous = address;
    functions += name.starts_with("synthetic_sys_");
  }
  EXPECT_EQ(functions, 363u) << "those of Linux 6.1, and one for unknown numbers";
  EXPECT_EQ(name, "_etext");
}

}  // namespace
}  // namespace pmusim::test::kernel_entries_test
