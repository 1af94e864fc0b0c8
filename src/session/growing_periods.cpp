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

PeriodGrowth::PeriodGrowth(Session& session, const std::optional<GrowingPeriods>& growing)
    : session_(session) {
  if (!growing) return;
  after_instructions_ = growing->after_instructions;
  for (const std::size_t event : growing->events) all_.push_back({.event = event});
}

// Events are in the order in which they were opened.
void PeriodGrowth::pass() {
  if (all_.empty() || session_.instructions() < after_instructions_) return;
  const std::vector<perf::Event*> events = session_.perf().events();
  for (Growing& growing : all_) pass(growing, *events.at(growing.event));
}

void PeriodGrowth::pass(Growing& growing, perf::Event& event) {
  constexpr u64 samples_per_doubling = 2000, samples_that_tell = 250;
  const Result<std::vector<u64>, KernelError> words = session_.perf().read(event);
  if (!words.ok()) return;
  const u64 now = session_.instructions(), ran = now - growing.instructions;
  const u64 period = event.attr.sample_period, counted = event.count - growing.count;
  const bool often = counted / period >= samples_that_tell, long_ago = ran >= growing.instructions;
  if (ran == 0 || (!often && !long_ago)) return;
  // What occurs per instruction at present, over another run of the length so far.
  const u64 wanted = static_cast<u64>(static_cast<double>(counted) / static_cast<double>(ran) *
                                      static_cast<double>(now) / samples_per_doubling);
  growing.count = event.count;
  growing.instructions = now;
  const bool longer = wanted > period, shorter = long_ago && wanted < period / 2;
  if (longer || shorter) (void)session_.perf().set_period(event, prime_from(std::max<u64>(1, wanted)));
}

}  // namespace pmusim
