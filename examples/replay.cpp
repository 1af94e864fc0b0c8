// SPDX-License-Identifier: MIT
// Replays a recorded program on an emulated Skylake and prints where every 1000th mispredicted branch was,
// and which branch came before it how long ago. Usage: replay TRACE
#include <cstdio>

#include "pmusim/cpu/model.h"
#include "pmusim/events/parser.h"
#include "pmusim/session/record.h"

int main(int argc, char** argv) {
  using namespace pmusim;
  const auto skylake = find_cpu_model("skylake");
  if (!skylake) return std::fprintf(stderr, "%s\n", skylake.error().message.c_str()), 2;
  auto session = Session::open(argc > 1 ? argv[1] : "trace.pmutrace", {.model = *skylake});
  if (!session) return std::fprintf(stderr, "%s\n", session.error().message.c_str()), 2;

  const auto samples = sample(*session, {.events = *events::parse_events("branch-misses:upp", *skylake),
                                         .period = 1000,
                                         .branch_sample_type = perf::branch::ANY});
  if (!samples) return std::fprintf(stderr, "%s\n", samples.error().message.c_str()), 2;

  for (const auto& [event, sample] : *samples) {
    const perf::BranchEntry& newest = sample.branches.front();
    std::printf("%s at %#lx: from %#lx, %u cycles after the branch before\n", event.name.c_str(), sample.ip,
                newest.from, static_cast<unsigned>(newest.cycles));
  }
}
