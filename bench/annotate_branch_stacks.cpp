// SPDX-License-Identifier: MIT
// What digesting branch stacks costs: ten million entries, 32 in a sample, over as many distinct branches as
// programs have.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "annotate/profile.h"

namespace {

using namespace pmusim;
using namespace pmusim::annotate;

constexpr std::size_t depth = 32;
constexpr u64 code = 0x400000;

/// Stacks of a walk through `blocks` blocks of 64 bytes: each ends with a branch to a near one.
std::vector<perf::BranchEntry> walk(std::size_t blocks, std::size_t entries) {
  std::mt19937 random(1);
  std::vector<perf::BranchEntry> branches(entries);
  std::size_t at = 0;
  for (perf::BranchEntry& branch : branches) {
    const std::size_t next = (at + random() % 8) % blocks;
    branch.from = code + 64 * at + 32;
    branch.to = code + 64 * next;
    branch.predicted = random() % 16 != 0;
    branch.mispred = !branch.predicted;
    branch.cycles = static_cast<u16>(1 + random() % 20);
    at = next;
  }
  return branches;
}

void Digest(benchmark::State& state) {
  const auto blocks = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t different = 1 << 20, all = 10'000'000;
  std::vector<perf::BranchEntry> branches = walk(blocks, different);
  for (std::size_t i = 0; i + depth <= different; i += depth)
    std::reverse(branches.begin() + static_cast<std::ptrdiff_t>(i),
                 branches.begin() + static_cast<std::ptrdiff_t>(i + depth));
  for (auto _ : state) {
    Profile profile({});
    const u32 file = profile.address_spaces().add_file({"[benchmark]", {}});
    profile.address_spaces().map(1, 0, {code, code + 64 * blocks, 0, file});
    const u32 event = profile.add_event({.name = "cycles", .branches = BranchUse::every_branch});
    for (std::size_t i = 0; i < all; i += depth) {
      const auto stack = std::span(branches).subspan(i % different, depth);
      profile.add({.event = event, .pid = 1, .ip = stack.front().to, .branches = stack});
    }
    benchmark::DoNotOptimize(profile.report());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<i64>(all));
}
BENCHMARK(Digest)->Arg(1'000)->Arg(20'000)->Unit(benchmark::kMillisecond);

}  // namespace
