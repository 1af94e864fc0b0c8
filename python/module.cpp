// SPDX-License-Identifier: MIT
#include "module.h"

#include <string>

namespace pmusim::python {

void check(int status) {
  switch (status) {
    case PMUSIM_OK:
      return;
    case PMUSIM_UD:
    case PMUSIM_NM:
    case PMUSIM_GP:
    case PMUSIM_PF:
      throw Raised(pmusim_last_error());
    default:
      throw Misuse(pmusim_last_error());
  }
}

int privilege_of(int level) {
  if (level != 0 && level != 3) throw Misuse("ring is " + std::to_string(level) + ": expected 0 or 3");
  return level == 0 ? PMUSIM_KERNEL : PMUSIM_USER;
}

}  // namespace pmusim::python

PYBIND11_MODULE(pmusim, module) {
  using namespace pmusim::python;
  module.doc() = "A cycle-level emulation of Intel's performance monitoring units.";
  module.attr("__version__") = pmusim_version();
  const auto& error = py::register_exception<Misuse>(module, "Error");
  py::register_exception<Raised>(module, "Fault", error);
  add_cpu(module);
  add_program(module);
  add_traces(module);
}
