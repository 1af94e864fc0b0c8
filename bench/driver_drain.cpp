// SPDX-License-Identifier: MIT
// What a PEBS record costs on its way from a full buffer into the ring, through the driver and the perf core
// as users run them: 4 events, 64 KiB, all in one ring. Every round drains 64 different buffers, because
// branch prediction learns a buffer that repeats, and then copies the same bytes: the records in, the samples
// out. Fastest rounds count: "ns/record", "memcpy_ns" of a record's and its samples' bytes, "x_memcpy".
#include <benchmark/benchmark.h>

#include <cstring>

#include "arch/pebs_generator.h"
#include "bench/cpu_time.h"
#include "driver/intel/debug_store/pebs.h"
#include "driver/intel/lbr/lbr.h"
#include "perf/linux_core.h"
#include "pmusim/arch/branch.h"
#include "tests/perf/fake_driver.h"
#include "tests/support/pebs_cpu.h"

namespace pmusim::driver {
namespace {

namespace sample = perf::sample;

constexpr unsigned rotation = 64, event_count = 4;
constexpr u64 buffer_bytes = 64 * 1024, ring_pages = 128;
constexpr u64 words_48 = sample::IP | sample::TID | sample::TIME | sample::CPU | sample::PERIOD;
constexpr u64 words_240 = words_48 | sample::ADDR | sample::WEIGHT | sample::DATA_SRC | sample::REGS_INTR;
constexpr u64 general_registers = 0xFF0FFF, xmm_registers = bits(63, 32);
constexpr pebs::RecordGroups all_groups{.memory = true, .gprs = true, .xmm = true, .lbr_entries = 32};

/// What a benchmark's name says.
struct Case {
  const char* name;
  unsigned format;
  pebs::RecordGroups groups;
  u64 sample_type;
  unsigned collisions_permille;
};
constexpr Case cases[] = {
    {"fmt3_48_bytes", 3, {}, words_48, 3},
    {"fmt4_48_bytes", 4, {}, words_48, 3},
    {"arch_48_bytes", 15, {}, words_48, 3},
    {"fmt3_240_bytes", 3, {}, words_240, 3},
    {"fmt4_all_32_lbr", 4, all_groups, words_240 | sample::BRANCH_STACK, 3},
    {"arch_all_32_lbr", 15, all_groups, words_240 | sample::BRANCH_STACK, 3},
    {"fmt1_collisions", 1, {}, words_48, 985},
    {"fmt1_48_bytes", 1, {}, words_48, 3},
    {"fmt3_shared", 3, {}, words_48, 985},
};

/// A CPU that has the records of one buffer at a time.
class RecordBus final : public Bus {
 public:
  void fill(std::span<std::byte> records, u64 buffer_address) {
    records_ = records;
    index_ = records.size();
    area_.pointers.pebs_base = buffer_address;
    area_.pointers.pebs_index = buffer_address + records.size();
  }
  FaultOr<u64> rdmsr(u32 address) override { return address == msr::PEBS_INDEX ? index_ : 0; }
  Fault wrmsr(u32, u64) override { return Fault::none; }
  FaultOr<u64> rdpmc(u32) override { return 0; }
  CpuidResult cpuid(u32, u32) override { return {}; }
  u64 rdtsc() override { return 0; }
  Fault read_memory(u64 address, std::span<std::byte> out) override {
    std::memcpy(out.data(), area_at(address), out.size());
    return Fault::none;
  }
  Fault write_memory(u64 address, std::span<const std::byte> in) override {
    std::memcpy(area_at(address), in.data(), in.size());
    return Fault::none;
  }
  bool map_memory(u64, u64) override { return true; }
  bool map_memory_at(u64, u64, u64) override { return true; }
  std::span<std::byte> memory(u64, u64 bytes) override { return records_.first(bytes); }
  Fault xsaves(u64, u64) override { return Fault::ud; }
  Fault xrstors(u64, u64) override { return Fault::ud; }
  FaultOr<u64> xgetbv(u32) override { return Failure(Fault::ud); }
  Fault xsetbv(u32, u64) override { return Fault::ud; }

