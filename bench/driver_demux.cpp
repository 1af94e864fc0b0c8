// SPDX-License-Identifier: MIT
// How long a PEBS record takes from the buffer to the ring: demultiplexing alone, and with samples written.
// Every run rotates over 64 different buffers, because branch prediction learns a buffer that repeats. The
// same bytes are copied in the same run; "x_memcpy" is how many times as long as the copy the drain takes.
#include <benchmark/benchmark.h>

#include <cstring>

#include "arch/pebs_generator.h"
#include "bench/cpu_time.h"
#include "driver/intel/debug_store/pebs.h"
#include "driver/intel/debug_store/pebs_demux.h"
#include "driver/intel/lbr/lbr.h"
#include "driver/intel/samples/pebs_sample.h"
#include "perf/sample_output.h"
#include "pmusim/arch/branch.h"
#include "tests/support/pebs_cpu.h"

namespace pmusim::driver {
namespace {

namespace sample = perf::sample;

constexpr unsigned rotation = 64;
constexpr u64 words_48 = sample::IP | sample::TID | sample::TIME | sample::CPU | sample::PERIOD;
constexpr u64 words_240 = words_48 | sample::ADDR | sample::WEIGHT | sample::DATA_SRC | sample::REGS_INTR;
constexpr u64 general_registers = 0xFF0FFF;  // 20 registers
constexpr u64 xmm_registers = bits(63, 32);

/// What a benchmark's name says.
struct Case {
  const char* name;
  unsigned format;
  pebs::RecordGroups groups;
  u64 sample_type;
};
constexpr pebs::RecordGroups all_groups{.memory = true, .gprs = true, .xmm = true, .lbr_entries = 32};
constexpr Case cases[] = {
    {"fmt1", 1, {}, words_48},
    {"fmt3", 3, {}, words_48},
    {"fmt3_240_bytes", 3, {}, words_240},
    {"fmt4_basic", 4, {}, words_48},
    {"fmt4_all_32_lbr", 4, all_groups, words_240 | sample::BRANCH_STACK},
    {"arch", 15, {}, words_48},
    {"arch_all_32_lbr", 15, all_groups, words_240 | sample::BRANCH_STACK},
};

/// A CPU that is never asked anything: records come from the generator.
class NoBus : public Bus {
 public:
  FaultOr<u64> rdmsr(u32) override { return Failure(Fault::gp); }
  Fault wrmsr(u32, u64) override { return Fault::gp; }
  FaultOr<u64> rdpmc(u32) override { return Failure(Fault::gp); }
  CpuidResult cpuid(u32, u32) override { return {}; }
  u64 rdtsc() override { return 0; }
  Fault read_memory(u64, std::span<std::byte>) override { return Fault::pf; }
  Fault write_memory(u64, std::span<const std::byte>) override { return Fault::pf; }
  bool map_memory(u64, u64) override { return false; }
  std::span<std::byte> memory(u64, u64) override { return {}; }
  Fault xsaves(u64, u64) override { return Fault::ud; }
  Fault xrstors(u64, u64) override { return Fault::ud; }
  FaultOr<u64> xgetbv(u32) override { return Failure(Fault::ud); }
  Fault xsetbv(u32, u64) override { return Fault::ud; }
};

/// The least of a perf core: every sample goes to the ring, which is read now and then.
class RingHost final : public PebsHost, public perf::SampleSink {
 public:
  explicit RingHost(const Enumeration& cpu) : lbr_(access_, cpu) {}

  perf::SampleSink& sink() override { return *this; }
  Interval update_and_restart(perf::Event&) override { return Interval::over; }
  void restart(perf::Event&) override {}
  void stop(perf::Event&) override {}
  const perf::BranchStack* interrupt_branches(const perf::Event&) override { return nullptr; }
  const perf::BranchStack& decode_branches(const perf::Event& event,
                                           std::span<const pebs::LbrRecord> entries) override {
    return lbr_.decode_records(event, entries, RecordAge::unknown, *this);
  }
  Verdict overflow(perf::Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    output(event, data, frame);
    return Verdict::keep;
  }
  void output(perf::Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    perf::output_sample(ring_, event, data, frame, environment_);
    perf::ControlPage& page = ring_.control();
    if (page.data_head - page.data_tail > ring_bytes / 2) page.data_tail = page.data_head;  // the reader
  }
  void lost_samples(perf::Event& event, u64 count) override { event.lost_samples += count; }
  Verdict account_interrupt(perf::Event&) override { return Verdict::keep; }
  u64 time_of_tsc(u64 tsc) const override {  // as perf's clock: multiply and shift, in two parts
    constexpr u64 multiplier = 1'398'101;
    constexpr unsigned shift = 22;
    return (tsc >> shift) * multiplier + (((tsc & low_bits(shift)) * multiplier) >> shift);
  }
  u64 now() const override { return 0; }
  std::vector<std::byte> read_code(u64, std::size_t) const override { return {}; }

  /// Before samples with branch stacks.
  void use_branches(perf::Event& event) {
    if (lbr_.init(event).ok()) lbr_.add(event);
  }

