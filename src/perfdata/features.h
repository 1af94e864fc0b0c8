// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_FEATURES_H
#define PMUSIM_SRC_PERFDATA_FEATURES_H

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "perf/simd_abi.h"
#include "perfdata/file_format.h"
#include "perfdata/payload.h"
#include "perfdata/tracing_data.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::perfdata {

/// Everything the features are made of.
struct Description {
  Metadata metadata;
  u32 attr_bytes = 128;
  perf::SimdAbi simd = perf::SimdAbi::series_v7;
  std::vector<EventDescription> events;
  std::vector<Group> groups;
  std::vector<BuildId> build_ids;
  TracepointNames tracepoints;
  std::optional<u64> directory_version;
  bool counts = false;                              ///< of perf stat record
  std::optional<std::pair<u64, u64>> sample_times;  ///< ns, first and last
  std::optional<Payload> compression;
};

/// The features that the description has something to say about, in the order of the table.
using Features = std::map<Feature, Payload>;
Features make_features(const Description& description);

/// The attribute's first `description.attr_bytes` bytes, with its size field saying so.
Payload attr_image(const perf::Attr& attr, const Description& description);
/// A build-id entry with the record type that the place asks for: 0 in the feature, 67 in a stream.
Payload build_id_entry(const BuildId& build_id, u32 type);

}  // namespace pmusim::perfdata

#endif
