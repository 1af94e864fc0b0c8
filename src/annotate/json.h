// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_JSON_H
#define PMUSIM_SRC_ANNOTATE_JSON_H

#include <nlohmann/json.hpp>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

using Json = nlohmann::ordered_json;

/// Indices that refer to nothing are null.
inline Json index(u32 number) { return number == nothing ? Json(nullptr) : Json(number); }
inline Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

/// The report with the names of its members; `functions` stands for its annotated functions.
Json json_of(const Report& report, Json functions);

/// A function for the page: what repeats from one instruction to the next is said once, zeros are left out,
/// and lists are flat. About a tenth of what JSON with names takes; unpacked() in page/helpers.js is the
/// reverse.
Json packed(const AnnotatedFunction& function);

}  // namespace pmusim::annotate

#endif
