// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_HAPPENING_CODEC_H
#define PMUSIM_TRACE_HAPPENING_CODEC_H

#include <optional>

#include "pmusim/trace/happening.h"
#include "trace/bytes.h"

namespace pmusim::trace {

void encode(const Happening& happening, ByteWriter& out);
/// Nothing where the bytes are no happening.
std::optional<Happening> decode_happening(ByteReader& in);

/// Why no such thing can have happened on Linux; empty where it can. Names that are too long crash readers of
/// what a replay writes.
std::string_view problem_of(const Happening& happening);

}  // namespace pmusim::trace

#endif