 private:
  NoBus bus_;
  RegisterAccess access_{bus_};
  LbrDriver lbr_;
  static constexpr u64 ring_bytes = 512 * 1024;  // perf's default
  perf::RingBuffer ring_{ring_bytes / perf::RingBuffer::page_bytes, {}};
  perf::SampleEnvironment environment_;
};

struct CountOnly {
  u64 samples = 0;
  void sample(unsigned, std::span<const std::byte>, Place) { ++samples; }
  void lost(unsigned, u64 count) { samples += count; }
  bool begins(unsigned, u64) { return true; }
  void finished(unsigned, u64) {}
};

/// Samples of every counter's event into the ring.
struct ToRing {
  RingHost& host;
  PebsSampleBuilder& builder;
  std::vector<perf::Event>& events;
  InterruptFrame frame{};
  void sample(unsigned counter, std::span<const std::byte> record, Place) {
    host.output(events[counter], builder.build(events[counter], record, frame), frame);
  }
  void lost(unsigned counter, u64 count) { host.lost_samples(events[counter], count); }
  bool begins(unsigned, u64) { return true; }
  void finished(unsigned, u64) {}
};

using Buffers = std::vector<pebs::GeneratedBuffer>;

Buffers make_buffers(const Case& c, unsigned events, unsigned permille, u64 bytes) {
  return pebs::generate_rotation(
      {.format = c.format, .events = events, .collisions_permille = permille, .groups = c.groups}, bytes,
      rotation);
}

/// Nanoseconds to copy all the buffers once, warm.
double copy_ns(const Buffers& buffers) {
  std::vector<std::byte> target(buffers[0].bytes.size());
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    const double start = cpu_ns();
    for (const auto& buffer : buffers) {
      std::memcpy(target.data(), buffer.bytes.data(), target.size());
      benchmark::DoNotOptimize(target.data());
      benchmark::ClobberMemory();
    }
    const double ns = cpu_ns() - start;
    best = round == 0 ? ns : std::min(best, ns);
  }
  return best;
}

template <class Visitor, class AfterBuffer>
void drain_all(benchmark::State& state, Buffers& buffers, Visitor& visitor, AfterBuffer after) {
  Demultiplexer demultiplexer;
  const u64 records = buffers[0].bytes.size() / buffers[0].record_bytes;
  const double copy_per_record = copy_ns(buffers) / static_cast<double>(records * rotation);
  std::size_t next = 0;
  u64 drained = 0;
  const double start = cpu_ns();
  for (auto _ : state) {
    pebs::GeneratedBuffer& buffer = buffers[next++ % rotation];
    const DemuxTotals totals = demultiplexer.run(buffer.bytes,
                                                 {.format = buffer.format,
                                                  .enabled = buffer.enabled,
                                                  .enable_word = buffer.enabled,
                                                  .record_bytes = buffer.record_bytes},
                                                 visitor);
    drained += totals.records;
    after();
  }
  const double per_record = (cpu_ns() - start) / static_cast<double>(drained);
  state.counters["ns/record"] = per_record;
  state.counters["memcpy_ns"] = copy_per_record;
  state.counters["x_memcpy"] = per_record / copy_per_record;
}

void demux_only(benchmark::State& state, const Case& c) {
  Buffers buffers =
      make_buffers(c, static_cast<unsigned>(state.range(0)), static_cast<unsigned>(state.range(1)),
                   static_cast<u64>(state.range(2)) << 10);
  CountOnly visitor;
  drain_all(state, buffers, visitor, [&] { benchmark::DoNotOptimize(visitor.samples); });
}

void to_ring(benchmark::State& state, const Case& c) {
  const auto event_count = static_cast<unsigned>(state.range(0));
  Buffers buffers = make_buffers(c, event_count, static_cast<unsigned>(state.range(1)),
                                 static_cast<u64>(state.range(2)) << 10);
  const Enumeration cpu = pebs_cpu(c.format);
  RingHost host(cpu);
  std::vector<perf::Event> events(event_count);
  for (unsigned i = 0; i < event_count; ++i) {
    perf::Event& event = events[i];
    event.id = i + 1;
    event.leader = &event;
    event.attr.sample_type = c.sample_type;
    event.attr.sample_regs_intr = general_registers | (c.groups.xmm ? xmm_registers : 0);
    event.attr.branch_sample_type = perf::branch::PLM_ALL | perf::branch::ANY;
    event.attr.precise_ip = 2;
    event.layout = perf::make_sample_layout(event.attr);
    event.hw.sample_period = event.hw.last_period = 100003;
    data_of(event).flags = pebs_flag::PRECISE | pebs_flag::LOAD_LATENCY | register_flag(event.attr);
    if ((c.sample_type & sample::BRANCH_STACK) != 0) host.use_branches(event);
  }
  PebsSampleBuilder builder(cpu, host);
  ToRing visitor{host, builder, events};
  drain_all(state, buffers, visitor, [] {});
}

[[maybe_unused]] const bool registered = [] {
  for (const Case& c : cases) {
    for (const auto& [kind, function] :
         {std::pair{"demux", &demux_only}, std::pair{"demux_to_ring", &to_ring}}) {
      auto* bench = benchmark::RegisterBenchmark((std::string(kind) + "/" + c.name).c_str(), function, c);
      bench->ArgNames({"events", "collisions_permille", "KiB"})
          ->ArgsProduct({{1, 4, 8}, {0, 3, 250, 985}, {64, 4096}})
          ->MinTime(0.05);
    }
  }
  return true;
}();

}  // namespace
}  // namespace pmusim::driver
