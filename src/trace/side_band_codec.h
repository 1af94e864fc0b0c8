// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_SIDE_BAND_CODEC_H
#define PMUSIM_TRACE_SIDE_BAND_CODEC_H

#include <optional>

#include "pmusim/trace/trace.h"
#include "trace/bytes.h"

namespace pmusim::trace {

void encode(const SideBandRecord& record, ByteWriter& out);
/// Nothing where the bytes are no side-band record.
std::optional<SideBandRecord> decode_side_band(ByteReader& in);

/// Why no such thing can have happened on Linux; empty where it can. Names that are too long crash readers of
/// what a replay writes.
std::string_view problem_of(const SideBandRecord& record);

}  // namespace pmusim::trace

#endif
