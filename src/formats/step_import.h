// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_STEP_IMPORT_H
#define PMUSIM_FORMATS_STEP_IMPORT_H

#include <functional>
#include <memory>

#include "formats/step.h"
#include "pmusim/formats/formats.h"

namespace pmusim::formats {

/// Imports a source of steps, which is opened twice: to learn what the instructions are, and to write them.
Result<Conversion, Error> import_steps(
    const ImportOptions& options,
    const std::function<Result<std::unique_ptr<StepReader>, Error>()>& open_source);

}  // namespace pmusim::formats

#endif
