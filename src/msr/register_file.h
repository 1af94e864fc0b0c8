// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MSR_REGISTER_FILE_H
#define PMUSIM_MSR_REGISTER_FILE_H

#include <algorithm>
#include <variant>

#include "msr/row.h"
#include "pmusim/msr/register.h"

namespace pmusim {

/// What a WRMSR did.
struct Written {
  Fault fault = Fault::gp;
  /// Other units may have derived something from the register: time for them to do it again.
  bool steers = false;
  bool of_core = false;  ///< the other thread of the core has the register, too
};

/// The registers that units have on a model, behind their addresses. It holds no state: that is in the units,
/// which every access names, and a row can only be applied to the unit it was written for.
template <class... Units>
class RegisterFile : public RegisterList {
 public:
  explicit RegisterFile(const CpuModel& model);

  /// RDMSR in core cycle `cycle`.
  FaultOr<u64> read(u32 address, u64 cycle, const Units&... units) const {
    const unsigned at = place(address);
    if (at == absent) return Failure(Fault::gp);
    const Port& port = ports_[at];
    FaultOr<u64> value = Failure(Fault::gp);
    const auto read_from = [&]<class Unit>(const Unit& unit) {
      const auto* const access = std::get_if<Access<Unit>>(&port.access);
      if (access != nullptr && access->read != nullptr && access->is_present(unit, port.number))
        value = access->read(unit, {port.number, cycle});
      return access != nullptr;
    };
    static_cast<void>((read_from(units) || ...));
    return value;
  }

  /// Which rule decided that RDMSR, or WRMSR of `value`, faults: it is looked up again, as a fault changes
  /// nothing.
  observed::FaultRule rule_of_read(u32 address, const Units&... units) const {
    using observed::FaultRule;
    const unsigned at = place(address);
    if (at == absent) return FaultRule::exists;
    return is_present(ports_[at], units...) ? FaultRule::readable : FaultRule::present;
  }
  observed::FaultRule rule_of_write(u32 address, u64 value, const Units&... units) const {
    using observed::FaultRule;
    const unsigned at = place(address);
    if (at == absent) return FaultRule::exists;
    if (all()[at].read_only) return FaultRule::writable;
    if ((value & ~ports_[at].accepted) != 0) return FaultRule::reserved;
    return is_present(ports_[at], units...) ? FaultRule::value : FaultRule::present;
  }

  /// The name of the first row of any model that has a register at an address; "" where there is none.
  static std::string name_of_row(u32 address);

  /// WRMSR in core cycle `cycle`. The unit that owns the register has derived afresh what it derives.
  [[nodiscard]] Written write(u32 address, u64 value, u64 cycle, Units&... units) const {
    const unsigned at = place(address);
    if (at == absent) return {};
    const Port& port = ports_[at];
    if ((value & ~port.accepted) != 0) return {};
    value &= port.kept;
    Written written;
    const auto write_to = [&]<class Unit>(Unit& unit) {
      const auto* const access = std::get_if<Access<Unit>>(&port.access);
      if (access != nullptr && access->write != nullptr && access->is_present(unit, port.number)) {
        written.fault = access->write(unit, {port.number, cycle}, value);
        written.steers = written.fault == Fault::none && !port.is_data;
        written.of_core = port.of_core;
        if constexpr (requires { unit.derive(); })
          if (written.steers) unit.derive();
      }
      return access != nullptr;
    };
    static_cast<void>((write_to(units) || ...));
    return written;
  }

 private:
  template <class Unit>
  struct Access {
    bool (*present)(const Unit&, unsigned n);
    u64 (*read)(const Unit&, At);
    Fault (*write)(Unit&, At, u64);
    bool is_present(const Unit& unit, unsigned n) const { return present == nullptr || present(unit, n); }
  };
  /// What an access needs of a register.
  struct Port {
    std::variant<Access<Units>...> access;
    u64 accepted = 0, kept = 0;  // bits that do not fault, and those of them that are not dropped
    u16 number = 0;
    bool is_data = false, of_core = false;
  };
  struct Entry {
    Register description;
    Port port;
  };

  static bool is_present(const Port& port, const Units&... units) {
    const auto of = [&]<class Unit>(const Unit& unit) {
      const auto* const access = std::get_if<Access<Unit>>(&port.access);
      return access != nullptr && access->is_present(unit, port.number);
    };
    return (of(units) || ...);
  }
  template <class Unit>
  static std::string name_in_unit(u32 address);
  template <class Unit>
  static void add(std::vector<Entry>& entries, const CpuModel& model);
  template <class Unit>
  static Entry entry_of(const CpuModel& model, const Row<Unit>& row, unsigned n, u32 storage);

