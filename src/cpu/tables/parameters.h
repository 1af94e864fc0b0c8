// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_PARAMETERS_H
#define PMUSIM_SRC_CPU_TABLES_PARAMETERS_H

#include <map>
#include <string_view>
#include <vector>

#include "pmusim/cpu/core_parameters.h"

/// What the timing model knows of each model's core: the tables in `parameters/`, a column a model. A row is
/// a parameter, with the value as `--core-set` takes it, or a cache: bytes, ways and cycles. The mark behind
/// a value is its source (FactSource): measured, cpuid, published, LLVM's scheduling model, recalled,
/// inferred; without one it is known as `unlisted` of the parameter says. A parameter with - means nothing on
/// that core.
namespace pmusim::tables {

/// In the order of the rows.
using NumbersByModel = std::map<std::string_view, std::vector<CoreNumber>>;

/// Adds the columns of a table, whose text outlives the numbers. Throws std::logic_error where a row is no
/// parameter or one is missing, or a cell is none of its values.
void add_numbers(NumbersByModel& numbers, std::string_view text);

/// Gives a core what the tables say of the model with that name. Throws std::out_of_range where none does.
void set_parameters(CoreParameters& core, std::string_view model);

}  // namespace pmusim::tables

#endif
