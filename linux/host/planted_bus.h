// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_PLANTED_BUS_H
#define PMUSIM_LINUX_HOST_PLANTED_BUS_H

#include <optional>
#include <string>

#include "host/outcome.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::linux_driver {

class PlantedBus;

/// A bug between a driver and its hardware, as if the driver had it: a register that it programs wrongly, or
/// memory that it misreads. Where a function is empty, accesses pass as they are.
struct PlantedBug {
  std::string name, text, model, setup;
  /// What is written in place of `value`; nothing: the write is left out.
  std::optional<u64> (*on_write)(PlantedBus&, u32 address, u64 value) = nullptr;
  /// What is read in place of `value`.
  u64 (*on_read)(PlantedBus&, u32 address, u64 value) = nullptr;
};
/// Of auto counter reload, of the drain of architectural PEBS, and of that of the DS area.
const std::vector<PlantedBug>& planted_bugs();

/// The Pmu with a bug before it.
class PlantedBus final : public Bus {
 public:
  PlantedBus(Pmu& pmu, const PlantedBug& bug) : pmu_(pmu), bug_(bug) {}

  Pmu& pmu() { return pmu_; }
  /// What a bug has seen before.
  u64 seen = 0;

  FaultOr<u64> rdmsr(u32 address) override {
    const FaultOr<u64> value = pmu_.rdmsr(address);
    if (!value.ok() || bug_.on_read == nullptr) return value;
    return bug_.on_read(*this, address, *value);
  }
  Fault wrmsr(u32 address, u64 value) override {
    if (bug_.on_write == nullptr) return pmu_.wrmsr(address, value);
    const std::optional<u64> written = bug_.on_write(*this, address, value);
    return written ? pmu_.wrmsr(address, *written) : Fault::none;
  }
  FaultOr<u64> rdpmc(u32 ecx) override { return pmu_.rdpmc(ecx); }
  CpuidResult cpuid(u32 leaf, u32 subleaf) override { return pmu_.cpuid(leaf, subleaf); }
  u64 rdtsc() override { return pmu_.rdtsc(); }
  Fault read_memory(u64 address, std::span<std::byte> out) override { return pmu_.read_memory(address, out); }
  Fault write_memory(u64 address, std::span<const std::byte> in) override {
    return pmu_.write_memory(address, in);
  }
  bool map_memory(u64 address, u64 bytes) override { return pmu_.map_memory(address, bytes); }
  std::span<std::byte> memory(u64 address, u64 bytes) override { return pmu_.memory(address, bytes); }
  Fault xsaves(u64 address, u64 features) override { return pmu_.xsaves(address, features); }
  Fault xrstors(u64 address, u64 features) override { return pmu_.xrstors(address, features); }
  FaultOr<u64> xgetbv(u32 ecx) override { return pmu_.xgetbv(ecx); }
  Fault xsetbv(u32 ecx, u64 value) override { return pmu_.xsetbv(ecx, value); }

 private:
  Pmu& pmu_;
  const PlantedBug& bug_;
};

}  // namespace pmusim::linux_driver

#endif
