// SPDX-License-Identifier: MIT
// What a PEBS record costs on its way from a full buffer into the ring: by the kernel's own drain and sample
// output, by this project's on the same records, and copied.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "arch/pebs_generator.h"
#include "host/child.h"
#include "host/commands.h"
#include "host/side.h"

namespace pmusim::linux_driver {

namespace {

namespace sample = perf::sample;

constexpr unsigned event_count = 4;
constexpr u64 ring_pages = 256, buffers = 64;

// What Linux takes into buffers of several records: without weights, and before format 3 without time.
constexpr u64 plain_words = sample::IP | sample::TID | sample::CPU | sample::PERIOD;
constexpr u64 timed_words = plain_words | sample::TIME;
constexpr u64 register_words = timed_words | sample::ADDR | sample::DATA_SRC | sample::REGS_INTR;
constexpr u64 general_registers = 0xFF0FFF, xmm_registers = ~low_bits(32);
constexpr pebs::RecordGroups all_groups{.memory = true, .gprs = true, .xmm = true, .lbr_entries = 32};

/// Records and samples of a kind, which have a name.
struct BenchCase {
  const char* name;
  const char* model;
  unsigned format;
  u64 sample_type;
  pebs::RecordGroups groups = {};
  unsigned collisions_permille = 3;
};
constexpr BenchCase bench_cases[] = {
    {"format 1, address", "nehalem", 1, plain_words | sample::ADDR},
    {"format 1, collisions", "nehalem", 1, plain_words | sample::ADDR, {}, 985},
    {"format 3", "skylake", 3, timed_words},
    {"format 3, registers", "skylake", 3, register_words},
    {"format 3, shared records", "skylake", 3, timed_words, {}, 985},
    {"format 4", "icelake", 4, timed_words},
    {"format 4, all groups", "icelake", 4, register_words | sample::BRANCH_STACK, all_groups},
    {"architectural", "diamondrapids", 15, timed_words},
    {"architectural, all groups", "diamondrapids", 15, register_words | sample::BRANCH_STACK, all_groups},
};

/// The kernel, an older one than the records, does not take such events.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct BenchOptions {
  unsigned rounds = 20;
  bool json = false;
};

/// ns for each record.
struct Figures {
  double kernel = 0, here = 0, copy = 0;
  u64 records = 0, sample_bytes = 0;  ///< of all buffers
};

perf::Attr attr_of(const BenchCase& c) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = 0xC4;
  attr.sample_period = 100'003;
  attr.sample_type = c.sample_type;
  attr.sample_regs_intr =
      (c.sample_type & sample::REGS_INTR) == 0 ? 0 : general_registers | (c.groups.xmm ? xmm_registers : 0);
  attr.branch_sample_type =
      (c.sample_type & sample::BRANCH_STACK) == 0 ? 0 : perf::branch::PLM_ALL | perf::branch::ANY;
  attr.precise_ip = c.format < 2 ? 1 : 2;  // a kernel looks for the instruction before, if asked for it there
  attr.disabled = 1;
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  return attr;
}

std::vector<pebs::GeneratedBuffer> records_of(const BenchCase& c) {
  return pebs::generate_rotation({.format = c.format,
                                  .events = event_count,
                                  .collisions_permille = c.collisions_permille,
                                  .groups = c.groups},
                                 Side::buffer_bytes - 4096, buffers);
}

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// One driver with the events of a case.
class BenchSide {
 public:
  BenchSide(std::unique_ptr<Side> side, const BenchCase& c)
      : side_(std::move(side)), events_(side_->events()) {
    for (unsigned n = 0; n < event_count; ++n)
      if (const auto opened = events_->open(attr_of(c), std::nullopt, {}); !opened.ok())
        throw Refused(fmt::format("event {}: {}", n, std::strerror(opened.error().error_number)));
    value_or_fail(events_->map_ring(ring_pages));
    for (unsigned n = 0; n < event_count; ++n) events_->enable(n);
  }
  /// ns that it takes; appends what comes out.
  double drain(std::span<const std::byte> records, std::vector<std::byte>& samples) {
    side_->fill(records);
    const double begin = now_ns();
    events_->read(0);  // which drains the buffer first
    const double ns = now_ns() - begin;
    events_->drain_into(samples);
    // What the drain has left to be done, which an event that closes would wait for; and throttling ends.
    cycle_ += 4'000'000;
    side_->pass(cycle_, {});
    return ns;
  }

 private:
  std::unique_ptr<Side> side_;
  std::unique_ptr<DriverEvents> events_;
  u64 cycle_ = 0;
};

