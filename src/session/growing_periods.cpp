// SPDX-License-Identifier: MIT
#include "session/growing_periods.h"

namespace pmusim {

namespace {

bool is_prime(u64 number) {
  if (number < 4) return number > 1;
  if (number % 2 == 0) return false;
  for (u64 divisor = 3; divisor * divisor <= number; divisor += 2)
    if (number % divisor == 0) return false;
  return true;
}

}  // namespace

u64 prime_from(u64 number) {
  while (!is_prime(number)) ++number;
  return number;
}

// Events are in the order in which they were opened.
void PeriodGrowth::pass() {
  if (!growing_ || session_.instructions() < growing_->after_instructions) return;
  const std::vector<perf::Event*> events = session_.perf().events();
  for (const std::size_t number : growing_->events)
    (void)session_.perf().set_period(*events.at(number), prime_from(2 * events[number]->attr.sample_period));
  growing_->after_instructions *= 2;
}

}  // namespace pmusim
