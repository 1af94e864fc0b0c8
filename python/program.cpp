// SPDX-License-Identifier: MIT
#include <string>

#include "module.h"

namespace pmusim::python {

namespace {

class Program {
 public:
  explicit Program(uint64_t ip) : program_(check(pmusim_program_create(ip))) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { pmusim_program_destroy(program_); }
  pmusim_program* handle() const { return program_; }

 private:
  pmusim_program* program_;
};

/// What stands behind a `with` is a body, until it ends.
struct Body {
  py::object program;
};

int level_of(const std::string& name) {
  const std::pair<const char*, int> levels[] = {{"", PMUSIM_LEVEL_DEFAULT},
                                                {"l1", PMUSIM_L1},
                                                {"l2", PMUSIM_L2},
                                                {"l3", PMUSIM_L3},
                                                {"memory", PMUSIM_MEMORY}};
  for (const auto& [known, level] : levels)
    if (name == known) return level;
  throw Misuse("no level '" + name + "': expected l1, l2, l3 or memory");
}

pmusim_program* handle_of(const py::object& program) { return py::cast<const Program&>(program).handle(); }

/// Makes a method that begins a body.
template <auto begin, class... Arguments>
Body open(const py::object& program, Arguments... arguments) {
  check(begin(handle_of(program), arguments...));
  return {program};
}

}  // namespace

const pmusim_program* program_of(const py::object& program) { return handle_of(program); }

void add_program(py::module_& module) {
  using namespace py::literals;
  py::class_<Body>(module, "Body")
      .def("__enter__", [](const Body& body) { return body.program; })
      .def("__exit__",
           [](const Body& body, const py::args&) { check(pmusim_program_end(handle_of(body.program))); });
  py::class_<Program>(module, "Program", R"(A synthetic program, piece by piece:

    program = Program()
    with program.loop(1000):
        program.instructions(3))")
      .def(py::init<uint64_t>(), "ip"_a = 0x401000)
      .def(
          "instructions",
          [](const Program& p, uint64_t count) { check(pmusim_program_instructions(p.handle(), count)); },
          "count"_a)
      .def(
          "load",
          [](const Program& p, uint64_t address, uint32_t bytes, int64_t stride, const std::string& level) {
            check(pmusim_program_load(p.handle(), address, bytes, stride, level_of(level)));
          },
          "address"_a, "bytes"_a = 8, "stride"_a = 0, "level"_a = "")
      .def(
          "store",
          [](const Program& p, uint64_t address, uint32_t bytes, int64_t stride, const std::string& level) {
            check(pmusim_program_store(p.handle(), address, bytes, stride, level_of(level)));
          },
          "address"_a, "bytes"_a = 8, "stride"_a = 0, "level"_a = "")
      .def(
          "flush",
          [](const Program& p, uint64_t address) { check(pmusim_program_flush(p.handle(), address)); },
          "address"_a)
      .def("jump", [](const Program& p) { check(pmusim_program_jump(p.handle())); })
      .def("loop", &open<pmusim_program_begin_loop, uint64_t, int>, "iterations"_a, "mispredicted_exit"_a = 0)
      .def(
          "around",
          [](const py::object& p, const std::string& outcomes) {
            return open<pmusim_program_begin_around>(p, outcomes.c_str());
          },
          "outcomes"_a)
      .def("call", &open<pmusim_program_begin_call>)
      .def("system_call", &open<pmusim_program_begin_system_call>);
}

}  // namespace pmusim::python