 private:
  std::byte* area_at(u64 address) { return reinterpret_cast<std::byte*>(&area_) + address % 4096; }
  std::span<std::byte> records_;
  u64 index_ = 0;
  struct Area {
    DsArea64 pointers;
    std::array<std::byte, 4096 - sizeof(DsArea64)> resets;
  } area_{};
};

perf::Attr attr_of(const Case& c) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = 0xC0;
  attr.sample_period = 100003;
  attr.sample_type = c.sample_type;
  attr.sample_regs_intr = general_registers | (c.groups.xmm ? xmm_registers : 0);
  attr.branch_sample_type = perf::branch::PLM_ALL | perf::branch::ANY;
  attr.precise_ip = 2;
  return attr;
}

/// How samples get into the ring.
enum class Path : u8 { runs, each_sample };

/// A perf core that does not offer to have samples written in place.
class EachSample final : public perf::SampleSink {
 public:
  explicit EachSample(perf::SampleSink& core) : core_(core) {}
  Verdict overflow(perf::Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    return core_.overflow(event, data, frame);
  }
  void output(perf::Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    core_.output(event, data, frame);
  }
  void lost_samples(perf::Event& event, u64 count) override { core_.lost_samples(event, count); }
  Verdict account_interrupt(perf::Event& event) override { return core_.account_interrupt(event); }
  u64 time_of_tsc(u64 tsc) const override { return core_.time_of_tsc(tsc); }
  u64 now() const override { return core_.now(); }
  std::vector<std::byte> read_code(u64 address, std::size_t bytes) const override {
    return core_.read_code(address, bytes);
  }

 private:
  perf::SampleSink& core_;
};

/// The PEBS part of the driver under a whole perf core.
class Machine final : public PebsHost {
 public:
  Machine(const Case& c, Path path)
      : cpu_(pebs_cpu(c.format)),
        lbr_(access_, cpu_),
        pebs_(access_, area_, cpu_, *this, {.buffer_bytes = buffer_bytes}),
        core_(pmu_, {.clock = {.mult = 1'398'101, .shift = 22}}),
        path_(path) {
    pmu_.capable.extended_registers = true;
    pmu_.capable.max_precise = 3;
    pmu_.capable.branch_entries = 32;
    ready_ = pebs_.set_up() == Fault::none;
    for (unsigned n = 0; n < event_count && ready_; ++n) ready_ = open(attr_of(c), n);
  }

  bool ready() const { return ready_; }
  u64 drain(pebs::GeneratedBuffer& buffer) {
    bus_.fill(buffer.bytes, PebsOptions{}.buffer_address);
    perf::ControlPage& page = owners_[0]->ring->control();
    const u64 before = page.data_head;
    pebs_.drain(DrainTrigger::interrupt, owners_, &frame_);
    page.data_tail = page.data_head;  // the reader
    return page.data_head - before;
  }

 private:
  bool open(const perf::Attr& attr, unsigned n) {
    const auto opened = core_.open(attr, -1, 0, nullptr, 0);
    if (!opened.ok()) return false;
    perf::Event& event = **opened;
    event.hw.last_period = attr.sample_period;
    data_of(event).index = static_cast<int>(n);
    data_of(event).flags = pebs_flag::PRECISE | pebs_flag::LOAD_LATENCY | pebs_flag::AUTO_RELOAD |
                           pebs_flag::LARGE | register_flag(attr);
    if (n == 0 ? !core_.mmap(event, ring_pages, perf::PerfCore::Access::read_write, nullptr, {}).ok()
               : !core_.set_output(event, owners_[0]).ok())
      return false;
    if ((attr.sample_type & sample::BRANCH_STACK) != 0 && lbr_.init(event).ok()) lbr_.add(event);
    owners_[n] = &event;
    pebs_.add(event);
    static_cast<void>(pebs_.enable(event, owners_));
    if (cpu_.arch_pebs()) static_cast<void>(pebs_.start_records(event, owners_));
    return true;
  }

