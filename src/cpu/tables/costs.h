// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_COSTS_H
#define PMUSIM_SRC_CPU_TABLES_COSTS_H

#include <string_view>
#include <vector>

#include "cpu/costs/costs.h"
#include "cpu/tables/text_table.h"

/// What instructions cost on each core that was measured: the tables in `costs/`, a column a core, called as
/// the model that has it. The rows with `ports.` are numbers of ports; those of the forms are latency of a
/// chain/cycles between independent ones/slots/uops on ports/cycles of the latency that are not those of the
/// destination's old value
/// (`costs::MeasuredCost`), of which the last may be left out, and behind @ the ports, where they are not all
/// of the work's kind. 0 or -: not measured. Marks are sources, as in `parameters.h`.
namespace pmusim::tables {

/// The columns. Throws std::logic_error where a row is no form, one with ports is missing, or a cell cannot
/// be read.
std::vector<costs::MeasuredCore> read_costs(const TextTable& table);

/// Throws std::out_of_range where no table has that column.
const InstructionCosts& costs_of(std::string_view column);

}  // namespace pmusim::tables

#endif
