// SPDX-License-Identifier: MIT
// Every row of every core (Linux: intel_*_event_constraints), in a notation of its own.
//
// EVENT, EVENT/UMASK, FIRST-LAST (events), EVENT&BITS (any umask with these bits), "any" -> GP mask, FXn,
// FXn+W (W: all general counters), Mn (topdown metric n). The first row that matches counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <random>
#include <set>
#include <sstream>

#include "driver/intel/scheduling/constraint_book.h"
#include "driver/x86/scheduler.h"

namespace pmusim::driver::constraint_tables_test {
namespace {

using enum Microarchitecture;

enum class WithoutPebsRow : u8 { refused, main_table };

constexpr u64 two_gp = 0x7'0000'0003, four_gp = 0x7'0000'000F, six_gp = 0x7'0000'003F,
              eight_gp = 0x7'0000'00FF, with_slots = 0xF'0000'00FF, ten_gp = 0xF'0000'03FF,
              skymont_counters = 0x77'0000'00FF;

// The rows that all cores with three fixed counters have.
constexpr const char* three_fixed = "C0/00 -> FX0+W; 3C/00 -> FX1+W; 00/03 -> FX2;";
constexpr const char* golden_cove_fixed =
    "C0/00 -> FX0+W; 3C/00 -> FX1+W; 00/03 -> FX2; 00/01 -> FX0; 3C/01 -> FX2+W; 00/04 -> FX3;"
    "00/80 -> M0; 00/81 -> M1; 00/82 -> M2; 00/83 -> M3; 00/84 -> M4; 00/85 -> M5; 00/86 -> M6; 00/87 -> M7;";
// Since Linux 7.3 each fixed counter has the code of event 00 with its own number, plus one, as umask.
constexpr const char* all_codes_of_golden_cove =
    "C0/00 -> FX0+W; 3C/00 -> FX1+W; 3C/01 -> FX2+W; 00/01 -> FX0; 00/02 -> FX1; 00/03 -> FX2; 00/04 -> FX3;"
    "00/80 -> M0; 00/81 -> M1; 00/82 -> M2; 00/83 -> M3; 00/84 -> M4; 00/85 -> M5; 00/86 -> M6; 00/87 -> M7;";
constexpr const char* all_codes_of_gracemont =
    "C0/00 -> FX0+W; 3C/00 -> FX1+W; 3C/01 -> FX2+W; 00/01 -> FX0; 00/02 -> FX1; 00/03 -> FX2;";
constexpr const char* all_codes_of_skymont =
    "C0/00 -> FX0+W; 3C/00 -> FX1+W; 3C/01 -> FX2+W; 73/00 -> FX4+W; 9C/01 -> FX5+W; C2/02 -> FX6+W;"
    "00/01 -> FX0; 00/02 -> FX1; 00/03 -> FX2; 00/05 -> FX4; 00/06 -> FX5; 00/07 -> FX6;";
constexpr const char* skymont_fixed =
    "C0/00 -> FX0+W; 3C/00 -> FX1+W; 00/03 -> FX2; 3C/01 -> FX2+W; 73/00 -> FX4+W; 9C/01 -> FX5+W;"
    "C2/02 -> FX6+W;";

constexpr const char* sandy_bridge_main =
    "A3/04, A3/05 -> F; A3/02, A3/06 -> 4; 48 -> 4; C0/01 -> 2; CD -> 8; D0-D3 -> F";
constexpr const char* ivy_bridge_main =
    "48/01 -> 4; 79/02, 9C/01 -> F; A3/02, A3/04, A3/05, A3/06 -> F; A3/08, A3/0C -> 4; C0/01 -> 2; D0-D3 -> "
    "F";
constexpr const char* sandy_bridge_pebs = "C0/01 -> 2; CD/01, CD/02 -> 8; D0-D3 -> F; any -> F";
constexpr const char* haswell_pebs = "C0/01 -> 2; CD/01 -> F; D0-D3 -> F; any -> F";
constexpr const char* golden_cove_main =
    "2E, 3C -> FF; 01-8F -> F; A3/01, A3/02, A3/08 -> F; A4/04, A4/08 -> 1; CD/02 -> 1; CE -> 1; D0-DF -> F;"
    "90-FE -> FF";
constexpr const char* golden_cove_pebs =
    "00/01 -> FX0; 00/04 -> FX3; C0 -> FE; CD/01 -> FE; CD/02 -> 1; D0-D4 -> F";
constexpr const char* lion_cove_main =
    "20 -> F; 2A/01, 2B/01 -> F; 48/01, 75/01 -> 4; 2E, 3C -> 3FF; A3/08, A3/0C -> 4; A4/04, A4/08 -> 1;"
    "A4/10 -> 8; B1/01 -> 8; CD/01 -> 3FC; CD/02 -> 3; D0/87 -> 3FF; D0-DF -> F; E0/00 -> F";
constexpr const char* lion_cove_pebs =
    "00/01 -> FX0; 00/04 -> FX3; 2A/01, 2B/01 -> 1; CD/01 -> 3FC; CD/02 -> 3";
constexpr const char* panther_cove_main =
    "20, 79 -> F; 75/02, 76/01 -> F; A4/04, A4/08 -> 1; CD/01 -> FC; CD/02 -> 3; CE -> 1;"
    "D0, D1, D4, D6, DF -> F; B1/01 -> 8; B2/01, B2/02 -> F;"
    "46/04, 46/08, 47/08, 48/01 -> F";
constexpr const char* panther_cove_pebs = "CD/01 -> FC; CD/02 -> 3";
constexpr const char* golden_cove_main_in_7_3 =
    "2E, 3C -> FF; 01-8F -> F; A3/01, A3/02, A3/05, A3/06, A3/08, A3/0C -> F; A4/04, A4/08 -> 1; CD/01 -> FE;"
    "CD/02 -> 1; CE -> 1; D0-DF -> F; 90-FE -> FF";
constexpr const char* golden_cove_pebs_in_7_3 = "C0 -> FE; CD/01 -> FE; CD/02 -> 1; D0-D4 -> F";
constexpr const char* lion_cove_main_in_7_3 =
    "20 -> F; 48/01, 75/01 -> 4; 2E, 3C -> 3FF; A3/08, A3/0C -> 4; A4/04, A4/08 -> 1; A4/10 -> 8; B1/01 -> 8;"
    "CD/01 -> 3FC; CD/02 -> 3; D0/87 -> 3FF; D0-DF -> F";
constexpr const char* lion_cove_pebs_in_7_3 = "2A/01, 2B/01 -> 1; CD/01 -> 3FC; CD/02 -> 3";
constexpr const char* crestmont_pebs_in_7_3 = "D0/05 -> 3; D0/06 -> FF";
constexpr const char* darkmont_pebs = "D0/05, D0/06 -> FF";
constexpr const char* gracemont_pebs = "D0/05 -> 3; D0/06 -> 3F";

std::string both(const char* fixed, const char* main) { return std::string(fixed) + main; }

struct Table {
  Microarchitecture which;
  u64 counters;
  std::string main, pebs;
  WithoutPebsRow otherwise;
  perf::Kernel kernel = perf::Kernel::v7_1;
};

void PrintTo(const Table& table, std::ostream* out) { *out << table.main << " precise: " << table.pebs; }

std::vector<Table> tables() {
  using enum WithoutPebsRow;
  const std::string
      golden_cove = both(golden_cove_fixed, golden_cove_main),
      lion_cove_all = both(golden_cove_fixed, lion_cove_main),
      lion_cove_in_7_3 = both(all_codes_of_golden_cove, lion_cove_main_in_7_3),
      golden_cove_in_7_3 = both(all_codes_of_golden_cove, golden_cove_main_in_7_3),
      panther_cove_all = both(all_codes_of_golden_cove, panther_cove_main),
      ice_lake_main =
          "C0/01 -> FX0+W; 00/01 -> FX0; 00/04 -> FX3; 00/80 -> M0; 00/81 -> M1; 00/82 -> M2;"
          "00/83 -> M3; 03-0A, 1F-28 -> F; 32 -> F; 48-56, 60-8B -> F; A3/04, A3/10, A3/14 -> FF;"
          "A3 -> F; A8-B0, B7-BD, D0-E6, EF, F0-F4 -> F",
      gracemont_main = both(three_fixed, "3C/01 -> FX2+W");
  return {
      {core2, two_gp, both(three_fixed, "10, 14, 18, A1, C9, CB -> 1; 11, 12, 13, 19 -> 2"),
       "C0/00, C1/FE, C5/00, C7/1F, CB -> 1", refused},
      {nehalem, four_gp, both(three_fixed, "40-43, 48, 4E, 51, 63 -> 3"),
       "0B/10, 0F, 0C/01, C0, C2, C4, C5/02, C7, C8/20, CB, F7 -> F", refused},
      {westmere, four_gp, both(three_fixed, "51 -> 3; 60 -> 1; 63 -> 3; B3 -> 1"),
       "0B/10, 0F, 0C/01, C0, C2, C4, C5, C7, C8/20, CB, F7 -> F", refused},
      {sandy_bridge, eight_gp, both(three_fixed, sandy_bridge_main), sandy_bridge_pebs, refused},
      {ivy_bridge, eight_gp, both(three_fixed, ivy_bridge_main), sandy_bridge_pebs, refused},
      {haswell, eight_gp,
       both(three_fixed, "48/01 -> 4; C0/01 -> 2; CD -> 8; A3/08, A3/0C -> 4; A3/04 -> F; D0-D3 -> F"),
       haswell_pebs, refused},
      {broadwell, eight_gp, both(three_fixed, "48/01 -> 4; A3&08 -> 4; D0, D1, D2, CD -> F"), haswell_pebs,
       refused},
      {skylake, eight_gp, both(three_fixed, "C0/01 -> 2; D0, D1, D2, CD, C6 -> F"), haswell_pebs, refused},
      {skylake_x, eight_gp, both(three_fixed, "C0/01 -> 2; D0, D1, D2, CD, C6 -> F"), haswell_pebs, refused},
      {ice_lake, with_slots, both(three_fixed, ice_lake_main.c_str()),
       "C0/01, 00/01 -> FX0; 00/04 -> FX3; CD/01 -> FF; D0-D4 -> F", main_table},
      {Microarchitecture::golden_cove, with_slots, golden_cove, golden_cove_pebs, main_table},
      {redwood_cove, with_slots, golden_cove, golden_cove_pebs, main_table},
      {lion_cove, ten_gp, lion_cove_all, lion_cove_pebs, main_table},
      {cougar_cove, ten_gp, lion_cove_in_7_3, lion_cove_pebs_in_7_3, main_table},
      {panther_cove, ten_gp, panther_cove_all, panther_cove_pebs, main_table},
      {coyote_cove, ten_gp, panther_cove_all, panther_cove_pebs, main_table},
      {bonnell, two_gp, three_fixed, "any -> 1", refused},
      {silvermont, two_gp, three_fixed, "any -> 1", refused},
      {knights_landing, two_gp, three_fixed, "any -> 1", refused},
      {goldmont, four_gp, three_fixed, "any -> 1", refused},
      {goldmont_plus, four_gp, three_fixed, "", main_table},
      {tremont, four_gp, three_fixed, "", main_table},
      {gracemont, six_gp, gracemont_main, gracemont_pebs, main_table},
      {crestmont, eight_gp, gracemont_main, gracemont_pebs, main_table},
      {skymont, skymont_counters, skymont_fixed, gracemont_pebs, main_table},
      {darkmont, skymont_counters, all_codes_of_skymont, darkmont_pebs, main_table},
      {arctic_wolf, skymont_counters,
       both(all_codes_of_skymont,
            "B7/01 -> 1; B7/02 -> 2; B7/04 -> 4; B7/08 -> 8; 75/01 -> 1; 75/02 -> 2; D3/21, D3/22 -> 1"),
       darkmont_pebs, main_table},
      {unknown, 0x7FFF'0000'00FF,
       both(three_fixed,
            "00/04 -> FX3; 00/05 -> FX4; 00/06 -> FX5; 00/07 -> FX6; 00/08 -> FX7; 00/09 -> FX8;"
            "00/0A -> FX9; 00/0B -> FX10; 00/0C -> FX11; 00/0D -> FX12; 00/0E -> FX13; 00/0F -> FX14;"
            "00/10 -> FX15"),
       "", refused},
      {ice_lake, with_slots, both("00/02 -> FX1;", both(three_fixed, ice_lake_main.c_str()).c_str()),
       "CD/01 -> FF; D0-D4 -> F", main_table, perf::Kernel::v7_3},
      {Microarchitecture::golden_cove, with_slots, golden_cove_in_7_3, golden_cove_pebs_in_7_3, main_table,
       perf::Kernel::v7_3},
      {redwood_cove, with_slots, golden_cove_in_7_3, golden_cove_pebs_in_7_3, main_table, perf::Kernel::v7_3},
      {lion_cove, ten_gp, lion_cove_in_7_3, lion_cove_pebs_in_7_3, main_table, perf::Kernel::v7_3},
      {gracemont, six_gp, all_codes_of_gracemont, gracemont_pebs, main_table, perf::Kernel::v7_3},
      {crestmont, eight_gp, all_codes_of_gracemont, crestmont_pebs_in_7_3, main_table, perf::Kernel::v7_3},
      {skymont, skymont_counters, all_codes_of_skymont, crestmont_pebs_in_7_3, main_table,
       perf::Kernel::v7_3},
      {arctic_wolf, skymont_counters,
       both(all_codes_of_skymont,
            "B7/01 -> 1; B7/02 -> 2; B7/04 -> 4; B7/08 -> 8; 75/01 -> 1; 75/02 -> 2; D3/21, D3/22 -> 1"),
       darkmont_pebs, main_table, perf::Kernel::v7_3},
  };
}

// --- the notation -----------------------------------------------------------------------------------------

struct Row {
  unsigned first_event = 0, last_event = 0xFF, umask = 0, umask_mask = 0;
  u64 counters = 0;
  bool matches(unsigned event, unsigned other_umask) const {
    return event >= first_event && event <= last_event && (other_umask & umask_mask) == umask;
  }
};

unsigned number(std::string_view text, int base = 16) {
  unsigned value = 0;
  EXPECT_EQ(std::from_chars(text.data(), text.data() + text.size(), value, base).ptr,
            text.data() + text.size())
      << text;
  return value;
}

u64 counters_named(std::string_view text, u64 gp) {
  if (text.starts_with('M')) return bit(48 + number(text.substr(1), 10));
  if (!text.starts_with("FX")) return number(text);
  const bool widened = text.ends_with("+W");
  text = text.substr(2, text.size() - (widened ? 4 : 2));
  return bit(32 + number(text, 10)) | (widened ? gp : 0);
}

Row row_named(std::string_view text) {
  if (text == "any") return {};
  Row row;
  row.first_event = row.last_event = number(text.substr(0, 2));
  if (text.size() == 2) return row;
  const unsigned operand = number(text.substr(3));
  if (text[2] == '-') return row.last_event = operand, row;
  row.umask = operand;
  row.umask_mask = text[2] == '/' ? 0xFF : operand;
  return row;
}

std::vector<Row> parse(const std::string& table, u64 gp) {
  std::vector<Row> rows;
  std::istringstream statements(table);
  for (std::string statement; std::getline(statements, statement, ';');) {
    std::vector<Row> same;
    std::istringstream words(statement);
    for (std::string word; words >> word && word != "->";) {
      if (word.ends_with(',')) word.pop_back();
      same.push_back(row_named(word));
    }
    std::string counters;
    words >> counters;
    for (Row& row : same) {
      row.counters = counters_named(counters, gp);
      rows.push_back(row);
    }
  }
  return rows;
}

const Row* find(const std::vector<Row>& rows, unsigned event, unsigned umask) {
  for (const Row& row : rows)
    if (row.matches(event, umask)) return &row;
  return nullptr;
}

// --- the comparison ---------------------------------------------------------------------------------------

class ConstraintTable : public testing::TestWithParam<Table> {
 protected:
  const Table& table = GetParam();
  const u64 gp = table.counters & low_bits(32);
  const u64 counters = table.counters | ((table.counters & bit(35)) != 0 ? bits(55, 48) : 0);
  const std::vector<Row> main = parse(table.main, gp), pebs = parse(table.pebs, gp);
  const ConstraintBook book{[&] {
    Enumeration e;
    e.kernel = table.kernel;
    e.microarchitecture = table.which;
    e.perfmon_version = 5;
    e.counters = table.counters;
    e.perf_capabilities = msr::perf_cap::PERF_METRICS;
    return e;
  }()};

