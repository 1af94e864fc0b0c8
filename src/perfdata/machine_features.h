// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_MACHINE_FEATURES_H
#define PMUSIM_SRC_PERFDATA_MACHINE_FEATURES_H

#include "perfdata/byte_reader.h"
#include "perfdata/features.h"

namespace pmusim::perfdata {

/// What a file says of the machine: where its CPUs sit, its memory, caches, clock and kinds of cores.
/// Adds the features that `metadata` has something to say about.
void put_machine_features(Features& features, const Metadata& metadata);

/// The payload of one of them into `metadata`; false if it ends early. Others say nothing.
bool parse_machine_feature(Metadata& metadata, Feature feature, ByteReader& in);

/// A count, then a name and a value for each.
void put_capabilities(Payload& payload, const Capabilities& capabilities);
Capabilities take_capabilities(ByteReader& in);

/// Calls `put` as often as the count in front of a list says, while bytes last.
template <class Put>
bool take_list(ByteReader& in, Put put) {
  const u32 entries = in.take<u32>();
  for (u32 i = 0; i < entries && in.ok(); ++i) put();
  return in.ok();
}

}  // namespace pmusim::perfdata

#endif