  perf::SampleSink& sink() override {
    if (path_ == Path::each_sample) return each_sample_;
    return core_.cpu(0);
  }
  Interval update_and_restart(perf::Event&) override { return Interval::over; }
  void restart(perf::Event&) override {}
  void stop(perf::Event&) override {}
  const perf::BranchStack* interrupt_branches(const perf::Event&) override { return nullptr; }
  const perf::BranchStack& decode_branches(const perf::Event& event,
                                           std::span<const pebs::LbrRecord> entries) override {
    return lbr_.decode_records(event, entries, RecordAge::unknown, core_.cpu(0));
  }
  PlainBranches plain_branches(const perf::Event& event) const override {
    return lbr_.plain_branches(event, RecordAge::unknown);
  }

  RecordBus bus_;
  RegisterAccess access_{bus_};
  Enumeration cpu_;
  LbrDriver lbr_;
  DebugStoreArea area_{access_, 4096};
  PebsDriver pebs_;
  perf::FakeDriver pmu_{event_count};
  perf::LinuxCore core_;
  EachSample each_sample_{core_.cpu(0)};
  Path path_;
  EventMap owners_{};
  InterruptFrame frame_;
  bool ready_ = false;
};

std::vector<pebs::GeneratedBuffer> make_buffers(const Case& c) {
  return pebs::generate_rotation({.format = c.format,
                                  .events = event_count,
                                  .collisions_permille = c.collisions_permille,
                                  .groups = c.groups},
                                 buffer_bytes, rotation);
}

/// Copies records into a buffer and as many bytes as their samples have into a ring.
class Copies {
 public:
  void copy(std::span<const std::byte> records, u64 sample_bytes) {
    std::memcpy(buffer_.data(), records.data(), records.size());
    if (at_ + sample_bytes > ring_.size()) at_ = 0;
    std::memcpy(ring_.data() + at_, samples_.data(), sample_bytes);
    at_ += sample_bytes;
    benchmark::DoNotOptimize(buffer_.data());
    benchmark::DoNotOptimize(ring_.data());
    benchmark::ClobberMemory();
  }

 private:
  std::vector<std::byte> buffer_ = std::vector<std::byte>(buffer_bytes), samples_ = ring(), ring_ = ring();
  static std::vector<std::byte> ring() { return std::vector<std::byte>(ring_pages * 4096); }
  std::size_t at_ = 0;
};

void drain(benchmark::State& state, const Case& c) {
  std::vector<pebs::GeneratedBuffer> buffers = make_buffers(c);
  Machine machine(c, Path::runs), by_samples(c, Path::each_sample);
  if (!machine.ready() || !by_samples.ready()) return state.SkipWithError("the events cannot be opened");
  Copies copies;
  std::array<u64, rotation> sample_bytes{};
  double fastest = 1e30, fastest_copy = 1e30, fastest_by_samples = 1e30;
  u64 records = 0;
  for (const auto& buffer : buffers) records += buffer.bytes.size() / buffer.record_bytes;
  for (auto _ : state) {
    const double start = cpu_ns();
    for (unsigned n = 0; n < rotation; ++n) sample_bytes[n] = machine.drain(buffers[n]);
    const double drained = cpu_ns();
    for (unsigned n = 0; n < rotation; ++n) copies.copy(buffers[n].bytes, sample_bytes[n]);
    const double copied = cpu_ns();
    for (pebs::GeneratedBuffer& buffer : buffers) benchmark::DoNotOptimize(by_samples.drain(buffer));
    fastest_by_samples = std::min(fastest_by_samples, cpu_ns() - copied);
    fastest_copy = std::min(fastest_copy, copied - drained);
    fastest = std::min(fastest, drained - start);
  }
  state.counters["ns/record"] = fastest / static_cast<double>(records);
  state.counters["each_sample_ns"] = fastest_by_samples / static_cast<double>(records);
  state.counters["memcpy_ns"] = fastest_copy / static_cast<double>(records);
  state.counters["x_memcpy"] = fastest / fastest_copy;
}

[[maybe_unused]] const bool registered = [] {
  for (const Case& c : cases)
    benchmark::RegisterBenchmark((std::string("drain/") + c.name).c_str(), drain, c);
  return true;
}();

}  // namespace
}  // namespace pmusim::driver
