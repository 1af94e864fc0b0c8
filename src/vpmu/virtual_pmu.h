// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_VPMU_VIRTUAL_PMU_H
#define PMUSIM_SRC_VPMU_VIRTUAL_PMU_H

#include "pmusim/vpmu/vpmu.h"
#include "vpmu/guest_registers.h"

namespace pmusim::vpmu {

/// What both kinds of guests have: the register file, and the order of entry and exit.
class VirtualPmu : public GuestPmu {
 public:
  explicit VirtualPmu(const Hypervisor& host) : host_(host), registers_(host.pmu.model()) {}

  // Bus
  FaultOr<u64> rdmsr(u32 address) override;
  [[nodiscard]] Fault wrmsr(u32 address, u64 value) override;
  FaultOr<u64> rdpmc(u32 ecx) override;
  CpuidResult cpuid(u32 leaf, u32 subleaf) override { return registers_.cpuid(leaf, subleaf); }
  u64 rdtsc() override { return host_.pmu.rdtsc(); }
  [[nodiscard]] Fault read_memory(u64 address, std::span<std::byte> out) override {
    return registers_.file().read_memory(address, out);
  }
  [[nodiscard]] Fault write_memory(u64 address, std::span<const std::byte> in) override {
    return registers_.file().write_memory(address, in);
  }
  [[nodiscard]] bool map_memory(u64 address, u64 bytes) override {
    return registers_.file().map_memory(address, bytes);
  }
  [[nodiscard]] bool map_memory_at(u64 address, u64 physical, u64 bytes) override {
    return registers_.file().map_memory_at(address, physical, bytes);
  }
  std::span<std::byte> memory(u64 address, u64 bytes) override {
    return registers_.file().memory(address, bytes);
  }
  [[nodiscard]] Fault xsaves(u64 address, u64 features) override {
    return registers_.file().xsaves(address, features);
  }
  [[nodiscard]] Fault xrstors(u64 address, u64 features) override {
    return registers_.file().xrstors(address, features);
  }
  FaultOr<u64> xgetbv(u32 ecx) override { return registers_.file().xgetbv(ecx); }
  [[nodiscard]] Fault xsetbv(u32 ecx, u64 value) override { return registers_.file().xsetbv(ecx, value); }

  // GuestPmu
  void set_guest_handler(PmiHandler* handler) override { registers_.file().set_pmi_handler(handler); }
  void enter() override;
  void exit(const InterruptFrame& frame) override;
  bool in_guest() const override { return in_guest_; }
  void handle_pmi(const InterruptFrame& frame) override;
  std::optional<perf::GuestCode> interrupted() const override { return interrupted_; }
  const CpuModel& model() const override { return registers_.file().model(); }
  GuestStatistics statistics() const override { return statistics_; }

 protected:
  /// The guest's registers go onto the host's PMU, or what stands for them; and come back from there.
  virtual void load() = 0;
  virtual void unload() = 0;
  /// Does what a PMI is for that came in the guest, which has left.
  virtual void take_pmi(const InterruptFrame& of_hypervisor) = 0;

  void leave();
  perf::PerfCpu& cpu() { return host_.perf.cpu(host_.cpu); }
  u64 read_host(u32 address) { return host_.pmu.rdmsr(address).value(); }
  void write_host(u32 address, u64 value);

  Hypervisor host_;
  GuestRegisters registers_;
  GuestStatistics statistics_;

 private:
  /// An instruction of the guest that its hypervisor executes in its stead.
  template <class Access>
  auto emulate(Access access);
  void set_time() { cpu().set_time(cpu().time_of_tsc(host_.pmu.rdtsc())); }

  bool in_guest_ = false;
  u64 host_debugctl_ = 0;
  InterruptFrame frame_;  // where the guest goes on
  std::optional<perf::GuestCode> interrupted_;
};

std::unique_ptr<GuestPmu> make_emulated(const Hypervisor& host);
std::unique_ptr<GuestPmu> make_mediated(const Hypervisor& host);

}  // namespace pmusim::vpmu

#endif
