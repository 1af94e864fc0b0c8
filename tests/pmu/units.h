// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PMU_UNITS_H
#define PMUSIM_TESTS_PMU_UNITS_H

#include "pmu/sequencer.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim {

/// The units behind a Pmu, which tests of the project look into.
struct PmuUnits {
  static const Sequencer& of(const Pmu& pmu) { return *pmu.sequencer_; }
};

}  // namespace pmusim

#endif