  u64 expected_in_main(unsigned event, unsigned umask) const {
    const Row* row = find(main, event, umask);
    return row != nullptr ? row->counters & counters : gp;
  }
  u64 expected_precise(unsigned event, unsigned umask) const {
    if (const Row* row = find(pebs, event, umask)) return row->counters & counters;
    return table.otherwise == WithoutPebsRow::main_table ? expected_in_main(event, umask) : 0;
  }
  u64 found(unsigned event, unsigned umask, unsigned precise) const {
    return book.find({.config = event | u64{umask} << 8, .precise = precise}).counters;
  }
};

/// `visit(event, umask)` for every event, and every umask that a row names and some that none does.
template <class Visit>
void for_each_code(Visit visit) {
  for (unsigned event = 0; event <= 0xFF; ++event)
    for (const unsigned umask :
         {0x00u, 0x01u, 0x02u, 0x03u, 0x04u, 0x05u, 0x06u, 0x07u, 0x08u, 0x09u, 0x0Au, 0x0Bu,
          0x0Cu, 0x0Du, 0x0Eu, 0x0Fu, 0x10u, 0x11u, 0x14u, 0x1Fu, 0x20u, 0x21u, 0x22u, 0x41u,
          0x42u, 0x80u, 0x81u, 0x82u, 0x83u, 0x84u, 0x85u, 0x86u, 0x87u, 0xFEu, 0xFFu})
      visit(event, umask);
}

TEST_P(ConstraintTable, HasTheMainRowsOfTheReferenceAndNoOthers) {
  for_each_code([&](unsigned event, unsigned umask) {
    EXPECT_EQ(found(event, umask, 0), expected_in_main(event, umask)) << std::hex << event << "/" << umask;
  });
}

TEST_P(ConstraintTable, HasThePebsRowsOfTheReferenceAndNoOthers) {
  for_each_code([&](unsigned event, unsigned umask) {
    EXPECT_EQ(found(event, umask, 1), expected_precise(event, umask)) << std::hex << event << "/" << umask;
  });
}

// --- what the tables mean for groups (4.3) ----------------------------------------------------------------

/// A matching by augmenting paths: finds a placement whenever there is one.
class Matching {
 public:
  explicit Matching(const std::vector<u64>& masks) : masks_(masks) { owner_.fill(none); }
  bool complete() {
    for (std::size_t i = 0; i < masks_.size(); ++i) {
      u64 visited = 0;
      if (!place(i, visited)) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  bool place(std::size_t i, u64& visited) {
    for (const unsigned n : set_bits(masks_[i])) {
      if ((visited & bit(n)) != 0) continue;
      visited |= bit(n);
      if (owner_[n] == none || place(owner_[n], visited)) return owner_[n] = i, true;
    }
    return false;
  }
  const std::vector<u64>& masks_;
  std::array<std::size_t, 64> owner_;
};

/// Masks of some cores cross (F and FE, F and 3FC). The greedy search is caught by one pair alone: FX0 or GP
/// 0 against GP 0-1, which Gracemont has, where FX0 is taken.
TEST_P(ConstraintTable, WhatFitsIsPlacedInAnyOrderButForOnePair) {
  constexpr u64 first_fixed = bit(32), distributed = first_fixed | 0x1, load_latency = 0x3;
  std::set<u64> distinct;
  for_each_code([&](unsigned event, unsigned umask) {
    for (const unsigned precise : {0u, 1u, 3u})
      if (const u64 mask = found(event, umask, precise); mask != 0) distinct.insert(mask);
  });
  const std::vector<u64> choice(distinct.begin(), distinct.end());
  std::minstd_rand random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<u64> masks(1 + random() % 12);
    for (u64& mask : masks) mask = choice[random() % choice.size()];
    std::vector<Constraint> constraints;
    for (const u64 mask : masks) constraints.push_back({.counters = mask});
    std::vector<int> assigned(masks.size());
    const bool placed = assign_counters(constraints, 32, assigned), fits = Matching(masks).complete();
    if (placed == fits) continue;
    EXPECT_TRUE(fits);
    EXPECT_EQ(table.which, gracemont);
    EXPECT_GE(std::ranges::count(masks, distributed), 1);
    EXPECT_GE(std::ranges::count(masks, distributed) + std::ranges::count(masks, first_fixed), 2);
    EXPECT_GE(std::ranges::count(masks, load_latency), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, ConstraintTable, testing::ValuesIn(tables()));

}  // namespace
}  // namespace pmusim::driver::constraint_tables_test
