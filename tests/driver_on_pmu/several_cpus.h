// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_ON_PMU_SEVERAL_CPUS_H
#define PMUSIM_TESTS_DRIVER_ON_PMU_SEVERAL_CPUS_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "driver/intel/intel_driver.h"
#include "pmusim/perf/core.h"
#include "pmusim/pmu/observer.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::driver {

/// A record as a reader cuts it out of a ring.
struct CutRecord {
  perf::RecordHeader header;
  std::vector<std::byte> bytes;
  perf::RecordType type() const { return static_cast<perf::RecordType>(header.type); }
  template <class T = u64>
  T at(std::size_t offset) const {
    T value{};
    EXPECT_LE(offset + sizeof value, bytes.size());
    if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  /// Fields of the trailer of an event that samples TID | TIME | CPU with sample_id_all.
  u32 trailer_tid() const { return at<u32>(bytes.size() - 20); }
  u64 trailer_time() const { return at(bytes.size() - 16); }
  u32 trailer_cpu() const { return at<u32>(bytes.size() - 8); }
};

inline std::vector<CutRecord> records_in(perf::RingBuffer& ring) {
  std::vector<std::byte> all;
  perf::RingReader(ring).drain([&](auto piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  std::vector<CutRecord> records;
  for (std::size_t at = 0; at < all.size();) {
    CutRecord record;
    std::memcpy(&record.header, all.data() + at, sizeof record.header);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
    record.bytes.assign(begin, begin + record.header.size);
    at += record.header.size;
    records.push_back(std::move(record));
  }
  return records;
}

inline std::vector<CutRecord> records_of(perf::RingBuffer& ring, perf::RecordType type) {
  std::vector<CutRecord> all = records_in(ring);
  std::erase_if(all, [&](const CutRecord& record) { return record.type() != type; });
  return all;
}

/// CPUs at one memory, a driver on each, and one perf core: TSC of 3 GHz, an instruction a core cycle in user
/// mode where a task runs, halted in the kernel where none does. Nothing takes time but the programs.
class SeveralCpus {
 public:
  static constexpr u64 ms = 1'000'000;  // ns
  static constexpr u64 tsc_per_ns = 3;

  enum class Delays : u8 { none, of_models };

  /// CPUs of a hybrid part with `atom_type` are those that say so of themselves.
  explicit SeveralCpus(const std::vector<CpuModel>& models, perf::CoreOptions options = {}, u32 atom_type = 8,
                       Delays delays = Delays::none)
      : machine(delays == Delays::none ? without_delays(models) : models) {
    std::vector<perf::PmuDriver*> own, atoms;
    for (unsigned n = 0; n < machine.cpus(); ++n) {
      DriverOptions own_options{.kernel = options.limits.kernel};
      own_options.lbr.task_stacks = &stacks_[is_atom(n)];
      cpus_.push_back(std::make_unique<Cpu>(machine.cpu(n), own_options.for_cpu(n)));
      perf::PmuDriver* const driver = &cpus_.back()->driver;
      own.push_back(is_atom(n) ? nullptr : driver);
      atoms.push_back(is_atom(n) ? driver : nullptr);
    }
    options.clock = {.mult = 715'827'883, .shift = 31};  // a third of the TSC
    perf_ = perf::PerfCore::create(own, options);
    if (std::ranges::any_of(atoms, [](const auto* driver) { return driver != nullptr; }))
      perf_->register_pmu(atom_type, atoms);
    for (u32 n = 0; n < machine.cpus(); ++n) {
      cpus_[n]->perf = &perf_->cpu(n);
      cpus_[n]->driver.attach(perf_->cpu(n));
    }
  }
  SeveralCpus(const SeveralCpus&) = delete;
  SeveralCpus& operator=(const SeveralCpus&) = delete;

  perf::PerfCore& core() { return *perf_; }
  Pmu& pmu(u32 n) { return machine.cpu(n); }
  IntelDriver& driver(u32 n) { return cpus_[n]->driver; }

  void switch_to(u32 n, u32 tid, perf::PerfCpu::SwitchReason reason = perf::PerfCpu::SwitchReason::blocked) {
    perf_->cpu(n).switch_to(tid, reason);
  }
  /// Every CPU goes on with what it has until perf time `ns`.
  void until(u64 ns) {
    for (u32 n = 0; n < machine.cpus(); ++n) until(n, ns);
  }
  void until(u32 n, u64 ns) {
    for (;;) {
      perf::PerfCpu& cpu = perf_->cpu(n);
      const u64 next = std::min(ns, cpu.next_deadline());
      go_to(n, next);
      cpu.advance(next, frame_of(n));
      if (next == ns) return;
    }
  }
  /// The task of CPU `n` retires so many instructions more.
  void instructions(u32 n, u64 count) {
    execute(n, count);
    perf_->cpu(n).set_time(now(n));
  }
  void branch(u32 n, u64 from, u64 to, BranchKind kind, Cpl before = Cpl::user, Cpl after = Cpl::user) {
    Retirement r{.ip = from,
                 .next_ip = to,
                 .cycle = pmu(n).now() + 1,
                 .signals = SignalSet{Signal::instruction} | branch_signals(kind) |
                            outcome_signals(kind, {.taken = true}),
                 .length = 5,
                 .branch = kind,
                 .taken = true,
                 .cpl = before,
                 .cpl_after = after};
    pmu(n).retire(r);
    perf_->cpu(n).set_time(now(n));
  }
  /// `count` instructions one after the other from `ip` on, at ring 0.
  void kernel_instructions(u32 n, u64 ip, u64 count) {
    for (; count != 0; --count, ip += 4)
      pmu(n).retire({.ip = ip,
                     .next_ip = ip + 4,
                     .cycle = pmu(n).now() + 1,
                     .signals = {Signal::instruction},
                     .length = 4,
                     .cpl = Cpl::kernel,
                     .cpl_after = Cpl::kernel});
    perf_->cpu(n).set_time(now(n));
  }
  /// ns since the start, by the TSC of the CPU.
  u64 now(u32 n) { return pmu(n).tsc() / tsc_per_ns; }

  perf::Event& open(const perf::Attr& attr, i32 pid, i32 cpu, perf::Event* leader = nullptr, u64 flags = 0) {
    auto event = perf_->open(attr, pid, cpu, leader, flags);
    EXPECT_TRUE(event.ok()) << (event.ok() ? "" : event.error().message);
    return **event;
  }
  /// 0: it opens.
  int error_of(const perf::Attr& attr, i32 pid, i32 cpu, perf::Event* leader = nullptr) {
    const auto event = perf_->open(attr, pid, cpu, leader);
    if (!event.ok()) return event.error().error_number;
    perf_->close(**event);
    return 0;
  }
  perf::RingBuffer& map(perf::Event& event, std::size_t pages = 64) {
    return *perf_->mmap(event, pages).value();
  }
  /// Count, ns enabled, ns running.
  std::vector<u64> read(perf::Event& event) { return perf_->read(event).value(); }

  pmusim::Machine machine;

 private:
  struct Cpu : PmiHandler {
    Cpu(Pmu& at, const DriverOptions& options) : pmu(at), driver(at, options), block() {
      pmu.set_pmi_handler(this);
    }
    void handle_pmi(const InterruptFrame& frame) override {
      perf->set_time(pmu.tsc() / tsc_per_ns);
      driver.handle_pmi(frame);
    }
    Pmu& pmu;
    IntelDriver driver;
    perf::PerfCpu* perf = nullptr;
    BlockTotals block;
  };

  static std::vector<CpuModel> without_delays(std::vector<CpuModel> models) {
    for (CpuModel& model : models) {
      model.policies.pmi_skid_cycles = model.policies.pebs_pmi_skid_cycles = 0;
      model.policies.pebs_arm_cycles = model.policies.pebs_assist_cycles = 0;
    }
    return models;
  }
  bool is_atom(unsigned n) const { return machine.cpu(n).model().core_type == CoreType::atom; }
  InterruptFrame frame_of(u32 n) const {
    InterruptFrame frame;
    frame.cpl = perf_->cpu(n).current_tid() == 0 ? Cpl::kernel : Cpl::user;
    return frame;
  }
  void go_to(u32 n, u64 ns) {
    const CoreParameters& core = pmu(n).model().core;
    const u64 cycle =
        ns * tsc_per_ns * core.tsc_per_core_cycle_denominator / core.tsc_per_core_cycle_numerator;
    if (cycle <= pmu(n).now()) return;
    if (perf_->cpu(n).current_tid() == 0)
      pmu(n).wait_until(cycle, frame_of(n));
    else
      execute(n, cycle - pmu(n).now());
  }
  void execute(u32 n, u64 count) {
    Cpu& cpu = *cpus_[n];
    while (count != 0) {
      u64 done = cpu.pmu.advance(cpu.block, count);
      if (done == 0) {
        const u64 before = cpu.pmu.now();
        const Retirement one{.ip = 0x401000,
                             .next_ip = 0x401000,
                             .cycle = before + 1,
                             .signals = {Signal::instruction},
                             .length = 4};
        cpu.pmu.retire(one);
        cpu.block = cpu.pmu.totals({&one, 1}, before);
        done = 1;
      }
      count -= done;
    }
  }

  TaskStacks stacks_[2];
  std::vector<std::unique_ptr<Cpu>> cpus_;
  std::unique_ptr<perf::PerfCore> perf_;
};

}  // namespace pmusim::driver

#endif
