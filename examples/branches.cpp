// SPDX-License-Identifier: MIT
// The branches of a recorded program by kind, and what ChampSim's format keeps of them. Usage: branches TRACE
#include <cstdio>
#include <map>
#include <string>

#include "pmusim/arch/branch.h"
#include "pmusim/formats/formats.h"
#include "pmusim/trace/trace.h"
#include "pmusim/x86/instruction.h"

using namespace pmusim;

namespace {

using BranchCounts = std::map<BranchKind, u64>;

/// Executed branches; each block ends with its only one, if it has any.
BranchCounts branches_of(const std::string& path) {
  BranchCounts counts;
  auto trace = trace::Reader::open(path).value();
  while (const auto item = trace.next().value()) {
    const auto* const run = std::get_if<trace::BlockRun>(&*item);
    if (run == nullptr) continue;
    const x86::Instruction& last = run->block->instructions.back();
    if (last.branch != BranchKind::none) ++counts[last.branch];
  }
  return counts;
}

/// There and back.
BranchCounts branches_in_champsims_format(const std::string& path) {
  formats::export_trace({formats::Format::champsim, path, "branches.champsim"}).value();
  formats::import_trace({formats::Format::champsim, "branches.champsim", "branches.pmutrace"}).value();
  return branches_of("branches.pmutrace");
}

u64 count_in(const BranchCounts& counts, BranchKind kind) {
  const auto found = counts.find(kind);
  return found == counts.end() ? 0 : found->second;
}

void compare(const std::string& path) {
  const BranchCounts own = branches_of(path), kept = branches_in_champsims_format(path);
  BranchCounts all = own;
  all.insert(kept.begin(), kept.end());
  std::printf("%-20s %12s %12s\n", "branches", "recorded", "ChampSim");
  for (const auto& [kind, count] : all)
    std::printf("%-20s %12llu %12llu\n", std::string(name_of(kind)).c_str(),
                static_cast<unsigned long long>(count_in(own, kind)),
                static_cast<unsigned long long>(count_in(kept, kind)));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return std::fputs("usage: branches TRACE\n", stderr), 2;
  compare(argv[1]);
} catch (const NoValue& refused) {
  return std::fprintf(stderr, "%s\n", refused.what()), 2;
}
