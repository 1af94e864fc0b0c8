// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SESSION_SAMPLE_H
#define PMUSIM_SESSION_SAMPLE_H

#include <cstddef>
#include <memory>

#include "pmusim/perfdata/reader.h"
#include "pmusim/perfdata/samples.h"
#include "pmusim/session/record.h"

/// `pmusim record` without a file: a replay whose samples the caller gets, taken apart.
/// @code
/// auto session = Session::open("program.pmutrace", {.model = *find_cpu_model("icelake")});
/// RecordOptions options;
/// options.events = *events::parse_events("branch-misses:upp", session->model());
/// options.period = 1000;
/// options.branch_sample_type = perf::branch::ANY;
/// const auto samples = sample(*session, options);
/// for (const auto& [event, sample] : *samples)
///   std::cout << event.name << " at " << sample.ip << ", " << sample.branches.size() << " branches\n";
/// @endcode
namespace pmusim {

/// A sample with the event that it is of.
struct Sample {
  const perfdata::EventDescription& event;  ///< as opened; valid as long as the Samples
  perfdata::SampleRecord sample;            ///< fields that were not asked for have perf's defaults
};

/// The samples of a replay, in the order in which they were written. They are kept as the kernel wrote them
/// (some 50 bytes each, 24 more for each branch) and decoded when they are read.
class Samples {
 public:
  class State;
  explicit Samples(std::unique_ptr<const State> state);
  Samples(Samples&&) noexcept;
  Samples& operator=(Samples&&) noexcept;
  ~Samples();

  std::size_t size() const;
  /// `index` below size().
  Sample operator[](std::size_t index) const;
  /// Dropped by the driver (PEBS collisions) or for want of room in the ring.
  u64 lost() const;

  /// Over samples by value, in their order.
  class Iterator {
   public:
    Iterator(const Samples& samples, std::size_t index) : samples_(&samples), index_(index) {}
    Sample operator*() const { return (*samples_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    const Samples* samples_;
    std::size_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  std::unique_ptr<const State> state_;
};

/// Opens the events on the session, replays the trace and keeps the samples. Call it once per session. What
/// `options` say of a file (its name, size and compression, build ids) does not matter here.
///
/// Errors: an event that the kernel would refuse (with its sentence); a damaged trace.
Result<Samples, Error> sample(Session& session, const RecordOptions& options);

}  // namespace pmusim

#endif
