// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_STEP_IMPORT_H
#define PMUSIM_FORMATS_STEP_IMPORT_H

#include <functional>
#include <memory>
#include <string_view>

#include "formats/step.h"
#include "pmusim/formats/formats.h"

namespace pmusim::formats {

using OpenedSteps = Result<std::unique_ptr<StepReader>, Error>;

/// Imports a source of steps, which is opened twice: to learn what the instructions are, and to write them.
/// What the format cannot tell of an instruction is the second remark.
Result<Conversion, Error> import_steps(const ImportOptions& options,
                                       const std::function<OpenedSteps()>& open_source,
                                       std::string_view not_told);

}  // namespace pmusim::formats

#endif
