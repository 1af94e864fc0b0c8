// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PYTHON_MODULE_H
#define PMUSIM_PYTHON_MODULE_H

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "pmusim/pmusim.h"

/// pmusim._pmusim, the compiled part of the package for Python, over the interface of C and the session.
namespace pmusim::python {

namespace py = pybind11;

/// A call that cannot be: pmusim.Error.
struct Misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A fault that the emulated instruction raises: pmusim.Fault, whose text says why.
struct Raised : std::runtime_error {
  Raised(const std::string& why, const pmusim_fault& what) : std::runtime_error(why), fault(what) {}
  pmusim_fault fault;
};

/// Throws what a status of the C interface says, if not that of a fault.
void check(int status);
/// The pointer, or what the last error says.
template <class T>
T* check(T* made) {
  if (made == nullptr) throw Misuse(pmusim_last_error());
  return made;
}

/// PMUSIM_KERNEL or PMUSIM_USER of 0 or 3.
int privilege_of(int ring);
int ring_of(int privilege);
std::string hex(uint64_t value);

/// The docstring that the stub has for "Class.method".
const char* doc(const std::string& name);

/// A class of the module, its docstrings those of the stub.
template <class T>
class Class {
 public:
  template <class... Extra>
  Class(py::module_& module, const char* name, const Extra&... extra)
      : name_(name), class_(module, name, doc(name), extra...) {}
  template <class F, class... Extra>
  Class& def(const char* method, F&& function, const Extra&... extra) {
    class_.def(method, std::forward<F>(function), doc(name_ + "." + method), extra...);
    return *this;
  }
  template <class Made, class... Extra>
  Class& init(Made&& made, const Extra&... extra) {
    class_.def(std::forward<Made>(made), extra...);
    return *this;
  }
  template <class F>
  Class& get(const char* property, F&& function) {
    class_.def_property_readonly(property, std::forward<F>(function), doc(name_ + "." + property));
    return *this;
  }

 private:
  std::string name_;
  py::class_<T> class_;
};

/// The number that a name stands for; `what` it is a name of.
template <std::size_t size>
int number_of(const std::pair<const char*, int> (&names)[size], const std::string& name, const char* what) {
  std::string known;
  for (const auto& [candidate, number] : names) {
    if (name == candidate) return number;
    known += (known.empty() ? "'" : ", '") + std::string(candidate) + "'";
  }
  throw Misuse(std::string("no ") + what + " '" + name + "': expected one of " + known);
}
/// Of enum pmusim_level.
int level_of(const std::string& name);

/// A column that is the vector's own memory.
template <class T>
py::array_t<T> column(std::vector<T> values) {
  auto* const kept = new std::vector<T>(std::move(values));
  const py::capsule owner(kept, [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
  return py::array_t<T>(static_cast<py::ssize_t>(kept->size()), kept->data(), owner);
}
/// The same of 0 and 1, as booleans.
py::object flags(std::vector<uint8_t> values);
/// A column of what each row has: a member, or a function's value.
template <class Row, class Value>
auto column_of(const std::vector<Row>& rows, Value value) {
  using T = std::decay_t<std::invoke_result_t<Value, const Row&>>;
  py::array_t<T> values(static_cast<py::ssize_t>(rows.size()));
  std::transform(rows.begin(), rows.end(), values.mutable_data(),
                 [&](const Row& row) { return std::invoke(value, row); });
  return values;
}
/// Strings, many of them the same.
class Names {
 public:
  void add(std::string_view name);
  /// Python's strings, each of them once.
  py::object column();

 private:
  std::map<std::string, uint32_t, std::less<>> codes_;
  std::vector<std::string> names_;
  std::vector<uint32_t> rows_;
};
/// A pmusim.Table.
py::object table(const py::dict& columns, const py::dict& attributes = {});

/// The bytes of a contiguous buffer of Python, which stays alive and in its place.
class Buffer {
 public:
  enum class Access { read, write };
  Buffer(const py::handle& object, Access access);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();
  void* data() const { return view_.buf; }
  std::size_t size() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

/// Lets Python's handlers of signals run during a long call, ten times a second at most.
class Signals {
 public:
  /// What they raised. Needs no GIL.
  std::exception_ptr raised();
  /// Throws it.
  void hear();

 private:
  std::chrono::steady_clock::time_point next_{};
};

/// Of a pmusim.Instruction; valid as long as that is.
const pmusim_instruction& instruction_of(const py::handle& instruction);

void add_cpu(py::module_& module);
void add_explore(py::module_& module);
void add_instruction(py::module_& module);
void add_program(py::module_& module);
void add_samples(py::module_& module);

}  // namespace pmusim::python

#endif
