// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SESSION_OUTCOME_H
#define PMUSIM_TESTS_SESSION_OUTCOME_H

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "pmusim/cpu/model.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/session/record.h"
#include "tests/support/dice.h"

namespace pmusim::test {

/// Half of the policies somewhere in what they may be, up to 30.
inline void draw_policies(CpuModel& model, Dice& dice) {
  for (const PolicyInfo& policy : policy_table())
    if (dice.one_in(2))
      model.policies.*policy.member = static_cast<u32>(dice.below(1 + std::min(policy.greatest, 30u)));
}

/// Everything that a recorded replay leaves.
struct Outcome {
  std::string file, error;
  u64 samples = 0, instructions = 0, now = 0, state = 0;
  std::vector<std::pair<u32, u64>> registers;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Records a session to its end.
inline Outcome outcome_of(Session& session, RecordOptions options) {
  options.output = testing::TempDir() + "outcome" + std::to_string(getpid()) + ".data";
  const auto summary = record(session, options);
  Outcome outcome{.instructions = session.instructions(), .now = session.now()};
  if (summary.ok())
    outcome.samples = summary->samples;
  else
    outcome.error = summary.error().message;
  std::ifstream file(options.output, std::ios::binary);
  outcome.file = {std::istreambuf_iterator<char>(file), {}};
  unlink(options.output.c_str());
  outcome.state = session.pmu().state_hash();
  for (const Register& entry : session.pmu().registers().all())
    outcome.registers.emplace_back(entry.address, session.pmu().rdmsr(entry.address).value_or(~u64{0}));
  return outcome;
}

}  // namespace pmusim::test

#endif
