// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PYTHON_MODULE_H
#define PMUSIM_PYTHON_MODULE_H

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <stdexcept>
#include <vector>

#include "pmusim/pmusim.h"

/// The module `pmusim` of Python, over the interface of C and the session.
namespace pmusim::python {

namespace py = pybind11;

/// A call that cannot be: pmusim.Error.
struct Misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A fault that the emulated instruction raises: pmusim.Fault, whose text says why.
struct Raised : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws what a status of the C interface says.
void check(int status);
/// The pointer, or what the last error says.
template <class T>
T* check(T* made) {
  if (made == nullptr) throw Misuse(pmusim_last_error());
  return made;
}

/// PMUSIM_KERNEL or PMUSIM_USER of 0 or 3.
int privilege_of(int level);

/// A column of a table.
template <class T>
py::array_t<T> column(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

/// The program behind a pmusim.Program.
const pmusim_program* program_of(const py::object& program);

void add_cpu(py::module_& module);
void add_program(py::module_& module);
void add_traces(py::module_& module);

}  // namespace pmusim::python

#endif
