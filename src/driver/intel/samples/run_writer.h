// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SAMPLES_RUN_WRITER_H
#define PMUSIM_SRC_DRIVER_INTEL_SAMPLES_RUN_WRITER_H

#include <array>
#include <span>

#include "driver/intel/debug_store/pebs.h"
#include "driver/intel/samples/sample_plan.h"
#include "perf/ring_buffer.h"

namespace pmusim::driver {

/// Copies runs of records into the rings of their events, as PebsSampleBuilder and the sink would write them,
/// where nothing but a copy is needed.
///
/// Order of calls: `begin` where a run starts, then `write` until all of it has been dealt with; what write()
/// stops at is a sample for the others. Between them nothing about an event may change but its ring.
class RunWriter {
 public:
  explicit RunWriter(const Enumeration& enumeration) : planner_(enumeration) {}

  void begin(PebsHost& host, const EventMap& events, const InterruptFrame& frame);
  /// Writes samples up to the first that needs more than a copy, or that its ring has no plain room for, and
  /// publishes them. Returns how many these are.
  std::size_t write(std::span<const std::byte> buffer, std::span<const RecordPlace> places);

 private:
  /// Where the next sample of a ring goes.
  struct Cursor {
    perf::RingBuffer* ring = nullptr;
    std::byte *at = nullptr, *end = nullptr;

    void open() {
      const std::span<std::byte> window = ring->window();
      at = window.data();
      end = at + window.size();
    }
  };
  /// How the samples of a counter are written.
  struct Lane {
    Cursor* cursor = nullptr;
    SamplePlan plan;
  };
  struct Run {
    std::span<const std::byte> buffer;
    std::span<const RecordPlace> places;
    bool fetch_ahead = false;
  };
  using Loop = std::size_t (RunWriter::*)(Run);

  const Lane* learn(RecordPlace place, std::span<const std::byte> buffer);
  Cursor* cursor_of(perf::RingBuffer& ring);
  std::span<Cursor> cursors() { return std::span(cursors_).first(cursor_count_); }
  void publish();
  template <unsigned shape>
  std::size_t write_alike(Run run);
  template <std::size_t... shapes>
  static constexpr std::array<Loop, sizeof...(shapes)> loops(std::index_sequence<shapes...>) {
    return {&RunWriter::write_alike<shapes>...};
  }

  SamplePlanner planner_;
  PebsHost* host_ = nullptr;
  const EventMap* events_ = nullptr;
  const InterruptFrame* frame_ = nullptr;
  Lane unknown_, not_copied_;  // without a plan
  std::array<const Lane*, pebs_counters> lane_of_{};
  std::array<Lane, pebs_counters> lanes_;
  std::array<Cursor, pebs_counters> cursors_;
  std::size_t cursor_count_ = 0;
};

}  // namespace pmusim::driver

#endif
