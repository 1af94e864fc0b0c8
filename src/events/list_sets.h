// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_LIST_SETS_H
#define PMUSIM_SRC_EVENTS_LIST_SETS_H

#include "events/vendor_lists.h"

/// Sets of lists, for tables.
namespace pmusim::events::vendor_lists::sets {

constexpr Lists set_of(List list) { return bit(static_cast<unsigned>(list)); }

/// The lists from one to another, both included.
constexpr Lists to(Lists first, Lists last) { return (last << 1) - first; }

inline constexpr Lists nhm = set_of(List::nhm), wsm = set_of(List::wsm), snb = set_of(List::snb),
                       ivb = set_of(List::ivb), hsw = set_of(List::hsw), bdw = set_of(List::bdw),
                       skl = set_of(List::skl), skx = set_of(List::skx), clx = set_of(List::clx),
                       icl = set_of(List::icl), icx = set_of(List::icx), tgl = set_of(List::tgl),
                       rkl = set_of(List::rkl), adl_p = set_of(List::adl_p), spr = set_of(List::spr),
                       emr = set_of(List::emr), mtl_p = set_of(List::mtl_p), gnr = set_of(List::gnr),
                       lnl_p = set_of(List::lnl_p), arl_p = set_of(List::arl_p), ptl_p = set_of(List::ptl_p),
                       nvl_p = set_of(List::nvl_p), bnl = set_of(List::bnl), slm = set_of(List::slm),
                       knl = set_of(List::knl), glm = set_of(List::glm), glp = set_of(List::glp),
                       snr = set_of(List::snr), adl_e = set_of(List::adl_e), mtl_e = set_of(List::mtl_e),
                       srf = set_of(List::srf), lnl_e = set_of(List::lnl_e), arl_e = set_of(List::arl_e),
                       ptl_e = set_of(List::ptl_e), cwf = set_of(List::cwf), nvl_e = set_of(List::nvl_e);

}  // namespace pmusim::events::vendor_lists::sets

#endif
