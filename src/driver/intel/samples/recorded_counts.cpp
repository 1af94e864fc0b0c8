// SPDX-License-Identifier: MIT
#include "driver/intel/samples/recorded_counts.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "driver/intel/counters/topdown.h"
#include "driver/intel/intel_driver.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

namespace {

template <class T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

RecordedValues parse_group(std::span<const std::byte> group) {
  if (group.size() < sizeof(pebs::CountersHeader)) return {};
  const auto head = load<pebs::CountersHeader>(group, 0);
  group = group.subspan(sizeof(head));
  RecordedValues out{.present = true,
                     .counters = u32{head.gp} | u64{u32{head.fixed}} << counter::FIXED,
                     .has_metrics = head.metrics == pebs::metrics_present};
  const std::size_t bytes = 8 * static_cast<std::size_t>(std::popcount(out.counters));
  if (group.size() < bytes + (out.has_metrics ? 16 : 0)) return {};
  out.values = group.first(bytes);
  if (out.has_metrics) {
    out.slots = load<le64>(group, bytes);
    out.metrics = load<le64>(group, bytes + 8);
  }
  return out;
}

RecordedValues in_adaptive(std::span<const std::byte> record) {
  const auto basic = load<pebs::BasicGroup>(record, 0);
  const u32 offset = pebs::adaptive_layout(u32{basic.format}).counters;
  return offset != 0 && offset <= record.size() ? parse_group(record.subspan(offset)) : RecordedValues{};
}

/// Where the counters group lies in a fragment, 0 if nowhere. How long the LBR group before it is, its own
/// header says.
u32 offset_in_fragment(std::span<const std::byte> fragment, u64 word, u32 lbr_depth) {
  const pebs::ArchLayout layout = pebs::arch_layout(word, lbr_depth);
  if (layout.counters == 0 || layout.lbr == 0) return layout.counters;
  if (layout.lbr + sizeof(pebs::ArchLbrHeader) > fragment.size()) return 0;
  const u64 depth = load<pebs::ArchLbrHeader>(fragment, layout.lbr).depth;
  return pebs::arch_layout(word, static_cast<u32>(std::min<u64>(depth, lbr_depth))).counters;
}

RecordedValues in_arch(std::span<const std::byte> record, u32 lbr_depth) {
  while (record.size() >= sizeof(pebs::ArchHeader)) {
    const u64 word = load<le64>(record, 0);
    const std::size_t size = word & pebs::header::SIZE;
    if (size < sizeof(pebs::ArchHeader) || size > record.size()) break;
    const std::span<const std::byte> fragment = record.first(size);
    const u32 offset = offset_in_fragment(fragment, word, lbr_depth);
    if (offset != 0 && offset <= size) return parse_group(fragment.subspan(offset));
    record = record.subspan(size);
  }
  return {};
}

/// Counters that the record belongs to: after it they hold their reset values.
u64 applicable_counters(std::span<const std::byte> record, unsigned format) {
  if (!pebs::is_architectural(format)) return load<pebs::BasicGroup>(record, 0).applicable_counters;
  if ((load<le64>(record, 0) & pebs::header::BASIC) == 0) return 0;
  if (record.size() < sizeof(pebs::ArchHeader) + sizeof(pebs::ArchBasic)) return 0;
  return load<pebs::ArchBasic>(record, sizeof(pebs::ArchHeader)).applicable_counters;
}

}  // namespace

RecordedValues recorded_values(std::span<const std::byte> record, unsigned format, u32 lbr_depth) {
  if (pebs::is_architectural(format)) return in_arch(record, lbr_depth);
  return pebs::is_adaptive(format) && record.size() >= sizeof(pebs::BasicGroup) ? in_adaptive(record)
                                                                                : RecordedValues{};
}

/// `visit` each counter's value with the event that has the counter, if there is one. Slots that come with
/// their metrics are not among them.
template <class Visit>
void RecordedCounts::for_each_value(const RecordedValues& values, Owners owners, Visit visit) {
  std::size_t offset = 0;
  for (const unsigned n : set_bits(values.counters)) {
    const u64 value = load<le64>(values.values, offset);
    offset += 8;
    perf::Event* event = n < pebs_counters ? owners.counters[n] : nullptr;
    if (event != nullptr) visit(*event, value);
  }
}

void RecordedCounts::find_members(Owners owners) {
  members_.clear();
  const auto add = [&](perf::Event* event) {
    if (event != nullptr && counts_from_records(*event)) members_.push_back(event);
  };
  for (perf::Event* event : owners.counters) add(event);
  for (perf::Event* event : owners.metrics) add(event);
}

