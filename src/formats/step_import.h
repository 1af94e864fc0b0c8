// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_STEP_IMPORT_H
#define PMUSIM_FORMATS_STEP_IMPORT_H

#include <functional>
#include <memory>
#include <string_view>

#include "formats/input_stream.h"
#include "formats/step.h"
#include "pmusim/formats/formats.h"

namespace pmusim::formats {

using MakeStepReader = std::function<std::unique_ptr<StepReader>(InputStream)>;

/// Imports a file of steps, which is read twice: to learn what the instructions are, and to write them. What
/// the format does not have of an instruction is the second remark.
Result<Conversion, Error> import_steps(const ImportOptions& options, const MakeStepReader& make_reader,
                                       std::string_view not_in_source);

}  // namespace pmusim::formats

#endif
