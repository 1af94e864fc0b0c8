// SPDX-License-Identifier: MIT
// Core `memory`: what caches, TLBs and predictors have seen is counted as at `interval`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/interval_core.h"
#include "core/memory_core.h"
#include "events/resolve.h"
#include "events/vendor.h"
#include "pmusim/session/stat.h"
#include "tests/session/walk.h"
#include "tests/support/dice.h"
#include "tests/support/naive_cache.h"

namespace pmusim {
namespace {

using test::NaiveCache;
using testing::HasSubstr;

constexpr u32 no_prefetchers = bit(0) | bit(1) | bit(3);

std::unique_ptr<test::Walk> walk(u64 seed, u64 runs) {
  return std::make_unique<test::Walk>(seed, runs, test::Walk::Registers::unknown,
                                      test::Walk::Addresses::known);
}

perf::Attr attr_of(const EventDefinition& event) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = events::event_select_bits(event);
  attr.config1 = event.extra;
  attr.exclude_kernel = attr.exclude_hv = 1;
  return attr;
}

/// Every event of the model that `wanted` says yes to, one to a group.
template <class Wanted>
std::vector<events::EventGroup> events_of(const CpuModel& model, Wanted&& wanted) {
  std::vector<events::EventGroup> groups;
  for (const EventDefinition& event : model.events) {
    const auto resolved = events::resolve(model, attr_of(event));
    if (resolved.ok() && wanted(*resolved))
      groups.push_back({.events = {{.name = std::string(event.name), .attr = attr_of(event)}}});
  }
  return groups;
}

std::vector<EventTotal> count(const CpuModel& model, CoreLevel core, u64 seed, u64 runs,
                              const std::vector<events::EventGroup>& groups) {
  auto session = Session::open(walk(seed, runs), {.model = model, .core = core});
  const auto report = stat(*session, {.events = groups, .uncountable = Uncountable::shown});
  EXPECT_TRUE(report.ok());
  return report.ok() ? report->events : std::vector<EventTotal>();
}

TEST(MemoryLevel, CountsWhatTheOrderDecidesAsTheWholeCoreDoes) {
  u64 compared = 0, occurred = 0;
  for (std::size_t n = 0; n < cpu_models().size(); ++n) {
    CpuModel model = cpu_models()[n];
    if (!model.has_timing_model) continue;
    model.core.l3.bytes = std::min(model.core.l3.bytes, model.core.l3.ways * model.core.l3.line_bytes * 512);
    const auto groups = events_of(model, [&](const events::ResolvedEvent& event) {
      return events::follows_from_order(event) && events::is_known_at(CoreLevel::memory, event);
    });
    const auto whole = count(model, CoreLevel::interval, n, 4000, groups);
    const auto memory = count(model, CoreLevel::memory, n, 4000, groups);
    ASSERT_EQ(whole.size(), memory.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(memory[i].counted, whole[i].counted) << model.name << ' ' << whole[i].name;
      EXPECT_EQ(memory[i].supported, whole[i].supported) << model.name << ' ' << whole[i].name;
      ++compared;
      occurred += whole[i].counted != 0;
    }
  }
  EXPECT_GT(compared, 1000u);
  EXPECT_GT(occurred, compared / 3);
}

// Which lines the caches of data hold follows from the order, too, where no prefetch can be dropped or come
// late. Whether a line is still under way when somebody asks for it does not, so hits are not compared.
TEST(MemoryLevel, AsksTheCachesOfDataForTheSameWithoutPrefetchers) {
  constexpr std::array asked{Quantity::l2_requests,     Quantity::l1d_replacements, Quantity::l2_lines_in,
                             Quantity::llc_references,  Quantity::llc_misses,       Quantity::l1i_misses,
                             Quantity::page_walks_load, Quantity::page_walks_store};
  u64 compared = 0, occurred = 0;
  for (std::size_t n = 0; n < cpu_models().size(); ++n) {
    CpuModel model = cpu_models()[n];
    if (!model.has_timing_model) continue;
    model.policies.prefetchers_off = no_prefetchers;
    model.core.l3.bytes = std::min(model.core.l3.bytes, model.core.l3.ways * model.core.l3.line_bytes * 512);
    const auto groups = events_of(model, [&](const events::ResolvedEvent& event) {
      const EventRule& rule = event.definition.rule;
      return std::ranges::find(asked, rule.quantity) != asked.end() && rule.plus[0] == Quantity::none;
    });
    const auto whole = count(model, CoreLevel::interval, n, 4000, groups);
    const auto memory = count(model, CoreLevel::memory, n, 4000, groups);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(memory[i].counted, whole[i].counted) << model.name << ' ' << whole[i].name;
      ++compared;
      occurred += whole[i].counted != 0;
    }
  }
  EXPECT_GT(compared, 200u);
  EXPECT_GT(occurred, compared / 2);
}

/// What a program asks of its first caches, in the order of the program, without a core around them.
class NaiveMemory {
 public:
  explicit NaiveMemory(const CoreParameters& p)
      : l1i_(p.l1i.bytes / p.l1i.line_bytes / p.l1i.ways, p.l1i.ways),
        l1d_(p.l1d.bytes / p.l1d.line_bytes / p.l1d.ways, p.l1d.ways),
        dtlb_(p.dtlb_entries / p.dtlb_ways, p.dtlb_ways),
        line_bytes_(p.l1d.line_bytes) {}

