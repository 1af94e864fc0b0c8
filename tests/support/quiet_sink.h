// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_QUIET_SINK_H
#define PMUSIM_TESTS_SUPPORT_QUIET_SINK_H

#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// A perf core that lets everything pass; rigs override what they look at.
class QuietSink : public perf::SampleSink {
 public:
  Verdict overflow(perf::Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    output(event, data, frame);
    return Verdict::keep;
  }
  void output(perf::Event&, const perf::SampleData&, const InterruptFrame&) override {}
  void lost_samples(perf::Event& event, u64 count) override { event.lost_samples += count; }
  Verdict account_interrupt(perf::Event&) override { return Verdict::keep; }
  u64 time_of_tsc(u64 tsc) const override { return tsc; }
  u64 now() const override { return 0; }
  std::vector<std::byte> read_code(u64, std::size_t) const override { return {}; }
};

}  // namespace pmusim::driver

#endif
