// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_FAKE_BUS_H
#define PMUSIM_TESTS_DRIVER_FAKE_BUS_H

#include <map>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "pmusim/arch/msr.h"
#include "pmusim/base/bus.h"

namespace pmusim::driver {

/// A CPU that only remembers: MSRs hold what is written, CPUID answers what the test says. It counts nothing
/// and raises nothing; tests play the hardware by setting registers between the driver's calls.
class FakeBus : public Bus {
 public:
  std::map<std::pair<u32, u32>, CpuidResult> leaves;
  std::map<u32, u64> msrs;
  std::vector<std::pair<u32, u64>> writes;  ///< in order
  u64 tsc = 0;

  FaultOr<u64> rdmsr(u32 address) override {
    const auto it = msrs.find(address);
    if (it == msrs.end()) return Failure(Fault::gp);
    return it->second;
  }
  Fault wrmsr(u32 address, u64 value) override {
    writes.emplace_back(address, value);
    if (address == msr::PERF_GLOBAL_STATUS_RESET) {
      msrs[msr::PERF_GLOBAL_STATUS] &= ~value;
      return Fault::none;
    }
    const auto it = msrs.find(address);
    if (it == msrs.end()) return Fault::gp;
    it->second = value;
    return Fault::none;
  }
  FaultOr<u64> rdpmc(u32) override { return Failure(Fault::gp); }
  CpuidResult cpuid(u32 leaf, u32 subleaf) override {
    const auto it = leaves.find({leaf, subleaf});
    return it == leaves.end() ? CpuidResult{} : it->second;
  }
  u64 rdtsc() override { return tsc; }
  Fault read_memory(u64 address, std::span<std::byte> out) override { return memory_.read(address, out); }
  Fault write_memory(u64 address, std::span<const std::byte> in) override {
    return memory_.write(address, in);
  }
  bool map_memory(u64 address, u64 bytes) override { return memory_.map(address, bytes); }
  bool map_memory_at(u64 address, u64 physical, u64 bytes) override {
    return memory_.map({.linear = address, .physical = physical}, bytes);
  }
  std::span<std::byte> memory(u64 address, u64 bytes) override { return memory_.at(address, bytes); }
  Fault xsaves(u64, u64) override { return Fault::ud; }
  Fault xrstors(u64, u64) override { return Fault::ud; }
  FaultOr<u64> xgetbv(u32) override { return Failure(Fault::ud); }
  Fault xsetbv(u32, u64) override { return Fault::ud; }

 private:
  Memory memory_;
};

}  // namespace pmusim::driver

#endif
