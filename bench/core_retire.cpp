// SPDX-License-Identifier: MIT
// How many instructions a second the core alone retires: on a synthetic program (loads, stores, arithmetic
// and data-dependent branches, as unoptimised code has them), and on the trace that PMUSIM_BENCH_TRACE names.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "core/core.h"
#include "pmusim/base/types.h"

namespace {

using namespace pmusim;

constexpr unsigned blocks_in_program = 64, runs_in_program = 20000;

x86::Instruction instruction(std::mt19937_64& random) {
  x86::Instruction made;
  made.length = 4;
  made.signals = {Signal::instruction};
  for (int i = 0; i < 2; ++i) made.registers_read |= bit(random() % 16);
  const u64 kind = random() % 4;
  if (kind < 2) {
    made.memory_operands = 1;
    made.memory[0] = {.bytes = 8, .load = kind == 0, .store = kind == 1};
    made.execution = kind == 0 ? x86::ExecutionClass::load_only : x86::ExecutionClass::store_only;
    made.form = kind == 0 ? InstructionForm::load : InstructionForm::store;
    made.signals.add(kind == 0 ? Signal::load : Signal::store);
  }
  if (kind != 1) made.registers_written = bit(random() % 16);
  return made;
}

/// Blocks of 3 to 10 instructions, each ending in a conditional branch to one of two other blocks.
struct Program {
  std::vector<trace::Block> blocks = std::vector<trace::Block>(blocks_in_program);
  std::vector<unsigned> order;
  std::vector<std::vector<u64>> addresses;
  u64 instructions = 0;

  /// `bytes`: how much memory the program touches at random.
  explicit Program(u64 bytes) {
    std::mt19937_64 random(1);
    for (unsigned n = 0; n < blocks_in_program; ++n) fill(n, random);
    for (unsigned at = 0, n = 0; n < runs_in_program; ++n) {
      order.push_back(at);
      std::vector<u64>& touched = addresses.emplace_back();
      for (const x86::Instruction& i : blocks[at].instructions)
        if (i.memory_operands != 0) touched.push_back(0x10000000 + random() % bytes / 8 * 8);
      instructions += blocks[at].instructions.size();
      at = (at + 1 + (random() % 8 == 0 ? 6 : 0)) % blocks_in_program;
    }
  }

  void fill(unsigned n, std::mt19937_64& random) {
    u64 ip = 0x401000 + n * 64;
    for (u64 left = 2 + random() % 8; left > 0; --left) {
      blocks[n].instructions.push_back(instruction(random));
      blocks[n].instructions.back().ip = ip;
      ip += 4;
    }
    x86::Instruction branch;
    branch.ip = ip;
    branch.length = 2;
    branch.branch = BranchKind::conditional;
    branch.execution = x86::ExecutionClass::branch;
    branch.form = InstructionForm::conditional_branch;
    branch.target = 0x401000 + (n + 1) % blocks_in_program * 64;
    branch.signals = {Signal::instruction, Signal::branch, Signal::near_branch, Signal::conditional};
    blocks[n].instructions.push_back(branch);
  }
};

void retire(benchmark::State& state, bool addresses) {
  const Program program(static_cast<u64>(state.range(0)));
  Core core = Core::create(CpuModel{}).value();
  u64 uops = 0;
  for (auto _ : state) {
    for (unsigned n = 0; n < runs_in_program; ++n) {
      trace::BlockRun run;
      run.block = &program.blocks[program.order[n]];
      run.next_ip = program.blocks[program.order[(n + 1) % runs_in_program]].start();
      if (addresses) run.addresses = program.addresses[n];
      core.run(run, [&](const Retirement& retirement) {
        uops += retirement.quantities[static_cast<unsigned>(Quantity::uops)];
      });
    }
  }
  benchmark::DoNotOptimize(uops);
  state.SetItemsProcessed(state.iterations() * static_cast<i64>(program.instructions));
}

void control_flow_only(benchmark::State& state) { retire(state, false); }
void with_addresses(benchmark::State& state) { retire(state, true); }

/// A block run that owns what it refers to, so that only the core is measured.
struct KeptRun {
  explicit KeptRun(const trace::BlockRun& original)
      : run(original),
        addresses(original.addresses.begin(), original.addresses.end()),
        rep_counts(original.rep_counts.begin(), original.rep_counts.end()) {}
  trace::BlockRun view() const {
    trace::BlockRun kept = run;
    kept.addresses = addresses;
    kept.rep_counts = rep_counts;
    kept.registers = {};
    return kept;
  }
  trace::BlockRun run;
  std::vector<u64> addresses;
  std::vector<u32> rep_counts;
};

void recorded(benchmark::State& state, const std::string& path) {
  auto reader = trace::Reader::open(path);
  if (!reader.ok()) return state.SkipWithError(reader.error().message.c_str());
  std::vector<KeptRun> runs;
  for (auto item = reader->next(); item.ok() && item->has_value(); item = reader->next())
    if (const auto* run = std::get_if<trace::BlockRun>(&**item)) runs.emplace_back(*run);
  u64 uops = 0;
  for (auto _ : state) {
    Core core = Core::create(CpuModel{}).value();
    for (const KeptRun& kept : runs)
      core.run(kept.view(), [&](const Retirement& retirement) {
        uops += retirement.quantities[static_cast<unsigned>(Quantity::uops)];
      });
  }
  benchmark::DoNotOptimize(uops);
  state.SetItemsProcessed(state.iterations() * static_cast<i64>(reader->instruction_count()));
}

[[maybe_unused]] const bool has_recorded = [] {
  const char* path = std::getenv("PMUSIM_BENCH_TRACE");
  if (path != nullptr) benchmark::RegisterBenchmark("recorded", recorded, std::string(path));
  return path != nullptr;
}();

BENCHMARK(control_flow_only)->Arg(4096);
BENCHMARK(with_addresses)->Arg(16 << 10)->Arg(256 << 10)->Arg(64 << 20);

}  // namespace