/// ns that the same bytes take which are only copied.
double copy(std::span<const std::byte> records, std::span<const std::byte> samples) {
  static std::vector<std::byte> buffer(Side::buffer_bytes), ring(ring_pages * 4096);
  const double begin = now_ns();
  std::memcpy(buffer.data(), records.data(), records.size());
  std::memcpy(ring.data(), samples.data(), std::min(samples.size(), ring.size()));
  asm volatile("" : : "r"(buffer.data()), "r"(ring.data()) : "memory");
  return now_ns() - begin;
}

/// The fastest of several times, each for a buffer of its own: branch prediction learns one that repeats.
class Fastest {
 public:
  void add(std::size_t buffer, double ns) { least_[buffer] = std::min(least_[buffer], ns); }
  double sum() const {
    double all = 0;
    for (const double ns : least_) all += ns;
    return all;
  }

 private:
  std::array<double, buffers> least_ = [] {
    std::array<double, buffers> none{};
    none.fill(1e30);
    return none;
  }();
};

Figures measured(const BenchCase& c, unsigned rounds) {
  const CpuModel model = value_or_fail(find_cpu_model(c.model));
  BenchSide kernel(kernel_side(model), c), here(session_side(model), c);
  const std::vector<pebs::GeneratedBuffer> generated = records_of(c);
  Fastest of_kernel, of_here, of_copy;
  Figures figures;
  std::vector<std::byte> theirs, ours;
  for (unsigned round = 0; round < rounds; ++round)
    for (std::size_t n = 0; n < generated.size(); ++n) {
      theirs.clear();
      ours.clear();
      const std::span<const std::byte> records = generated[n].bytes;
      of_kernel.add(n, kernel.drain(records, theirs));
      of_here.add(n, here.drain(records, ours));
      of_copy.add(n, copy(records, ours));
      if (theirs.empty()) throw CommandError(fmt::format("{}: the kernel writes no sample", c.name));
      if (theirs.size() != ours.size())
        throw CommandError(fmt::format("{}: the kernel writes {} bytes of samples, this project {}", c.name,
                                       theirs.size(), ours.size()));
      if (round != 0) continue;
      figures.records += records.size() / generated[n].record_bytes;
      figures.sample_bytes += ours.size();
    }
  const auto each = [&](const Fastest& fastest) {
    return fastest.sum() / static_cast<double>(figures.records);
  };
  figures.kernel = each(of_kernel);
  figures.here = each(of_here);
  figures.copy = each(of_copy);
  return figures;
}

std::string text_of(const BenchCase& c, const Figures& f) {
  return fmt::format("{:26} {:13} {:7} {:7} {:9.1f} {:9.1f} {:9.1f} {:9.1f}\n", c.name, c.model,
                     f.records / buffers, f.sample_bytes / f.records, f.kernel, f.here, f.copy,
                     f.kernel / f.here);
}
std::string text_of(const BenchCase& c, const Refused& refused) {
  return fmt::format("{:26} {:13} refused: {}\n", c.name, c.model, refused.what());
}
std::string json_of(const BenchCase& c, const std::string& members) {
  return fmt::format(R"({{"records": "{}", "model": "{}", {}}})", c.name, c.model, members) + "\n";
}
std::string json_of(const BenchCase& c, const Figures& f) {
  return json_of(c, fmt::format(R"("kernel_ns": {:.2f}, "pmusim_ns": {:.2f}, "memcpy_ns": {:.2f})", f.kernel,
                                f.here, f.copy));
}
std::string json_of(const BenchCase& c, const Refused& refused) {
  return json_of(c, fmt::format(R"("refused": "{}")", refused.what()));
}

std::string line_of(const BenchCase& c, const BenchOptions& options) {
  const auto line = [&](const auto& outcome) {
    return options.json ? json_of(c, outcome) : text_of(c, outcome);
  };
  try {
    return line(measured(c, options.rounds));
  } catch (const Refused& refused) {
    return line(refused);
  }
}

/// A kernel in a process each.
void run_bench(const BenchOptions& options) {
  if (!options.json)
    fmt::print("{:26} {:13} {:>7} {:>7} {:>9} {:>9} {:>9} {:>9}\n{:40} {:>7} {:>7} {:>9} {:>9} {:>9}\n",
               "records", "model", "in a", "bytes of", "kernel", "pmusim", "memcpy", "kernel /", "", "buffer",
               "sample", "ns", "ns", "ns");
  bool failed = false;
  for (const BenchCase& c : bench_cases)
    failed |= !show(in_child([&] { return line_of(c, options); }), c.name);
  if (failed) throw Findings();
}

}  // namespace

void add_bench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* const command = app.add_subcommand(
      "bench",
      "Time the kernel's drain of PEBS buffers and its sample output, and this project's on "
      "the same records");
  command->add_option("--rounds", options->rounds, "The fastest of so many counts (default 20)")
      ->check(CLI::Range(1u, 10'000u));
  command->add_flag("--json", options->json, "A line for each kind of records");
  command->callback([options] { run_bench(*options); });
}

}  // namespace pmusim::linux_driver
