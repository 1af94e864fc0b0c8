// SPDX-License-Identifier: MIT
#include "program.h"

#include <string>

namespace pmusim::python {

namespace {

/// What stands behind a `with` is a body, until it ends.
struct Body {
  py::object program;
};

const Program& of(const py::object& program) { return py::cast<const Program&>(program); }

/// Makes a method that begins a body.
template <auto begin, class... Arguments>
Body open(const py::object& program, Arguments... arguments) {
  check(begin(of(program).building(), arguments...));
  return {program};
}

/// Makes a method that adds a piece.
template <auto piece, class... Arguments>
void add(const Program& program, Arguments... arguments) {
  check(piece(program.building(), arguments...));
}

/// Makes a method that adds an access.
template <auto piece>
void access(const Program& program, uint64_t address, uint32_t bytes, int64_t stride,
            const std::string& level) {
  check(piece(program.building(), address, bytes, stride, level_of(level)));
}

Body around(const py::object& program, const std::string& outcomes) {
  return open<pmusim_program_begin_around>(program, outcomes.c_str());
}

}  // namespace

pmusim_program* Program::building() const {
  if (runs_ != 0) throw Misuse("the program is running");
  return program_;
}

void add_program(py::module_& module) {
  using namespace py::literals;
  Class<Body>(module, "Body")
      .def("__enter__", [](const Body& body) { return body.program; })
      .def("__exit__",
           [](const Body& body, const py::args&) { check(pmusim_program_end(of(body.program).building())); })
      .def("__repr__",
           [](const Body& body) { return "<pmusim.Body of " + std::string(py::repr(body.program)) + ">"; });
  Class<Program>(module, "Program")
      .init(py::init<uint64_t>(), "ip"_a = 0x401000)
      .def("instructions", &add<pmusim_program_instructions, uint64_t>, "count"_a)
      .def("load", &access<pmusim_program_load>, "address"_a, "bytes"_a = 8, "stride"_a = 0, "level"_a = "")
      .def("store", &access<pmusim_program_store>, "address"_a, "bytes"_a = 8, "stride"_a = 0, "level"_a = "")
      .def("flush", &add<pmusim_program_flush, uint64_t>, "address"_a)
      .def("jump", &add<pmusim_program_jump>)
      .def("loop", &open<pmusim_program_begin_loop, uint64_t, bool>, "iterations"_a,
           "mispredicted_exit"_a = false)
      .def("around", &around, "outcomes"_a)
      .def("call", &open<pmusim_program_begin_call>)
      .def("system_call", &open<pmusim_program_begin_system_call>)
      .def("__repr__", [](const Program& p) { return "<pmusim.Program at " + hex(p.ip()) + ">"; });
}

}  // namespace pmusim::python
