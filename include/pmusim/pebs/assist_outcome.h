// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PEBS_ASSIST_OUTCOME_H
#define PMUSIM_PEBS_ASSIST_OUTCOME_H

#include "pmusim/base/types.h"

/// What can become of a PEBS record that is due.
namespace pmusim {

/// What became of a PEBS assist that was due: a record, or the reason why there is none. `Pmu::assists`
/// counts them.
enum class AssistOutcome : u8 {
  wrote,
  full,               ///< no room between index and absolute maximum (arch: to the end, or FULL is set)
  index_before_base,  ///< the index points before the buffer
  unmapped,           ///< management area or record position is not mapped
  misaligned,         ///< management area or index breaks doubleword alignment
  no_area,            ///< DS_AREA or PEBS_BASE is 0, or PEBS_INDEX.EN is clear
  processor_trace,    ///< records go to the PT stream, which is not modelled
  count_
};

}  // namespace pmusim

#endif
