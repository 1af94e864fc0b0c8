// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "pmusim/pmu/pmu.h"
#include "tests/pmu/amd_conformance_table.h"
#include "tests/pmu/conformance_table.h"

namespace pmusim::conformance_test {
namespace {

using conformance::Kind;
using conformance::Row;

/// The rows of one model by address.
using Expected = std::map<u32, const Row*>;

Expected rows_of(std::string_view model, const std::vector<Row>& table) {
  Expected rows;
  for (const Row& row : table) {
    for (const std::string_view group : row.groups) {
      if ((" " + std::string(group) + " ").find(" " + std::string(model) + " ") == std::string::npos)
        continue;
      for (unsigned i = 0; i < row.count; ++i) {
        const bool fresh = rows.emplace(row.address + i * row.stride, &row).second;
        EXPECT_TRUE(fresh) << "the table describes " << std::hex << row.address << " of " << model
                           << " twice";
      }
    }
  }
  return rows;
}

/// Writes and reads the registers of one model and compares with the table.
class Checker {
 public:
  Checker(const CpuModel& model, const Expected& expected)
      : name_(model.name), pristine_(model), expected_(expected) {}

  void check(u32 first, u32 last) {
    for (u32 address = first; address <= last; ++address) check(address);
  }
  unsigned checks() const { return checks_; }

 private:
  void check(u32 address) {
    const auto found = expected_.find(address);
    if (found == expected_.end())
      check_absent(address);
    else
      check_register(address, *found->second);
  }

  void check_absent(u32 address) {
    expect(!pristine_.rdmsr(address).ok(), address, "RDMSR must fault: no such register");
    expect(pristine_.wrmsr(address, 0) == Fault::gp, address, "WRMSR must fault: no such register");
  }

  void check_register(u32 address, const Row& row) {
    const auto reset = pristine_.rdmsr(address);
    if (row.kind == Kind::command)
      expect(!reset.ok(), address, "RDMSR must fault: write-only");
    else
      expect(reset.ok() && *reset == row.reset, address, "the value after RESET is wrong");
    if (row.kind == Kind::constant)
      expect(pristine_.wrmsr(address, row.reset) == Fault::gp, address, "is read-only");
    for (unsigned n = 0; n < 64; ++n) check_bit(address, row, n);
  }

  void check_bit(u32 address, const Row& row, unsigned n) {
    const u64 written = row.kind == Kind::toggle ? row.reset ^ bit(n) : bit(n);
    const bool legal = row.kind == Kind::legacy_counter || (row.writable & bit(n)) != 0;
    Pmu pmu = pristine_;
    const Fault fault = pmu.wrmsr(address, written);
    expect(fault == (legal ? Fault::none : Fault::gp), address,
           fmt::format("WRMSR of bit {} must {}", n, legal ? "not fault" : "fault"));
    if (row.kind == Kind::command) return;
    const auto value = pmu.rdmsr(address);
    const u64 wanted = legal ? value_after(row, written) : row.reset;
    expect(value.ok() && ((*value ^ wanted) & ~row.undefined) == 0, address,
           fmt::format("after a write of bit {} reads {:#x}, not {:#x}", n, value.value_or(0), wanted));
  }

  static u64 value_after(const Row& row, u64 written) {
    switch (row.kind) {
      case Kind::legacy_counter:
        return ((written & 0xFFFFFFFF) | ((written & 0x80000000) != 0 ? 0xFFFFFFFF00000000 : 0)) &
               row.writable;
      case Kind::write_one:
        return 0;
      default:
        return (written & ~row.not_kept) | (row.kind == Kind::toggle ? row.reset & row.not_kept : 0);
    }
  }

  void expect(bool holds, u32 address, std::string_view what) {
    ++checks_;
    if (!holds && failed_.insert(address).second)
      ADD_FAILURE() << name_ << ", MSR " << std::hex << address << ": " << what;
  }

  std::string name_;
  Pmu pristine_;
  const Expected& expected_;
  unsigned checks_ = 0;
  std::set<u32> failed_;  // one message for each register
};

/// Every address, every bit, every model: does it read, what does it reset to, which bits fault, what sticks.
unsigned check_all(Vendor vendor, const std::vector<Row>& table,
                   const std::vector<std::pair<u32, u32>>& addresses) {
  unsigned checks = 0;
  for (const CpuModel& model : cpu_models(vendor)) {
    const Expected expected = rows_of(model.name, table);
    EXPECT_FALSE(expected.empty()) << "the table does not know " << model.name;
    Checker checker(model, expected);
    for (const auto& [first, last] : addresses) checker.check(first, last);
    checks += checker.checks();
  }
  fmt::print("{} checks\n", checks);
  return checks;
}

TEST(RegisterFile, conformance) {
  EXPECT_GE(check_all(Vendor::intel, conformance::table(), {{0x10, 0x1FFF}, {0xC0000103, 0xC0000103}}),
            130'000u);
}

TEST(AmdRegisterFile, Conformance) {
  EXPECT_GE(check_all(Vendor::amd, conformance::amd_table(),
                      {{0x10, 0x1FFF}, {0xC0000080, 0xC0000400}, {0xC0010000, 0xC0011100}}),
            150'000u);
}

}  // namespace
}  // namespace pmusim::conformance_test
