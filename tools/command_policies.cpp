// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/suggest.h"
#include "command.h"
#include "pmusim/cpu/model.h"
#include "text.h"

namespace pmusim::tools {

namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<const PolicyInfo*>;

struct PoliciesCommand {
  std::vector<std::string> globs = {"*"};
  bool json = false;
};

Rows matching_policies(const std::string& glob) {
  Rows found;
  std::vector<std::string_view> names;
  for (const PolicyInfo& policy : policy_table()) {
    names.push_back(policy.name);
    if (matches_glob(glob, std::string(policy.name))) found.push_back(&policy);
  }
  if (found.empty()) throw CommandError(fmt::format("no policy '{}'{}", glob, did_you_mean(glob, names)));
  return found;
}

void run_policies(const PoliciesCommand& command) {
  Rows rows;
  for (const std::string& glob : command.globs)
    std::ranges::copy(matching_policies(glob), std::back_inserter(rows));
  const Policies defaults;
  if (command.json) {
    Json all = Json::array();
    for (const PolicyInfo* row : rows)
      all.push_back({{"name", row->name},
                     {"default", defaults.*row->member},
                     {"greatest", row->greatest},
                     {"meaning", row->meaning},
                     {"source", row->source}});
    fmt::print("{}\n", all.dump(2));
    return;
  }
  constexpr auto line = "{:<28} {:>7} {:>10}  {}\n";
  fmt::print(line, "POLICY", "DEFAULT", "RANGE", "MEANING");
  for (const PolicyInfo* row : rows)
    fmt::print(line, row->name, defaults.*row->member, fmt::format("0-{}", row->greatest),
               fmt::format("{} ({})", row->meaning, row->source));
}

}  // namespace

void add_policies(CLI::App& app) {
  auto command = std::make_shared<PoliciesCommand>();
  CLI::App* const policies = app.add_subcommand("policies", "List what --policy can choose");
  policies->footer(
      "Where manuals leave the behaviour of silicon open, a named number decides. Commands that replay take\n"
      "--policy NAME=VALUE; a program that links the library sets CpuModel::policies.\n\n"
      "  pmusim policies 'pebs_*'\n"
      "  pmusim record --policy pmi_skid_cycles=0 -b T");
  policies->add_option("pattern", command->globs, "names, which may have * and ?");
  policies->add_flag("--json", command->json, "as a JSON array");
  policies->callback([command] { run_policies(*command); });
}

}  // namespace pmusim::tools
