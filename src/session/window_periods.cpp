// SPDX-License-Identifier: MIT
#include "session/window_periods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "events/resolve.h"
#include "events/sampling_pmus.h"
#include "perf/sample_fields.h"

namespace pmusim {
namespace {

u64 scaled(u64 value, u64 numerator, u64 denominator) {
  return static_cast<u64>(std::llround(static_cast<double>(value) * static_cast<double>(numerator) /
                                       static_cast<double>(denominator)));
}

/// An instruction may have many cycles or uops at once, and overflows a counter once however many periods
/// they are: shorter ones would lose samples of what takes long.
constexpr u64 shortest_period_of_quantities = 1000;

u64 shortest_period(const CpuModel& model, const perf::Attr& attr) {
  const auto event = events::identify(model, attr);
  const bool is_quantity = event.ok() && event->definition.rule.quantity != Quantity::none;
  return is_quantity ? std::min(shortest_period_of_quantities, attr.sample_period) : 1;
}

}  // namespace

WindowPeriods::WindowPeriods(const Session& session) : model_(&session.model()) {
  const CoreWindows* const windows = session.windows();
  if (windows == nullptr) return;
  counted_ = windows->detail;
  of_ = windows->every;
}

Result<Done, Error> WindowPeriods::check(const events::ParsedEvent& event) const {
  if (counted_ == of_) return Done{};
  const auto refuse = [&](std::string_view why) {
    return Failure(
        Error(fmt::format("event '{}': {}, and core 'sampled' counts in windows of the program: core "
                          "'interval' counts all of it",
                          event.name, why)));
  };
  if (event.sample_read) return refuse("samples are to hold counts");
  if (!events::is_pmu_event(event.attr) && !events::is_sampling_pmu(event.attr.type))
    return refuse("no counter of the CPU samples it");
  return Done{};
}

perf::Attr WindowPeriods::shortened(perf::Attr attr) const {
  if (counted_ == of_ || attr.freq != 0 || attr.sample_period == 0) return attr;
  attr.sample_period = std::max(shortest_period(*model_, attr), scaled(attr.sample_period, counted_, of_));
  if (events::is_sampled_by_unit(*model_, attr))
    attr.sample_period = events::sampling_period(attr.sample_period);
  return attr;
}

u64 WindowPeriods::in_program(u64 period) const { return scaled(period, of_, counted_); }

perf::Attr WindowPeriods::described(perf::Attr attr) const {
  if (attr.freq == 0) attr.sample_period = in_program(attr.sample_period);
  return attr;
}

void WindowPeriods::apply(std::vector<std::byte>& records, u64 sample_type) const {
  if (counted_ == of_) return;
  const std::size_t offset = perf::sample_offset(perf::SampleField::period, sample_type);
  perf::RecordHeader header;
  for (std::size_t at = 0; at + sizeof header <= records.size(); at += header.size) {
    std::memcpy(&header, &records[at], sizeof header);
    if (static_cast<perf::RecordType>(header.type) != perf::RecordType::sample) continue;
    u64 period = 0;
    std::memcpy(&period, &records[at + offset], sizeof period);
    period = in_program(period);
    std::memcpy(&records[at + offset], &period, sizeof period);
  }
}

}  // namespace pmusim
