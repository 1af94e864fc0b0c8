// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_EXPLORED_BUGGY_CPU_H
#define PMUSIM_TESTS_DRIVER_EXPLORED_BUGGY_CPU_H

#include <functional>
#include <optional>

#include "pmusim/arch/msr.h"
#include "rig.h"

namespace pmusim::driver {

/// An access of the driver's on its way to the CPU.
struct Access {
  u64 address;
  u64 value;        // read, or to be written
  bool in_handler;  // it is that of an interrupt
};

/// Where a function is empty, accesses pass as they are.
struct Bug {
  const char* name = "none";
  const char* model = nullptr;
  /// What is written in place of the value; nothing: the write is left out.
  std::optional<u64> (*on_write)(const Access&) = nullptr;
  u64 (*on_read)(const Access&) = nullptr;
  u32 (*on_rdpmc)(u32 counter) = nullptr;
  /// Whether what is written to memory there gets lost.
  bool (*loses)(const Access&) = nullptr;
};

/// Between a driver and its registers: what it does there is as if the driver had the bug.
class BuggyCpu final : public Bus {
 public:
  /// `meanwhile` is what goes on elsewhere before each access of an interrupt.
  BuggyCpu(explore::Cpu& cpu, const Bug& bug, std::function<void()> meanwhile = nullptr)
      : cpu_(cpu), bug_(bug), meanwhile_(std::move(meanwhile)) {}

  FaultOr<u64> rdmsr(u32 address) override {
    let_others_go_on();
    const FaultOr<u64> value = cpu_.rdmsr(address);
    if (!value.ok() || bug_.on_read == nullptr) return value;
    return bug_.on_read({address, *value, in_handler()});
  }
  Fault wrmsr(u32 address, u64 value) override {
    let_others_go_on();
    if (bug_.on_write == nullptr) return cpu_.wrmsr(address, value);
    const std::optional<u64> written = bug_.on_write({address, value, in_handler()});
    return written ? cpu_.wrmsr(address, *written) : Fault::none;
  }
  FaultOr<u64> rdpmc(u32 counter) override {
    let_others_go_on();
    return cpu_.rdpmc(bug_.on_rdpmc != nullptr ? bug_.on_rdpmc(counter) : counter);
  }
  CpuidResult cpuid(u32 leaf, u32 subleaf) override { return cpu_.cpuid(leaf, subleaf); }
  u64 rdtsc() override { return cpu_.rdtsc(); }
  Fault read_memory(u64 address, std::span<std::byte> out) override {
    let_others_go_on();
    return cpu_.read_memory(address, out);
  }
  Fault write_memory(u64 address, std::span<const std::byte> in) override {
    let_others_go_on();
    if (bug_.loses != nullptr && bug_.loses({address, 0, in_handler()})) return Fault::none;
    return cpu_.write_memory(address, in);
  }
  bool map_memory(u64 address, u64 bytes) override { return cpu_.map_memory(address, bytes); }
  std::span<std::byte> memory(u64 address, u64 bytes) override {
    let_others_go_on();
    return cpu_.memory(address, bytes);
  }
  bool map_memory_at(u64 address, u64 physical, u64 bytes) override {
    return cpu_.map_memory_at(address, physical, bytes);
  }
  Fault xsaves(u64 address, u64 features) override { return cpu_.xsaves(address, features); }
  Fault xrstors(u64 address, u64 features) override { return cpu_.xrstors(address, features); }
  FaultOr<u64> xgetbv(u32 ecx) override { return cpu_.xgetbv(ecx); }
  Fault xsetbv(u32 ecx, u64 value) override { return cpu_.xsetbv(ecx, value); }

 private:
  bool in_handler() const { return cpu_.pmu().in_pmi_handler(); }
  void let_others_go_on() const {
    if (meanwhile_ && in_handler()) meanwhile_();
  }

  explore::Cpu& cpu_;
  const Bug& bug_;
  std::function<void()> meanwhile_;
};

inline bool is_in_v6(u64 address, u32 first, u64 counters) {
  return address >= first && address < first + counters * msr::V6_STRIDE &&
         (address - first) % msr::V6_STRIDE == 0;
}
inline bool is_intel_select(u64 address) {
  return (address >= msr::PERFEVTSEL0 && address < msr::PERFEVTSEL0 + 8) ||
         is_in_v6(address, msr::V6_GP0_CFG_A, 16);
}
inline bool is_intel_counter(u64 address) {
  const auto is_in = [&](u32 first, u32 count) { return address >= first && address < first + count; };
  return is_in(msr::PMC0, 8) || is_in(msr::A_PMC0, 8) || is_in(msr::FIXED_CTR0, 4) ||
         is_in_v6(address, msr::V6_GP0_CTR, 16) || is_in_v6(address, msr::V6_FX0_CTR, 16);
}
inline bool is_amd_select(u64 address) {
  return address >= msr::amd::CTL0 && address < msr::amd::CTL0 + 12 && address % 2 == 0;
}

/// Bugs of both vendors' drivers: a counter that is stopped runs on, and another one is read.
inline std::optional<u64> left_enabled(const Access& a) {
  const bool is_select = is_intel_select(a.address) || is_amd_select(a.address);
  return is_select && a.value != 0 ? a.value | msr::evtsel::EN : a.value;
}
inline u32 neighbour(u32 counter) { return counter ^ 1; }

/// Interrupts of counters alone: an NMI that is nobody's is then the driver's fault.
inline const explore::Options late_overflows{
    .most_pmis = 1, .causes = {explore::Cause::overflow}, .greatest_delay = 16};

/// What comes to light of the bug while two events come and go.
template <class CoreDriver>
Result<explore::Report, Error> report_of(const Bug& bug, const explore::Options& options = late_overflows) {
  return explore::explore(
      Pmu(*find_cpu_model(bug.model)),
      [&](explore::Cpu& cpu) {
        ExploredRig<CoreDriver, BuggyCpu> rig(cpu, BuggyCpu(cpu, bug));
        come_and_go(cpu, rig);
        rig.check(rig.driver.statistics().unhandled_interrupts == 0, "an NMI is nobody's");
      },
      options);
}

}  // namespace pmusim::driver

#endif
