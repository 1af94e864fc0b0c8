// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_DEBUG_STORE_PEBS_DEMUX_H
#define PMUSIM_DRIVER_DEBUG_STORE_PEBS_DEMUX_H

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "pmusim/arch/debug_store.h"
#include "pmusim/base/types.h"
#include "pmusim/driver/drivers.h"

namespace pmusim::driver {

/// Order in which samples of different events leave one drain of formats 4 to 6 and architectural PEBS.
/// Formats 0 to 3 are always grouped.
enum class DrainOrder : u8 {
  grouped,  ///< event after event, as Linux up to 6.13
  record,   ///< as the records lie in the buffer, the last of each event at the end: Linux since 6.14
};

/// What a demultiplexer has to know of the PMU's set-up.
struct DemuxSetup {
  unsigned format = 0;    ///< PERF_CAPABILITIES[11:8]
  u64 enabled = 0;        ///< counters whose records have an owner
  u64 enable_word = 0;    ///< PEBS_ENABLE, for the rescue of records without status
  u32 record_bytes = 32;  ///< formats 4 to 6: size in the current configuration
  DrainOrder order = DrainOrder::record;
};

/// Where one record lies, and the counter that it is a sample of. One word: compilers pack two halves by way
/// of vector registers.
class RecordPlace {
 public:
  RecordPlace() = default;
  RecordPlace(u64 offset, u64 bytes, unsigned counter)
      : word_(u64{counter} << 58 | std::min(bytes, low_bits(26)) << 32 | offset) {}
  u64 offset() const { return word_ & low_bits(32); }       ///< from the start of the buffer
  u64 bytes() const { return word_ >> 32 & low_bits(26); }  ///< arch-PEBS: all its fragments
  unsigned counter() const { return static_cast<unsigned>(word_ >> 58); }
  explicit operator bool() const { return word_ != 0; }

 private:
  u64 word_ = 0;  // no record is empty
};

/// Bytes of the whole record that `buffer` starts with, arch-PEBS fragments included; 0 where there is none:
/// too few bytes are left, or its size cannot be.
std::size_t first_record_bytes(std::span<const std::byte> buffer, unsigned format);

/// Whether more samples of the same counter follow in this buffer.
enum class Place : u8 { middle, last };

/// A visitor that takes all samples of a run at once.
template <class Visitor>
concept TakesRuns = requires(Visitor& visitor, std::span<const std::byte> buffer,
                             std::span<const RecordPlace> places) {
  visitor.run(buffer, places);
};

/// Splits a PEBS buffer by event: which record is a sample of which counter, and which must be dropped
/// (docs/pebs.md, "Draining"). Keeps only scratch space between calls.
///
/// A visitor has
///   void sample(unsigned counter, std::span<const std::byte> record, Place place);
///   void lost(unsigned counter, u64 samples);      // directly before the counter's samples
///   bool begins(unsigned counter, u64 samples);    // grouped: before the counter's first sample; no: skip
///   void finished(unsigned counter, u64 samples);  // after the counter's last sample, or its losses
/// and may have
///   void run(std::span<const std::byte> buffer, std::span<const RecordPlace> places);
/// which takes samples that are not the last of their counter, in their order: all that leave together.
/// No input can make it read outside of `buffer`.
class Demultiplexer {
 public:
  /// Larger buffers leave the cache between the scan and the visit, and records of one counter lie too far
  /// apart for the processor to see a pattern.
  static constexpr std::size_t cached_bytes = 256 * 1024, prefetch_distance = 16;
  /// Short records are within `most_bytes`, and the compiler knows how many lines they have at most.
  template <std::size_t most_bytes = 256>
  static void prefetch(std::span<const std::byte> record) {
    constexpr std::size_t line_bytes = 64;
    for (std::size_t at = 0; at < record.size() && at < most_bytes; at += line_bytes)
      __builtin_prefetch(record.data() + at);
  }
  static std::span<const std::byte> record_at(std::span<const std::byte> buffer, RecordPlace place) {
    return buffer.subspan(place.offset(), place.bytes());
  }

