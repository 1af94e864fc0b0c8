// SPDX-License-Identifier: MIT
#include "pmusim/perf/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pmusim::perf {

namespace {

/// In the order of `Kernel`.
constexpr std::array<std::string_view, 9> names{"6.12", "6.14", "6.15",        "6.16", "6.19",
                                                "7.0",  "7.1",  "7.1-simd-v7", "7.4"};

struct ChangeRow {
  Change change;
  Kernel since;
  bool in_stable_6_12 = false;  ///< reached 6.12 by way of its stable series
};

constexpr std::array changes{
    ChangeRow{Change::drain_in_record_order, Kernel::v6_14},
    ChangeRow{Change::overflow_before_rearming, Kernel::v6_14},
    ChangeRow{Change::counter_snapshots, Kernel::v6_15},
    ChangeRow{Change::branch_stack_limit, Kernel::v6_15},
    ChangeRow{Change::group_throttling, Kernel::v6_16},
    ChangeRow{Change::auto_counter_reload, Kernel::v6_16},
    ChangeRow{Change::cougar_cove, Kernel::v6_16},
    ChangeRow{Change::arch_pebs, Kernel::v6_19},
    ChangeRow{Change::rdpmc_user_disable, Kernel::v7_0},
    ChangeRow{Change::panther_cove, Kernel::v7_0},
    ChangeRow{Change::kernel_chains_need_rights, Kernel::v7_4, true},
    ChangeRow{Change::user_branches_start_in_user_code, Kernel::v7_1, true},
};

const ChangeRow& row_of(Change change) { return *std::ranges::find(changes, change, &ChangeRow::change); }

}  // namespace

bool has(Kernel kernel, Change change) {
  const ChangeRow& row = row_of(change);
  return kernel >= row.since || (kernel == Kernel::v6_12 && row.in_stable_6_12);
}

std::string_view name_of(Kernel kernel) { return names[static_cast<std::size_t>(kernel)]; }

Result<Kernel, Error> find_kernel(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    return Failure(Error(
        fmt::format("kernel '{}': none of those that can be emulated: {}", name, fmt::join(names, ", "))));
  return static_cast<Kernel>(found - names.begin());
}

std::vector<std::string_view> kernel_names() { return {names.begin(), names.end()}; }

std::string first_release_with(Change change) {
  return fmt::format("Linux {}", name_of(row_of(change).since));
}

}  // namespace pmusim::perf
