#ifndef PMUSIM_MSR_REGISTER_H
#define PMUSIM_MSR_REGISTER_H

#include <span>
#include <string_view>
#include <vector>

#include "pmusim/base/fault.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// The hardware unit that holds a register's state.
enum class Unit : u8 { counters, control, lbr, pebs, acr, count_ };

/// An MSR, or a numbered row of MSRs (IA32_PMC0, IA32_PMC1, ...), as data: everything about an address stands
/// in one of these. `unit` pointers are to the owner's state; `i` is the number within the row.
///
/// RDMSR order: absent -> #GP; not `present` -> #GP; then `read`. WRMSR: the same, then a set bit outside `writable` -> #GP; then `write`, which may still fault.
struct RegisterSpec {
  u32 address = 0;
  u16 count = 1;          ///< registers in the row
  u16 stride = 1;         ///< address distance within the row
  std::string_view name;  ///< SDM name; "{}" stands for the number: "IA32_PMC{}"
  Unit owner = Unit::control;
  /// False: RDMSR and WRMSR fault on this model. Null: always there.
  bool (*exists)(const CpuModel&, unsigned i) = nullptr;
  /// False: both fault in the unit's current state (LBR entries at or above LBR_DEPTH). Null: always there.
  bool (*present)(const void* unit, unsigned i) = nullptr;
  /// Bits that software may set; the rest is reserved. Null: read-only, every write faults.
  u64 (*writable)(const CpuModel&, unsigned i) = nullptr;
  /// Value after RESET. Null: 0.
  u64 (*reset)(const CpuModel&, unsigned i) = nullptr;
  u64 (*read)(const void* unit, unsigned i) = nullptr;
  Fault (*write)(void* unit, unsigned i, u64 value) = nullptr;
  std::string_view bits;  ///< one line for `pmusim msr`: what the bits are
};

/// Makes a typed `read` for a unit class: `read_as<LbrStack, [](const LbrStack& l, unsigned i) {...}>`.
template <class U, auto function>
bool present_as(const void* unit, unsigned i) {
  return function(*static_cast<const U*>(unit), i);
}
template <class U, auto function>
u64 read_as(const void* unit, unsigned i) {
  return function(*static_cast<const U*>(unit), i);
}
/// The same for `write`; the function returns Fault.
template <class U, auto function>
Fault write_as(void* unit, unsigned i, u64 value) {
  return function(*static_cast<U*>(unit), i, value);
}

/// The registers that exist on one model: address -> (spec, number), in constant time.
class RegisterMap {
 public:
  struct Entry {
    u32 address = 0;
    const RegisterSpec* spec = nullptr;
    u16 number = 0;    ///< within the row
    u64 writable = 0;  ///< computed for this model
    u64 reset = 0;
  };

  /// `rows` of all units, one after the other; rows that do not exist on `model` are left out.
  RegisterMap(const CpuModel& model, std::span<const std::span<const RegisterSpec>> rows);

  /// Null where the address faults.
  const Entry* find(u32 address) const;
  /// In ascending address order.
  std::span<const Entry> entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::vector<u16> index_;  // address -> entry + 1, for the dense low range
};

}  // namespace pmusim

#endif
