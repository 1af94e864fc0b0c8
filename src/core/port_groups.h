// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_PORT_GROUPS_H
#define PMUSIM_CORE_PORT_GROUPS_H

#include <iterator>

#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// The quantity that counts uops of a port, or Quantity::none: events of ports have eight umasks, which ten
/// and twelve ports share from Ice Lake on (UOPS_DISPATCHED.PORT_2_3, .PORT_4_9, .PORT_5_11, .PORT_7_8).
constexpr Quantity port_quantity(PortEvents events, unsigned port) {
  constexpr unsigned first = static_cast<unsigned>(Quantity::uops_port_0);
  constexpr unsigned ten_and_more[] = {0, 1, 2, 2, 4, 5, 6, 7, 7, 4, 2, 5};
  const bool shared = events == PortEvents::shared;
  if (port >= (shared ? std::size(ten_and_more) : 8)) return Quantity::none;
  return static_cast<Quantity>(first + (shared ? ten_and_more[port] : port));
}

}  // namespace pmusim

#endif
