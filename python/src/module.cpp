// SPDX-License-Identifier: MIT
#include "module.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "docstrings.h"
#include "pmusim/session/session.h"

namespace pmusim::python {

void check(int status) {
  if (status != PMUSIM_OK) throw Misuse(pmusim_last_error());
}

int privilege_of(int ring) {
  if (ring != 0 && ring != 3) throw Misuse("ring is " + std::to_string(ring) + ": expected 0 or 3");
  return ring == 0 ? PMUSIM_KERNEL : PMUSIM_USER;
}

int ring_of(int privilege) { return privilege == PMUSIM_KERNEL ? 0 : 3; }

std::string hex(uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

const char* doc(const std::string& name) {
  const auto found = std::ranges::find(docstrings, name, [](const auto& one) { return one.first; });
  if (found != std::end(docstrings)) return found->second;
  if (name.find("__") != name.npos) return "";
  throw std::logic_error("_pmusim.pyi says nothing of " + name);
}

int level_of(const std::string& name) {
  static constexpr std::pair<const char*, int> levels[] = {
      {"", PMUSIM_LEVEL_DEFAULT}, {"l1", PMUSIM_L1}, {"fill_buffer", PMUSIM_FILL_BUFFER},
      {"l2", PMUSIM_L2},          {"l3", PMUSIM_L3}, {"memory", PMUSIM_MEMORY}};
  return number_of(levels, name, "level");
}

py::object flags(std::vector<uint8_t> values) { return column(std::move(values)).attr("view")("bool"); }

void Names::add(std::string_view name) {
  auto found = codes_.find(name);
  if (found == codes_.end()) {
    found = codes_.emplace(name, static_cast<uint32_t>(names_.size())).first;
    names_.emplace_back(name);
  }
  rows_.push_back(found->second);
}

// An array of objects that is taken from needs one, even if nothing is taken.
py::object Names::column() {
  using namespace py::literals;
  if (names_.empty()) names_.emplace_back();
  const py::object names = py::module_::import("numpy").attr("array")(names_, "dtype"_a = "object");
  return names.attr("take")(python::column(std::move(rows_)));
}

py::object table(const py::dict& columns, const py::dict& attributes) {
  return py::module_::import("pmusim.table").attr("Table")(columns, attributes);
}

Buffer::Buffer(const py::handle& object, Access access) {
  if (PyObject_GetBuffer(object.ptr(), &view_, access == Access::write ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0)
    throw py::error_already_set();
}

// Whoever drops the last reference may do so in a thread without the GIL.
Buffer::~Buffer() {
  const py::gil_scoped_acquire held;
  PyBuffer_Release(&view_);
}

std::exception_ptr Signals::raised() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return nullptr;
  next_ = now + std::chrono::milliseconds(100);
  const py::gil_scoped_acquire held;
  if (PyErr_CheckSignals() == 0) return nullptr;
  return std::make_exception_ptr(py::error_already_set());
}

void Signals::hear() {
  if (auto error = raised()) std::rethrow_exception(error);
}

namespace {

std::vector<std::string> list(const char* (*name)(size_t)) {
  std::vector<std::string> names;
  while (const char* const next = name(names.size())) names.emplace_back(next);
  return names;
}

void set_error(const char* type, const py::tuple& arguments) {
  const py::object error = py::module_::import("pmusim.errors").attr(type);
  PyErr_SetObject(error.ptr(), error(*arguments).ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Raised& raised) {
    const auto& [vector, has_error_code, error_code] = raised.fault;
    set_error("Fault",
              py::make_tuple(raised.what(), vector, has_error_code != 0 ? py::cast(error_code) : py::none()));
  } catch (const Misuse& misuse) {
    set_error("Error", py::make_tuple(misuse.what()));
  }
}

}  // namespace

}  // namespace pmusim::python

PYBIND11_MODULE(_pmusim, module) {
  using namespace pmusim::python;
  // Classes are those of the package.
  module.attr("__name__") = "pmusim";
  module.attr("__version__") = pmusim_version();
  module.attr("default_model") = pmusim::default_model;
  module.def(
      "models", [] { return list(pmusim_model_name); }, doc("models"));
  module.def(
      "policies", [] { return list(pmusim_policy_name); }, doc("policies"));
  py::register_exception_translator(translate);
  add_instruction(module);
  add_program(module);
  add_cpu(module);
  add_explore(module);
  add_samples(module);
  module.attr("__name__") = "pmusim._pmusim";
}