void RecordedCounts::take(std::span<const std::byte> buffer, u64 enabled, Owners owners) {
  records_.clear();
  counts_.clear();
  if (pebs::is_fixed(format_)) return;
  find_members(owners);
  owners_.emplace(owners);
  if (members_.empty() || by_samples_) return;
  while (const std::size_t size = first_record_bytes(buffer, format_)) {
    const std::span<const std::byte> record = buffer.first(size);
    const RecordedValues values = recorded_values(record, format_, lbr_depth_);
    const u64 reloaded = applicable_counters(record, format_) & enabled;
    count(values, reloaded, owners);
    remember(record.data(), values);
    buffer = buffer.subspan(size);
  }
}

namespace {

void move_on(perf::Event& event, u64 value, u64 delta) {
  event.hw.previous_count = value;
  event.hw.period_left -= static_cast<i64>(delta);
  event.count += delta;
}

}  // namespace

/// Each counter has moved on from where it was last seen. A reload that left no record behind makes it step
/// back.
void RecordedCounts::count(const RecordedValues& values, u64 reloaded, Owners owners) {
  for_each_value(values, owners, [&](perf::Event& event, u64 value) {
    if (!counts_from_records(event) || has_flag(event, driver_flag::SLOTS_WITH_METRICS)) return;
    move_on(event, value, sign_extend(value - event.hw.previous_count, width_ - 1));
  });
  for (const unsigned n : set_bits(reloaded)) {
    perf::Event* event = owners.counters[n];
    if (event == nullptr || !counts_from_records(*event)) continue;
    const u64 period = has_flag(*event, pebs_flag::AUTO_RELOAD) ? event->hw.sample_period : 0;
    if ((values.counters & bit(n)) != 0)
      event->hw.previous_count = (0 - period) & low_bits(width_);
    else
      event->count += period;  // as without stored values
  }
}

/// Whatever event has a counter of the record, of the group or not (Linux: __setup_pebs_counter_group).
void RecordedCounts::count_sample(perf::Event& event, const RecordedValues& values) {
  const perf::Event* const slots = owners_->counters[counter::SLOTS];
  for_each_value(values, *owners_, [&](perf::Event& owner, u64 value) {
    if (values.has_metrics && &owner == slots) return;
    move_on(owner, value, (value - owner.hw.previous_count) & low_bits(width_));
  });
  if (has_flag(event, pebs_flag::AUTO_RELOAD))
    event.hw.previous_count = (0 - event.hw.sample_period) & low_bits(width_);
  if (values.has_metrics) count_topdown({.slots = values.slots, .metrics = values.metrics});
}

/// All that count, from where slots were seen last. That they have been seen now is kept of slots that have
/// stopped only: else a next record counts the same again, unless something clears both (Linux:
/// intel_update_topdown_event).
void RecordedCounts::count_topdown(TopdownReading now) {
  perf::Event* const slots = owners_->counters[counter::SLOTS];
  const bool keeps = slots != nullptr && slots->hw.stopped;
  const TopdownReading before =
      slots == nullptr ? TopdownReading{} : data_of(*slots).topdown.value_or(TopdownReading{});
  const auto count = [&](perf::Event* event) {
    if (event == nullptr || (event->hw.stopped && event != slots)) return;
    event->count += topdown_increase(*event, before, now);
    if (keeps) data_of(*event).topdown = now;
  };
  count(slots);
  for (perf::Event* metric : owners_->metrics) count(metric);
}

std::span<const perf::CountAtSample> RecordedCounts::at_sample(perf::Event& event,
                                                               std::span<const std::byte> record) {
  if (!by_samples_) return at(record);
  counts_.clear();
  if (!counts_from_records(event)) return {};
  const RecordedValues values = recorded_values(record, format_, lbr_depth_);
  if (!values.present) return {};
  count_sample(event, values);
  for (const perf::Event* member : members_) counts_.push_back({member, member->count});
  return counts_;
}

/// Slots and its metrics count from when both were cleared; no record clears them.
void RecordedCounts::remember(const std::byte* record, const RecordedValues& values) {
  records_.push_back(record);
  for (const perf::Event* event : members_) {
    u64 count = event->count;
    if (values.has_metrics && has_flag(*event, driver_flag::TOPDOWN))
      count += topdown_increase(*event, data_of(*event).topdown.value_or(TopdownReading{}),
                                {.slots = values.slots, .metrics = values.metrics});
    counts_.push_back({event, count});
  }
}

std::span<const perf::CountAtSample> RecordedCounts::at(std::span<const std::byte> record) const {
  const auto found = std::lower_bound(records_.begin(), records_.end(), record.data());
  if (found == records_.end() || *found != record.data()) return {};
  const auto index = static_cast<std::size_t>(found - records_.begin());
  return std::span(counts_).subspan(index * members_.size(), members_.size());
}

}  // namespace pmusim::driver
