#ifndef PMUSIM_CPU_POLICY_RANGE_H
#define PMUSIM_CPU_POLICY_RANGE_H

#include "pmusim/cpu/policies.h"

namespace pmusim {

/// The largest value that a policy takes; the smallest is 0. Those that choose between two behaviours take 0
/// and 1.
u32 greatest_value(const PolicyInfo& policy);

}  // namespace pmusim

#endif
