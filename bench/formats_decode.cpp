// SPDX-License-Identifier: MIT
// How fast a native trace is read, beside the same program as ChampSim's records.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "pmusim/formats/formats.h"
#include "pmusim/trace/trace.h"

namespace {

using namespace pmusim;

/// The first 400,000 instructions of a workload, 40 times over, so that decoding the code once does not
/// count: as a native trace with and without addresses, and as ChampSim's records. Made once, since single
/// steps take their time. PMUSIM_BENCH_TRACE names another trace, with addresses, which is taken once.
class Files {
 public:
  static const Files& get() {
    static const Files files;
    return files;
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() { std::filesystem::remove_all(directory_); }

  std::string addresses() const { return directory_ / "addresses"; }
  std::string flow() const { return directory_ / "flow"; }
  std::string champsim() const { return directory_ / "champsim"; }
  bool ok() const { return ok_; }

 private:
  Files()
      : directory_(std::filesystem::temp_directory_path() /
                   ("pmusim-bench-decode-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(directory_);
    const char* const given = std::getenv("PMUSIM_BENCH_TRACE");
    ok_ = given != nullptr ? make_of(given, 1) : record_and_make();
  }

  bool record_and_make() const {
    const std::string once = directory_ / "once";
    trace::RecordingOptions options{once, trace::RecordedRegisters::none};
    options.max_instructions = 400'000;
    const auto workload =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "workloads" / "branches";
    return trace::record({workload.string(), "1000000"}, options).ok() && make_of(once, 40);
  }

  bool make_of(const std::string& trace, int times) const {
    return repeat(trace, times, addresses(), {.addresses = true}) && repeat(trace, times, flow(), {}) &&
           formats::export_trace({formats::Format::champsim, addresses(), champsim()}).ok();
  }

  static bool repeat(const std::string& input, int times, const std::string& output,
                     trace::Contents contents) {
    auto writer = trace::Writer::create(output, contents);
    if (!writer.ok()) return false;
    std::map<u32, const trace::Block*> blocks;
    for (int n = 0; n < times; ++n) {
      auto reader = trace::Reader::open(input);
      if (!reader.ok()) return false;
      for (auto item = reader->next(); item.ok() && item->has_value(); item = reader->next()) {
        const auto* run = std::get_if<trace::BlockRun>(&**item);
        if (run == nullptr) continue;
        const trace::Block*& block = blocks[run->block->id];
        if (block == nullptr) block = copy_of(*run->block, *writer);
        const auto used = contents.addresses ? run->addresses : std::span<const u64>();
        if (!writer->run({block, run->next_ip, used, run->rep_counts, {}, nullptr, {}}).ok()) return false;
      }
    }
    return writer->finish().ok();
  }
  static const trace::Block* copy_of(const trace::Block& block, trace::Writer& writer) {
    std::vector<u8> lengths;
    for (const auto& i : block.instructions) lengths.push_back(i.length);
    return &writer.add_block(block.start(), block.code, lengths);
  }

  std::filesystem::path directory_;
  bool ok_ = false;
};

u64 read_native(const std::string& path) {
  auto reader = trace::Reader::open(path);
  u64 instructions = 0, sum = 0;
  for (auto item = reader->next(); item.ok() && item->has_value(); item = reader->next()) {
    const auto* run = std::get_if<trace::BlockRun>(&**item);
    if (run == nullptr) continue;
    instructions += run->block->instructions.size();
    sum += run->next_ip;
    for (const u64 address : run->addresses) sum += address;
  }
  benchmark::DoNotOptimize(sum);
  return instructions;
}

/// Reads the records in batches and looks at address, outcome and accesses of each, as a simulator must.
u64 read_champsim(const std::string& path) {
  constexpr std::size_t words = 8, batch = 1024;  // of 64 bytes: address, branch and registers, accesses
  std::vector<std::array<u64, words>> records(batch);
  std::ifstream file(path, std::ios::binary);
  u64 instructions = 0, sum = 0;
  while (file.read(reinterpret_cast<char*>(records.data()), batch * sizeof(records[0])) ||
         file.gcount() > 0) {
    const auto count = static_cast<std::size_t>(file.gcount()) / sizeof(records[0]);
    for (std::size_t n = 0; n < count; ++n)
      for (const u64 word : records[n]) sum += word;
    instructions += count;
  }
  benchmark::DoNotOptimize(sum);
  return instructions;
}

void decode(benchmark::State& state, std::string (Files::*file)() const, u64 (*read)(const std::string&)) {
  const Files& files = Files::get();
  if (!files.ok())
    return state.SkipWithError(
        "no trace: are the workloads built, is ptrace permitted, is PMUSIM_BENCH_TRACE one?");
  const std::string path = (files.*file)();
  u64 instructions = 0;
  for (auto _ : state) instructions = read(path);
  state.SetItemsProcessed(static_cast<i64>(instructions) * state.iterations());
  state.counters["bytes_per_instruction"] =
      static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(instructions);
}

BENCHMARK_CAPTURE(decode, control_flow, &Files::flow, read_native)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, addresses, &Files::addresses, read_native)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, champsim_records, &Files::champsim, read_champsim)->Unit(benchmark::kMillisecond);

}  // namespace
