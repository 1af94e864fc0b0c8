// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_DEBUGCTL_H
#define PMUSIM_ARCH_DEBUGCTL_H

#include "pmusim/arch/msr.h"
#include "pmusim/base/bus.h"

namespace pmusim {

/// Whether DEBUGCTL has a branch at privilege `cpl` stored to the BTS buffer: TR and BTS on, and that
/// privilege not switched off (SDM vol. 3, branch trace store).
constexpr bool bts_record_due(u64 debugctl, Cpl cpl) {
  constexpr u64 on = msr::debugctl::TR | msr::debugctl::BTS;
  const u64 off = cpl == Cpl::kernel ? msr::debugctl::BTS_OFF_OS : msr::debugctl::BTS_OFF_USR;
  return (debugctl & on) == on && (debugctl & off) == 0;
}

}  // namespace pmusim

#endif
