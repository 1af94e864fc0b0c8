// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_FEATURES_H
#define PMUSIM_SRC_CPU_TABLES_FEATURES_H

#include "cpu/tables/text_table.h"
#include "pmusim/cpu/model.h"

/// What each model's hardware has: the tables in `features/`, a column a model. A row is a member of
/// `CpuModel`, with a number, a word (yes, no, or an enumerator), or - where the part has nothing of the
/// kind.
namespace pmusim::tables {

/// Gives a model what a table of its vendor says of the one with its name. Throws std::logic_error where a
/// row is no feature, one is missing, or a cell is none of its values; where the table has no such column.
void set_features(CpuModel& model, const TextTable& table);

/// The same, with the vendor, from the table that has the model.
void set_features(CpuModel& model);

}  // namespace pmusim::tables

#endif
