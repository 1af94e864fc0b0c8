// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MSR_ROW_H
#define PMUSIM_MSR_ROW_H

#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pmusim/base/bus.h"
#include "pmusim/cpu/model.h"
#include "pmusim/msr/register.h"

/// What there is to say of a register, said in one place. A unit declares a family of its registers as a
/// static member function, so that a row reaches the unit's private state and nothing else does:
///
///     Rows<Thermometer> Thermometer::readings() {
///       using T = Thermometer;
///       static constexpr Field fields[] = {{bits(6, 0), "degrees"}, {bit(31), "valid"}};
///       static constexpr Row<T> rows[] = {
///           // IA32_THERM_STATUS (SDM vol. 4).
///           {.address = 0x19C,
///            .name = "IA32_THERM_STATUS",
///            .exists = [](const CpuModel& m, unsigned) { return m.has_thermometer; },
///            .fields = fields,
///            .read = read_word<&T::status_>,
///            .write = write_word<&T::status_>},
///       };
///       return rows;
///     }
namespace pmusim {

/// Which register of a row an access is to, and when it happens.
struct At {
  unsigned n = 0;  ///< number within the row
  u64 cycle = 0;   ///< absolute core cycle
};

/// For `Row::of_core`: filters of events and branches were the core's before they were the thread's.
inline bool are_filters_of_core(const CpuModel& model) { return model.smt_shared_filters; }

/// All bits if a condition holds, otherwise none: for `Field::on`.
constexpr u64 all_if(bool holds) { return holds ? ~u64{0} : 0; }

/// An MSR of a unit, or a numbered row of MSRs (IA32_PMC0, IA32_PMC1, ...), as data.
///
/// RDMSR: absent -> #GP; not `present` -> #GP; then `read`. WRMSR: the same, then a set bit that is neither
/// `writable` nor `ignored` -> #GP; then `write`, which may still fault, and then must not have changed
/// anything.
template <class Unit>
struct Row {
  u32 address = 0;
  u16 count = 1;          ///< registers in the row
  u16 stride = 1;         ///< address distance within the row
  std::string_view name;  ///< SDM name; "{}" stands for the number: "IA32_PMC{}"
  /// Address of the row whose registers these are too, by number; 0: none. An alias takes over what it does
  /// not say itself: `present`, `reset`, `fields`, `read`, and `write` together with `writable` and
  /// `takes`.
  u32 alias_of = 0;
  /// False: RDMSR and WRMSR fault on this model. Null: always there.
  bool (*exists)(const CpuModel&, unsigned n) = nullptr;
  /// False: both fault in the unit's current state (LBR entries at or above LBR_DEPTH). Null: always there.
  bool (*present)(const Unit&, unsigned n) = nullptr;
  /// Value after RESET. Null: 0.
  u64 (*reset)(const CpuModel&, unsigned n) = nullptr;
  std::span<const Field> fields;
  /// Bits that software may set; the rest is reserved. Null: the bits of the fields.
  u64 (*writable)(const CpuModel&, unsigned n) = nullptr;
  /// Bits that software may set, and that are dropped: `write` never sees them. Null: none.
  u64 (*ignored)(const CpuModel&, unsigned n) = nullptr;
  u64 (*read)(const Unit&, At) = nullptr;          ///< null: write-only, every read faults
  Fault (*write)(Unit&, At, u64 value) = nullptr;  ///< null: read-only, every write faults
  /// What `write` and `present` demand, as sentences: there if these can say no.
  std::string_view takes{}, present_if{};
  /// Whether the threads of a core have one together: a write of either is one of both. Null: never.
  bool (*of_core)(const CpuModel&) = nullptr;
  /// Nothing is derived from this register: a write need not be followed by `derive()`.
  bool is_data = false;
};

/// Registers of a unit that belong together.
template <class Unit>
using Rows = std::span<const Row<Unit>>;
/// All registers of a unit on parts of a vendor: the answer of its `registers(vendor)`.
template <class Unit>
using RowFamilies = std::vector<Rows<Unit>>;

namespace detail {

template <class Unit, class Member>
Unit owner_of(Member Unit::*);
template <auto member>
using Owner = decltype(owner_of(member));
template <auto member>
using Word = std::remove_cvref_t<decltype(std::declval<Owner<member>&>().*member)>;

/// The member, or its element `first + n` where it is an array.
template <auto member, unsigned first, class Unit>
constexpr auto& word(Unit& unit, unsigned n) {
  if constexpr (std::is_integral_v<Word<member>>)
    return unit.*member;
  else
    return (unit.*member)[first + n];
}
template <auto member, unsigned first>
u64 load_word(const Owner<member>& unit, At at) {
  return word<member, first>(unit, at.n);
}
template <auto member, unsigned first>
Fault store_word(Owner<member>& unit, At at, u64 value) {
  auto& target = word<member, first>(unit, at.n);
  target = static_cast<std::remove_cvref_t<decltype(target)>>(value);
  return Fault::none;
}

}  // namespace detail

/// `Row::read` of a register that is a member of its unit, or element `first + n` of one that is an array.
template <auto member, unsigned first = 0>
inline constexpr auto read_word = &detail::load_word<member, first>;
/// `Row::write` of such a register.
template <auto member, unsigned first = 0>
inline constexpr auto write_word = &detail::store_word<member, first>;

}  // namespace pmusim

#endif
