#ifndef PMUSIM_SRC_CPU_EVENT_TABLES_PRIVATE_H
#define PMUSIM_SRC_CPU_EVENT_TABLES_PRIVATE_H

#include <span>

#include "pmusim/cpu/model.h"

namespace pmusim::event_rows {

std::span<const EventDefinition> ice_lake_events();

}  // namespace pmusim::event_rows

#endif
