#ifndef PMUSIM_MSR_REGISTER_H
#define PMUSIM_MSR_REGISTER_H

#include <array>
#include <span>
#include <string>
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
/// RDMSR order: absent -> #GP; not `present` -> #GP; then `read`. WRMSR: the same, then a set bit outside
/// `writable` -> #GP; then `write`, which may still fault.
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
  /// For a read-only register: bits that the model has. Null: all that `bits` names.
  u64 (*defined)(const CpuModel&, unsigned i) = nullptr;
  /// Value after RESET. Null: 0.
  u64 (*reset)(const CpuModel&, unsigned i) = nullptr;
  u64 (*read)(const void* unit, unsigned i) = nullptr;
  Fault (*write)(void* unit, unsigned i, u64 value) = nullptr;
  std::string_view bits;  ///< one line for `pmusim msr`: what the bits are
};

/// Makes a typed `read` for a unit class: `read_as<LbrStack, [](const LbrStack& l, unsigned i) {...}>`.
template <class U, auto function>
u64 read_as(const void* unit, unsigned i) {
  return function(*static_cast<const U*>(unit), i);
}
/// The same for `present`.
template <class U, auto function>
bool present_as(const void* unit, unsigned i) {
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
    const RegisterSpec* spec = nullptr;
    bool (*present)(const void* unit, unsigned i) = nullptr;      ///< null: always there
    u64 (*read)(const void* unit, unsigned i) = nullptr;          ///< never null
    Fault (*write)(void* unit, unsigned i, u64 value) = nullptr;  ///< null: read-only
    u64 writable = 0;                                             ///< computed for this model
    u64 defined = 0;  ///< `writable`; for a read-only register the bits that this model has
    u64 reset = 0;
    u32 address = 0;
    u16 number = 0;  ///< within the row
    Unit owner = Unit::control;
  };

  /// `rows` of all units, one after the other; rows that do not exist on `model` are left out.
  RegisterMap(const CpuModel& model, std::span<const std::span<const RegisterSpec>> rows);

  /// Null where the address faults.
  const Entry* find(u32 address) const {
    if (address >= dense_addresses) return find_high(address);
    const u16 n = index_[address];
    return n != 0 ? &entries_[n - 1u] : nullptr;
  }
  /// In ascending address order.
  std::span<const Entry> entries() const { return entries_; }

 private:
  static constexpr u32 dense_addresses = 0x2000;
  const Entry* find_high(u32 address) const;

  std::vector<Entry> entries_;
  std::array<u16, dense_addresses> index_{};  // address -> entry + 1
};

/// The SDM's name with its number: "IA32_PMC3".
std::string register_name(const RegisterMap::Entry& entry);

/// RDMSR of `entry` (null: an address that does not exist), whose state is in `unit`.
inline Faulty<u64> read_register(const RegisterMap::Entry* entry, const void* unit) {
  if (entry == nullptr || (entry->present != nullptr && !entry->present(unit, entry->number)))
    return Failure(Fault::gp);
  return entry->read(unit, entry->number);
}
/// WRMSR to `entry` (null: an address that does not exist), whose state is in `unit`.
[[nodiscard]] Fault write_register(const RegisterMap::Entry* entry, void* unit, u64 value);

}  // namespace pmusim

#endif
