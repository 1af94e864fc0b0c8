// SPDX-License-Identifier: MIT
#include "pmusim/base/bus.h"

namespace pmusim {

std::string_view name_of(Fault fault) {
  switch (fault) {
    case Fault::gp:
      return "#GP";
    case Fault::ud:
      return "#UD";
    case Fault::pf:
      return "#PF";
    case Fault::nm:
      return "#NM";
    case Fault::none:
      break;
  }
  return "no fault";
}

}  // namespace pmusim
