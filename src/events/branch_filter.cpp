// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "base/suggest.h"
#include "pmusim/events/parser.h"
#include "pmusim/perf/abi.h"

namespace pmusim::events {
namespace {

struct FilterName {
  std::string_view name;
  u64 bits;
};
constexpr auto filter_names = [] {
  using namespace perf::branch;
  return std::to_array<FilterName>({
      {"u", USER},
      {"k", KERNEL},
      {"hv", HV},
      {"any", ANY},
      {"any_call", ANY_CALL},
      {"any_ret", ANY_RETURN},
      {"ind_call", IND_CALL},
      {"abort_tx", ABORT_TX},
      {"in_tx", IN_TX},
      {"no_tx", NO_TX},
      {"cond", COND},
      {"stack", CALL_STACK},
      {"ind_jmp", IND_JUMP},
      {"call", CALL},
      {"no_flags", NO_FLAGS},
      {"no_cycles", NO_CYCLES},
      {"save_type", TYPE_SAVE},
      {"hw_index", HW_INDEX},
      {"priv", PRIV_SAVE},
      {"counter", COUNTERS},
  });
}();

}  // namespace

Result<u64, Error> parse_branch_filter(std::string_view list) {
  u64 bits = 0;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view name = list.substr(begin, end - begin);
    begin = end + 1;
    const auto known = std::ranges::find(filter_names, name, &FilterName::name);
    if (known == std::end(filter_names)) {
      std::vector<std::string_view> names;
      for (const FilterName& f : filter_names) names.push_back(f.name);
      const std::string suggestion = did_you_mean(name, names);
      return Failure(Error(fmt::format(
          "branch filter '{}': unknown name '{}'{}", list, name,
          suggestion.empty() ? fmt::format("; known are {}", fmt::join(names, ", ")) : suggestion)));
    }
    bits |= known->bits;
  }
  if ((bits & ~perf::branch::PLM_ALL) == 0) bits |= perf::branch::ANY;
  return bits;
}

}  // namespace pmusim::events
