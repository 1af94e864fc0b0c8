#ifndef PMUSIM_ARCH_LBR_H
#define PMUSIM_ARCH_LBR_H

#include "pmusim/base/bits.h"

namespace pmusim {

/// One last-branch record in the form that PEBS records and XSAVE component 15 carry it: 24 bytes.
struct LbrEntry {
  u64 from = 0, to = 0, info = 0;
  friend bool operator==(const LbrEntry&, const LbrEntry&) = default;
};
static_assert(sizeof(LbrEntry) == 24);

}  // namespace pmusim

#endif