  void run(const trace::BlockRun& run) {
    std::size_t address = 0, repetition = 0;
    for (const x86::Instruction& instruction : run.block->instructions) {
      for (const u64 byte : {instruction.ip, instruction.end() - 1}) fetch(byte / line_bytes_);
      const u64 iterations = instruction.rep ? run.rep_counts[repetition++] : 1;
      for (const bool loads : {true, false})
        for (unsigned n = 0; n < instruction.memory_operands; ++n) {
          const x86::MemoryOperand& m = instruction.memory[n];
          if (loads ? !m.load : !m.store) continue;
          access(run.addresses[address + n], std::max<u64>(m.bytes, 1) * iterations);
          if (!loads && l1i_.erase(run.addresses[address + n] / line_bytes_)) fetched_ = ~u64{0};
        }
      address += instruction.memory_operands;
    }
  }
  u64 lines_in = 0, page_misses = 0, code_hits = 0, code_misses = 0;

 private:
  void access(u64 address, u64 bytes) {
    for (u64 line = address / line_bytes_; line <= (address + bytes - 1) / line_bytes_; ++line) {
      page_misses += dtlb_.touch(line * line_bytes_ >> 12) ? 0 : 1;
      lines_in += l1d_.touch(line) ? 0 : 1;
    }
  }
  void fetch(u64 line) {
    if (std::exchange(fetched_, line) != line) ++(l1i_.touch(line) ? code_hits : code_misses);
  }
  NaiveCache l1i_, l1d_, dtlb_;
  u64 line_bytes_, fetched_ = ~u64{0};
};

// Page tables are not read through L1D, so that it has the program's lines alone. A store to code takes it
// out of L1I.
TEST(MemoryLevel, MissesWhereANaiveModelDoes) {
  u64 all_lines_in = 0, all_walks = 0, all_code_misses = 0;
  for (u64 seed = 0; seed < 20; ++seed) {
    CpuModel model = find_cpu_model("skylake").value();
    model.policies.prefetchers_off = no_prefetchers;
    model.core.page_walk_loads = 0;
    model.core.stlb_entries = 0;
    auto program = walk(seed, 5000);
    auto core = MemoryCore::create(model, program->contents()).value();
    NaiveMemory naive(model.core);
    u64 lines_in = 0, walks = 0, code_hits = 0, code_misses = 0;
    const QuantitySet all{Quantity::l1d_replacements, Quantity::page_walks_load, Quantity::page_walks_store,
                          Quantity::l1i_hits, Quantity::l1i_misses};
    while (const auto item = program->next().value()) {
      const auto* const run = std::get_if<trace::BlockRun>(&*item);
      if (run == nullptr) continue;
      core.execute(*run);
      naive.run(*run);
      const Quantities sums = core.sum(all);
      const auto at = [&](Quantity which) { return sums[static_cast<unsigned>(which)]; };
      lines_in += at(Quantity::l1d_replacements);
      walks += at(Quantity::page_walks_load) + at(Quantity::page_walks_store);
      ASSERT_EQ(lines_in, naive.lines_in) << "seed " << seed;
      ASSERT_EQ(walks, naive.page_misses) << "seed " << seed;
      code_hits += at(Quantity::l1i_hits);
      code_misses += at(Quantity::l1i_misses);
      ASSERT_EQ(code_hits, naive.code_hits) << "seed " << seed;
      ASSERT_EQ(code_misses, naive.code_misses) << "seed " << seed;
    }
    all_lines_in += lines_in;
    all_walks += walks;
    all_code_misses += code_misses;
  }
  EXPECT_GT(all_lines_in, 10'000u);
  EXPECT_GT(all_walks, 10'000u);
  EXPECT_GT(all_code_misses, 50u);
}

// The order of the program decides these, block by block.
TEST(MemoryLevel, PredictsEachBranchAsTheWholeCoreDoes) {
  const CpuModel model = find_cpu_model("icelake").value();
  u64 wrong = 0;
  for (u64 seed = 0; seed < 20; ++seed) {
    auto program = walk(seed, 5000);
    auto memory = MemoryCore::create(model, program->contents()).value();
    auto interval = IntervalCore::create(model, program->contents()).value();
    while (const auto item = program->next().value()) {
      const auto* const run = std::get_if<trace::BlockRun>(&*item);
      if (run == nullptr) continue;
      const BlockExecution one = memory.execute(*run), other = interval.execute(*run);
      ASSERT_EQ(one.kind, other.kind) << "seed " << seed;
      wrong += one.prediction == Prediction::wrong ? 1 : 0;
    }
  }
  EXPECT_GT(wrong, 1000u);
}

TEST(MemoryLevel, RefusesWhatNeedsTheWholeCore) {
  const CpuModel model = find_cpu_model("icelake").value();
  u64 known = 0, unknown = 0;
  for (const EventDefinition& event : model.events) {
    const auto whole = events::resolve(model, attr_of(event));
    if (!whole.ok()) continue;
    const auto here = events::resolve(model, attr_of(event), {.core = CoreLevel::memory});
    EXPECT_EQ(here.ok(), events::is_known_at(CoreLevel::memory, *whole)) << event.name;
    ++(here.ok() ? known : unknown);
    if (here.ok()) continue;
    EXPECT_THAT(here.error().message, HasSubstr("core 'memory' knows: core 'interval' counts it"));
  }
  EXPECT_GT(known, 100u);
  EXPECT_GT(unknown, 50u);
}

}  // namespace
}  // namespace pmusim
