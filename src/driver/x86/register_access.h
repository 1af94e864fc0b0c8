// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_X86_REGISTER_ACCESS_H
#define PMUSIM_SRC_DRIVER_X86_REGISTER_ACCESS_H

#include "pmusim/base/bus.h"
#include "pmusim/driver/drivers.h"

namespace pmusim::driver {

/// The driver's one way to registers and to memory that it shares with the PMU: `Bus`, with an account of
/// every access that faults.
///
/// A driver accesses what enumeration said is there, so that a fault means that the two disagree, and that
/// counts and samples may be wrong. Nobody has to look at each result: the account says it in the end. What
/// may fault as an answer (is there such a register?) goes through `probe()`.
class RegisterAccess {
 public:
  /// `bus` must outlive it.
  explicit RegisterAccess(Bus& bus) : bus_(bus) {}
  RegisterAccess(const RegisterAccess&) = delete;
  RegisterAccess& operator=(const RegisterAccess&) = delete;

  /// RDMSR; 0 where it faults.
  u64 read(u32 address) { return rdmsr(address).value_or(0); }
  FaultOr<u64> rdmsr(u32 address) { return noted(bus_.rdmsr(address), {BusAccess::rdmsr, address}); }
  Fault wrmsr(u32 address, u64 value) {
    return noted(bus_.wrmsr(address, value), {BusAccess::wrmsr, address, value});
  }
  FaultOr<u64> rdpmc(u32 ecx) { return noted(bus_.rdpmc(ecx), {BusAccess::rdpmc, ecx}); }
  Fault xsaves(u64 address, u64 features) {
    return noted(bus_.xsaves(address, features), {BusAccess::xsaves, address, features});
  }
  Fault xrstors(u64 address, u64 features) {
    return noted(bus_.xrstors(address, features), {BusAccess::xrstors, address, features});
  }
  Fault read_memory(u64 address, std::span<std::byte> out) {
    return noted(bus_.read_memory(address, out), {BusAccess::read_memory, address});
  }
  Fault write_memory(u64 address, std::span<const std::byte> in);
  /// A view of `bytes` bytes that hardware has written.
  std::span<std::byte> memory(u64 address, u64 bytes);

  /// The bus itself: for questions whose answer may be a fault, for CPUID and for mapping memory.
  Bus& probe() { return bus_; }

  /// Accounts for what was read without a fault and cannot be true, such as a pointer to nowhere.
  void note(const BusFault& fault);
  const BusFaults& faults() const { return faults_; }

 private:
  Fault noted(Fault result, const BusFault& access) {
    if (result != Fault::none) note(access);
    return result;
  }
  FaultOr<u64> noted(FaultOr<u64> result, const BusFault& access) {
    if (!result.ok()) note(access);
    return result;
  }

  Bus& bus_;
  BusFaults faults_;
};

}  // namespace pmusim::driver

#endif
