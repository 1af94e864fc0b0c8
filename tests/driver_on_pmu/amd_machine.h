// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_ON_PMU_AMD_MACHINE_H
#define PMUSIM_TESTS_DRIVER_ON_PMU_AMD_MACHINE_H

#include <map>
#include <vector>

#include "driver/amd/driver.h"
#include "machine.h"

namespace pmusim::driver::amd_test {

/// An access of the driver's to a register.
struct RegisterUse {
  char access;  ///< R or W of an MSR, P for RDPMC
  u32 address;
  u64 value;  ///< written; 0 for reads
  bool operator==(const RegisterUse&) const = default;
};

inline void PrintTo(const RegisterUse& use, std::ostream* out) {
  *out << use.access << " " << std::hex << use.address << " " << use.value;
}

/// A Pmu that writes down which registers a driver uses, and where a test can say what a register reads.
class WatchedPmu final : public Bus {
 public:
  explicit WatchedPmu(const CpuModel& model) : pmu(model) {}

  FaultOr<u64> rdmsr(u32 address) override {
    uses.push_back({'R', address, 0});
    const auto said = reads.find(address);
    return said != reads.end() ? FaultOr<u64>(said->second) : pmu.rdmsr(address);
  }
  Fault wrmsr(u32 address, u64 value) override {
    uses.push_back({'W', address, value});
    return pmu.wrmsr(address, value);
  }
  FaultOr<u64> rdpmc(u32 ecx) override {
    uses.push_back({'P', ecx, 0});
    return pmu.rdpmc(ecx);
  }
  CpuidResult cpuid(u32 leaf, u32 subleaf) override { return pmu.cpuid(leaf, subleaf); }
  u64 rdtsc() override { return pmu.rdtsc(); }
  Fault read_memory(u64 address, std::span<std::byte> out) override { return pmu.read_memory(address, out); }
  Fault write_memory(u64 address, std::span<const std::byte> in) override {
    return pmu.write_memory(address, in);
  }
  bool map_memory(u64 address, u64 bytes) override { return pmu.map_memory(address, bytes); }
  bool map_memory_at(u64 address, u64 physical, u64 bytes) override {
    return pmu.map_memory_at(address, physical, bytes);
  }
  std::span<std::byte> memory(u64 address, u64 bytes) override { return pmu.memory(address, bytes); }
  Fault xsaves(u64 address, u64 features) override { return pmu.xsaves(address, features); }
  Fault xrstors(u64 address, u64 features) override { return pmu.xrstors(address, features); }
  FaultOr<u64> xgetbv(u32 ecx) override { return pmu.xgetbv(ecx); }
  Fault xsetbv(u32 ecx, u64 value) override { return pmu.xsetbv(ecx, value); }

  Pmu pmu;
  std::vector<RegisterUse> uses;
  std::map<u32, u64> reads;
};

/// A sink that keeps samples, and has a clock that a test sets.
class KeepingSink final : public TellingSink {
 public:
  u64 now() const override { return now_ns; }
  u64 now_ns = 1;
};

/// AMD's driver on the emulated PMU, without a perf core.
class AmdMachine : public DriverRig<WatchedPmu, amd::Driver> {
 public:
  explicit AmdMachine(std::string_view model, u32 skid_cycles = 0, const DriverOptions& options = {})
      : DriverRig(WatchedPmu(model_with_skid(model, skid_cycles)), options) {
    hardware.pmu.set_pmi_handler(&driver);
    driver.attach(sink);
  }

  void retire(Retirement r) {
    r.cycle = ++cycle_;
    hardware.pmu.retire(r);
  }
  void instruction(SignalSet signals = {Signal::instruction}, Cpl cpl = Cpl::user) {
    retire({.ip = 0x1000, .next_ip = 0x1004, .signals = signals, .length = 4, .cpl = cpl, .cpl_after = cpl});
  }
  void branch(u64 from, u64 to, BranchKind kind = BranchKind::conditional, bool mispredicted = false) {
    const auto level = [](u64 ip) { return (ip & bit(63)) != 0 ? Cpl::kernel : Cpl::user; };
    retire({.ip = from,
            .next_ip = to,
            .signals = SignalSet{Signal::instruction} | branch_signals(kind) |
                       outcome_signals(kind, {.taken = true, .mispredicted = mispredicted}),
            .length = 2,
            .branch = kind,
            .taken = true,
            .mispredicted = mispredicted,
            .cpl = level(from),
            .cpl_after = level(to)});
  }
  /// Lets a pending interrupt arrive.
  void idle(u64 cycles = 1) { hardware.pmu.wait_until(cycle_ += cycles, {}); }
  u64 msr(u32 address) { return hardware.pmu.rdmsr(address).value(); }

  KeepingSink sink;

 private:
  u64 cycle_ = 0;
};

inline perf::Attr raw(u64 config, u64 period = 0) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = config;
  attr.sample_period = period;
  return attr;
}

}  // namespace pmusim::driver::amd_test

#endif