  /// Formats 1 and 2: a rescued record's status word is patched in `buffer`.
  template <class Visitor>
  DemuxTotals run(std::span<std::byte> buffer, const DemuxSetup& setup, Visitor&& visitor) {
    if (setup.order == DrainOrder::grouped || pebs::is_fixed(setup.format)) {
      const DemuxTotals totals = scan<DrainOrder::grouped>(buffer, setup);
      visit_grouped(buffer, totals, visitor);
      return totals;
    }
    const DemuxTotals totals = scan<DrainOrder::record>(buffer, setup);
    visit_in_order(buffer, totals, visitor);
    return totals;
  }

 private:
  /// What records that follow each other have in common.
  struct Kind {
    std::size_t bytes = 0, owners_at = 0;  ///< of the record, and where in it its counters stand
    u64 enabled = 0;
  };

  /// Finds the owners of every record, and the order in which its samples leave.
  template <DrainOrder order>
  DemuxTotals scan(std::span<std::byte> buffer, const DemuxSetup& asked);
  void scan_core(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals);
  void scan_fixed(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals);
  void scan_overflowed(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals);
  template <DrainOrder order>
  void scan_adaptive(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals);
  template <DrainOrder order>
  void scan_arch(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals);
  template <DrainOrder order, class Alike>
  std::size_t attribute_alike(std::span<const std::byte> buffer, std::size_t offset, const Kind& kind,
                              Alike alike, DemuxTotals& totals);
  template <DrainOrder order>
  void attribute(u64 offset, u64 bytes, u64 owners, DemuxTotals& totals);
  template <DrainOrder order>
  void place(u64 offset, u64 bytes, unsigned counter, DemuxTotals& totals);
  void make_room(std::size_t records, u64 counters);

  template <class Visitor>
  void visit_grouped(std::span<const std::byte> buffer, const DemuxTotals& totals, Visitor& visitor);
  template <class Visitor>
  void visit_in_order(std::span<const std::byte> buffer, const DemuxTotals& totals, Visitor& visitor);
  template <class Visitor>
  static void visit_run(std::span<const std::byte> buffer, std::span<const RecordPlace> places,
                        Visitor& visitor);
  template <class Visitor>
  static void visit_last(std::span<const std::byte> buffer, RecordPlace place, Visitor& visitor) {
    visitor.sample(place.counter(), record_at(buffer, place), Place::last);
  }

  // Grouped, each counter has a part of its own, from `begin_` to `end_`; in order, samples that leave when
  // their counter's next one is seen lie one behind another, up to `leaving_`.
  std::vector<RecordPlace> places_;
  std::array<RecordPlace*, pebs_counters> begin_{}, end_{};
  RecordPlace* leaving_ = nullptr;
  std::array<RecordPlace, pebs_counters> last_{};  // of each counter
  u64 counters_seen_ = 0;                          // with samples or losses
};

template <class Visitor>
void Demultiplexer::visit_grouped(std::span<const std::byte> buffer, const DemuxTotals& totals,
                                  Visitor& visitor) {
  for (const unsigned counter : set_bits(counters_seen_)) {
    if (totals.lost[counter] != 0) visitor.lost(counter, totals.lost[counter]);
    const std::span<const RecordPlace> places(begin_[counter], end_[counter]);
    if (!places.empty() && visitor.begins(counter, places.size())) {
      visit_run(buffer, places.first(places.size() - 1), visitor);
      visit_last(buffer, places.back(), visitor);
    }
    visitor.finished(counter, places.size());
  }
}

template <class Visitor>
void Demultiplexer::visit_in_order(std::span<const std::byte> buffer, const DemuxTotals& totals,
                                   Visitor& visitor) {
  visit_run(buffer, {places_.data(), leaving_}, visitor);
  for (const unsigned counter : set_bits(counters_seen_)) {
    if (last_[counter]) visit_last(buffer, last_[counter], visitor);
    visitor.finished(counter, totals.samples[counter]);
  }
}

template <class Visitor>
void Demultiplexer::visit_run(std::span<const std::byte> buffer, std::span<const RecordPlace> places,
                              Visitor& visitor) {
  if constexpr (TakesRuns<Visitor>) {
    if (!places.empty()) visitor.run(buffer, places);
    return;
  } else {
    const std::size_t ahead = buffer.size() > cached_bytes ? prefetch_distance : places.size();
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (i + ahead < places.size()) prefetch(record_at(buffer, places[i + ahead]));
      visitor.sample(places[i].counter(), record_at(buffer, places[i]), Place::middle);
    }
  }
}

}  // namespace pmusim::driver

#endif
