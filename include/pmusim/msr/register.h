// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MSR_REGISTER_H
#define PMUSIM_MSR_REGISTER_H

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/bus.h"
#include "pmusim/cpu/model.h"

/// What there is to know of the registers of a model without reading them: which exist, their names, fields
/// and writable bits. `Pmu::registers` has the list:
/// @code
/// Pmu pmu(*find_cpu_model("skylake"));
/// for (const Register& r : pmu.registers().all())
///   std::cout << std::hex << r.address << ' ' << r.name() << '\n';
/// @endcode
namespace pmusim {

/// Bits of a register that mean something together.
struct Field {
  u64 mask = 0;  ///< bits(high, low), or the same bit for each of several counters
  std::string_view name;
  /// Bits of the mask that a model has in register `n` of the row. Null: all of them.
  u64 (*on)(const CpuModel&, unsigned n) = nullptr;

  u64 bits_on(const CpuModel& model, unsigned n) const { return on != nullptr ? mask & on(model, n) : mask; }
};

/// The bits that a model has of all these fields together.
inline u64 bits_on(std::span<const Field> fields, const CpuModel& model, unsigned n) {
  u64 all = 0;
  for (const Field& field : fields) all |= field.bits_on(model, n);
  return all;
}

/// One register of one model, as `pmusim msr` shows it.
struct Register {
  u32 address = 0;
  u16 number = 0;           ///< within its row
  u16 stride = 1;           ///< address distance within its row
  std::string_view row;     ///< name of its row, with "{}" for the number
  u32 storage = 0;          ///< the address that this is an alias of, or its own
  bool read_only = true;    ///< every write faults
  bool write_only = false;  ///< every read faults
  u64 writable = 0;         ///< bits that a write may set
  u64 ignored = 0;          ///< bits that a write may set, which it drops
  u64 reset = 0;
  std::span<const Field> fields;
  std::string_view takes;    ///< what a write demands beside its bits: "the address must be canonical"
  std::string_view present;  ///< when the register is there, if not always: "it must be below IA32_LBR_DEPTH"

  /// The SDM's name with its number: "IA32_PMC3".
  std::string name() const;
};

/// The registers that exist on one model, in ascending order of their addresses, each found in constant time.
class RegisterList {
 public:
  std::span<const Register> all() const { return registers_; }
  /// Null where the address faults.
  const Register* find(u32 address) const {
    const unsigned at = place(address);
    return at != absent ? &registers_[at] : nullptr;
  }

 protected:
  static constexpr u16 absent = 0xFFFF;

  /// Takes in the registers, sorted; addresses must differ.
  void set(std::vector<Register> registers);
  /// Where in all() an address is, or `absent`.
  unsigned place(u32 address) const {
    return address < dense_addresses ? places_[address] : place_high(address);
  }

 private:
  static constexpr u32 dense_addresses = 0x2000;
  unsigned place_high(u32 address) const;

  std::vector<Register> registers_;
  std::array<u16, dense_addresses> places_{};
};

}  // namespace pmusim

/// An access of software to a register that faulted, with what decided it. `Pmu::why` makes a sentence of it:
///
///     if (pmu.wrmsr(msr::PERF_GLOBAL_CTRL, bit(4)) != Fault::none) puts(pmu.why().c_str());
///
namespace pmusim::observed {

enum class AccessInstruction : u8 { rdmsr, wrmsr, rdpmc, xgetbv, xsetbv };

/// The rule of the model that an access broke.
enum class FaultRule : u8 {
  exists,      ///< the model has no such register, or counter
  present,     ///< the register is not there in the present state: Register::present
  readable,    ///< it is write-only
  writable,    ///< it is read-only
  reserved,    ///< bits of the value are reserved
  value,       ///< the register does not take the value: Register::takes
  privileged,  ///< ring 0 only, or CR4.PCE
  enabled,     ///< the model has no XSAVE, or CR4.OSXSAVE is clear
};

/// An access that faulted, and changed nothing.
struct AccessFault {
  u64 cycle = 0;
  AccessInstruction access = AccessInstruction::rdmsr;
  u32 address = 0;  ///< of the MSR; ECX of RDPMC, XGETBV and XSETBV
  u64 value = 0;    ///< that was to be written
  Fault fault = Fault::gp;
  FaultRule rule = FaultRule::exists;
  u64 bits = 0;  ///< of the value: those that are reserved
};

}  // namespace pmusim::observed

namespace pmusim {

/// What a counter that runs was programmed to count, as Pmu::counted_events() says it.
struct CountedEvent {
  unsigned counter = 0;  ///< GP n is n, fixed m is 32 + m
  u64 event_select = 0;  ///< the register; 0 of a fixed counter
  u64 extra = 0;         ///< what the register holds that narrows the event down (OFFCORE_RSP, PEBS_FRONTEND)
  std::optional<EventDefinition> event;  ///< nothing: the model has no such event, and the counter stands
};

}  // namespace pmusim

#endif
