// SPDX-License-Identifier: MIT
#include "annotate/weights.h"

#include <algorithm>

namespace pmusim::annotate {

void add(Weights& sum, const Weights& more) {
  if (sum.size() < more.size()) sum.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) {
    sum[i].samples += more[i].samples;
    sum[i].period += more[i].period;
  }
}

bool has_samples(const Weights& weights) {
  return std::ranges::any_of(weights, [](const Weight& weight) { return weight.samples != 0; });
}

std::vector<u64> heat_of(const Weights& weights) {
  std::vector<u64> heat;
  for (const Weight& weight : weights) heat.push_back(weight.period);
  for (const Weight& weight : weights) heat.push_back(weight.samples);
  return heat;
}

}  // namespace pmusim::annotate