  std::vector<Port> ports_;  // in the order of all()
};

namespace detail {

/// An alias with what it takes over from the row that it is an alias of.
template <class Unit>
Row<Unit> with_original(Row<Unit> alias, const Row<Unit>& original) {
  if (alias.present == nullptr) alias.present = original.present;
  if (alias.reset == nullptr) alias.reset = original.reset;
  if (alias.fields.empty()) alias.fields = original.fields;
  if (alias.read == nullptr) alias.read = original.read;
  if (alias.write == nullptr) {
    alias.write = original.write;
    alias.writable = original.writable;
    alias.ignored = original.ignored;
    alias.takes = original.takes;
  }
  if (alias.present_if.empty()) alias.present_if = original.present_if;
  alias.of_core = original.of_core;
  alias.is_data = original.is_data;
  return alias;
}

}  // namespace detail

template <class... Units>
RegisterFile<Units...>::RegisterFile(const CpuModel& model) {
  std::vector<Entry> entries;
  (add<Units>(entries, model), ...);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.description.address < b.description.address; });
  std::vector<Register> registers;
  for (const Entry& entry : entries) {
    registers.push_back(entry.description);
    ports_.push_back(entry.port);
  }
  set(std::move(registers));
}

template <class... Units>
template <class Unit>
void RegisterFile<Units...>::add(std::vector<Entry>& entries, const CpuModel& model) {
  const RowFamilies<Unit> families = Unit::registers(model.vendor);
  const auto original_of = [&](const Row<Unit>& row) -> const Row<Unit>* {
    for (const Rows<Unit> family : families)
      for (const Row<Unit>& original : family)
        if (row.alias_of != 0 && original.address == row.alias_of) return &original;
    return nullptr;
  };
  for (const Rows<Unit> family : families) {
    for (const Row<Unit>& written : family) {
      const Row<Unit>* const original = original_of(written);
      const Row<Unit> row = original != nullptr ? detail::with_original(written, *original) : written;
      const Row<Unit>& stored = original != nullptr ? *original : row;
      for (unsigned n = 0; n < row.count; ++n)
        if (row.exists == nullptr || row.exists(model, n))
          entries.push_back(entry_of(model, row, n, stored.address + n * stored.stride));
    }
  }
}

template <class... Units>
std::string RegisterFile<Units...>::name_of_row(u32 address) {
  std::string name;
  static_cast<void>((!(name = name_in_unit<Units>(address)).empty() || ...));
  return name;
}

template <class... Units>
template <class Unit>
std::string RegisterFile<Units...>::name_in_unit(u32 address) {
  for (const Vendor vendor : {Vendor::intel, Vendor::amd}) {
    for (const Rows<Unit> family : Unit::registers(vendor)) {
      for (const Row<Unit>& row : family) {
        const u32 distance = address - row.address;  // huge below the row
        if (distance % row.stride == 0 && distance / row.stride < row.count)
          return Register{.number = static_cast<u16>(distance / row.stride), .row = row.name}.name();
      }
    }
  }
  return "";
}

template <class... Units>
template <class Unit>
typename RegisterFile<Units...>::Entry RegisterFile<Units...>::entry_of(const CpuModel& model,
                                                                        const Row<Unit>& row, unsigned n,
                                                                        u32 storage) {
  const u64 writable = row.write == nullptr      ? 0
                       : row.writable != nullptr ? row.writable(model, n)
                                                 : bits_on(row.fields, model, n);
  const u64 ignored = row.ignored != nullptr ? row.ignored(model, n) & ~writable : 0;
  return {.description = {.address = row.address + n * row.stride,
                          .number = static_cast<u16>(n),
                          .stride = row.stride,
                          .row = row.name,
                          .storage = storage,
                          .read_only = row.write == nullptr,
                          .write_only = row.read == nullptr,
                          .writable = writable,
                          .ignored = ignored,
                          .reset = row.reset != nullptr ? row.reset(model, n) : 0,
                          .fields = row.fields,
                          .takes = row.takes,
                          .present = row.present_if},
          .port = {.access = Access<Unit>{row.present, row.read, row.write},
                   .accepted = writable | ignored,
                   .kept = ~ignored,
                   .number = static_cast<u16>(n),
                   .is_data = row.is_data,
                   .of_core = row.of_core != nullptr && row.of_core(model)}};
}

}  // namespace pmusim

#endif
