// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_FORMATS_H
#define PMUSIM_SRC_EVENTS_FORMATS_H

#include <string>
#include <string_view>
#include <vector>

#include "pmusim/cpu/model.h"
#include "pmusim/perf/abi.h"

namespace pmusim::events {

/// Neighbouring bits of a word.
struct BitRange {
  unsigned low = 0, width = 0;
};

/// A field of the event select or of an extra word: what a PMU driver publishes in the directory `format` of
/// the PMU, and perf takes as a term.
struct Format {
  std::string_view name;
  u64 perf::Attr::*word;
  BitRange range, upper{};  ///< `upper`: where the bits go on that do not fit `range`

  unsigned width() const { return range.width + upper.width; }
  bool selects_event() const { return word == &perf::Attr::config; }
  /// As the file of that name in sysfs says it: "config:8-15,40-47".
  std::string text() const;
};

/// Those of a PMU of the model by its attr.type, as Linux publishes them: the core's
/// (PERF_TYPE_RAW), or one of `sampling_pmus()`.
std::vector<Format> formats(const CpuModel& model, u32 type = static_cast<u32>(perf::EventType::raw));

/// Whether there is a model that may have one of that name.
bool is_format(std::string_view name);

}  // namespace pmusim::events

#endif
