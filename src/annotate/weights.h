// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_WEIGHTS_H
#define PMUSIM_SRC_ANNOTATE_WEIGHTS_H

#include <vector>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

void add(Weights& sum, const Weights& more);
bool has_samples(const Weights& weights);

/// What rankings go by, the larger first: the period of the first event, then of the others, then samples.
std::vector<u64> heat_of(const Weights& weights);

}  // namespace pmusim::annotate

#endif
