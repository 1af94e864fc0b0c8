// SPDX-License-Identifier: MIT
#include "cpu.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>

#include "pmusim/session/session.h"

namespace pmusim::python {

namespace {

constexpr std::pair<const char*, int> event_kinds[] = {{"REGISTER_WRITE", PMUSIM_REGISTER_WRITE},
                                                       {"ACCESS_FAULT", PMUSIM_ACCESS_FAULT},
                                                       {"OVERFLOW", PMUSIM_OVERFLOW},
                                                       {"RELOAD", PMUSIM_RELOAD},
                                                       {"FREEZE", PMUSIM_FREEZE},
                                                       {"PMI_REQUEST", PMUSIM_PMI_REQUEST},
                                                       {"PMI_DELIVERY", PMUSIM_PMI_DELIVERY},
                                                       {"PMI_RETURN", PMUSIM_PMI_RETURN},
                                                       {"ASSIST_ARMED", PMUSIM_ASSIST_ARMED},
                                                       {"PEBS_RECORD", PMUSIM_PEBS_RECORD},
                                                       {"BTS_RECORD", PMUSIM_BTS_RECORD},
                                                       {"LBR_RECORD", PMUSIM_LBR_RECORD},
                                                       {"RETIREMENT", PMUSIM_RETIREMENT}};
constexpr std::pair<const char*, int> assist_outcomes[] = {
    {"wrote", PMUSIM_ASSIST_WROTE},
    {"full", PMUSIM_ASSIST_FULL},
    {"index_before_base", PMUSIM_ASSIST_INDEX_BEFORE_BASE},
    {"unmapped", PMUSIM_ASSIST_UNMAPPED},
    {"misaligned", PMUSIM_ASSIST_MISALIGNED},
    {"no_area", PMUSIM_ASSIST_NO_AREA},
    {"processor_trace", PMUSIM_ASSIST_PROCESSOR_TRACE}};

std::string text_of(const py::handle& value) { return py::cast<std::string>(py::str(value)); }

std::string policies_of(const py::kwargs& policies) {
  std::string list;
  for (const auto& [name, value] : policies)
    list += (list.empty() ? "" : ",") + text_of(name) + "=" + text_of(value);
  return list;
}

uint64_t kinds_of(const py::args& kinds) {
  uint64_t mask = 0;
  for (const py::handle kind : kinds) {
    const auto number = py::cast<uint32_t>(kind);
    if (number >= std::size(event_kinds))
      throw Misuse("kind is " + std::to_string(number) + ": expected one of pmusim.EventKind");
    mask |= uint64_t{1} << number;
  }
  return mask;
}

/// What an array of a processor's memory keeps alive.
struct Shown {
  py::object cpu;
  int& arrays;
};

}  // namespace

Cpu::Cpu(const std::string& model, const py::kwargs& policies)
    : model_(model), cpu_(check(pmusim_create(model.c_str(), policies_of(policies).c_str()))) {
  check(pmusim_set_poll(cpu_, poll, this));
}

pmusim_cpu* Cpu::handle() const {
  if (user_ != std::thread::id() && user_ != std::this_thread::get_id())
    throw Misuse("another thread feeds the processor");
  return cpu_;
}

void Cpu::done(int status) {
  rethrow();
  if (status <= 0) return check(status);
  pmusim_fault fault{};
  const std::string why = pmusim_last_error();
  check(pmusim_last_fault(cpu_, &fault));
  throw Raised(why, fault);
}

void Cpu::rethrow() {
  if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
}

template <class Call>
void Cpu::feed(Call call) {
  const Use use(*this);
  int status = PMUSIM_OK;
  {
    const py::gil_scoped_release released;
    status = call();
  }
  rethrow();
  check(status);
}

int Cpu::poll(void* self) {
  auto& cpu = *static_cast<Cpu*>(self);
  if (!cpu.raised_) cpu.raised_ = cpu.signals_.raised();
  return cpu.raised_ ? 1 : 0;
}

// --- registers

uint32_t Cpu::address_of(const py::object& name) const {
  uint32_t address = 0;
  if (!py::isinstance<py::str>(name)) return py::cast<uint32_t>(name);
  check(pmusim_find_register(handle(), py::cast<std::string>(name).c_str(), &address));
  return address;
}

uint64_t Cpu::rdmsr(const py::object& name) {
  uint64_t value = 0;
  done(pmusim_rdmsr(handle(), address_of(name), &value));
  return value;
}

uint64_t Cpu::rdpmc(uint32_t ecx, int ring) {
  uint64_t value = 0;
  done(pmusim_rdpmc(handle(), ecx, privilege_of(ring), &value));
  return value;
}

uint64_t Cpu::rdtsc() {
  uint64_t value = 0;
  done(pmusim_rdtsc(handle(), &value));
  return value;
}

py::tuple Cpu::cpuid(uint32_t leaf, uint32_t subleaf) {
  pmusim_cpuid_result result{};
  check(pmusim_cpuid(handle(), leaf, subleaf, &result));
  return py::make_tuple(result.eax, result.ebx, result.ecx, result.edx);
}

uint64_t Cpu::xgetbv(uint32_t ecx) {
  uint64_t value = 0;
  done(pmusim_xgetbv(handle(), ecx, &value));
  return value;
}

void Cpu::set_control(bool pce, bool osxsave, bool ts) {
  check(pmusim_set_control(
      handle(), (pce ? PMUSIM_CR4_PCE : 0) | (osxsave ? PMUSIM_CR4_OSXSAVE : 0) | (ts ? PMUSIM_CR0_TS : 0)));
}

uint64_t Cpu::now() const {
  uint64_t cycle = 0;
  check(pmusim_now(handle(), &cycle));
  return cycle;
}

py::object Cpu::registers() const {
  using namespace py::literals;
  Names names;
  std::vector<pmusim_register> all(pmusim_register_count(handle()));
  for (std::size_t n = 0; n < all.size(); ++n) {
    check(pmusim_get_register(cpu_, n, &all[n]));
    names.add(all[n].name);
  }
  const auto is_read_only = [](const pmusim_register& r) { return r.read_only != 0; };
  const auto is_write_only = [](const pmusim_register& r) { return r.write_only != 0; };
  return table(py::dict("name"_a = names.column(), "address"_a = column_of(all, &pmusim_register::address),
                        "writable"_a = column_of(all, &pmusim_register::writable),
                        "reset"_a = column_of(all, &pmusim_register::reset),
                        "read_only"_a = column_of(all, is_read_only),
                        "write_only"_a = column_of(all, is_write_only)));
}

// --- memory

void Cpu::map_shared(uint64_t address, const py::buffer& memory) {
  auto buffer = std::make_shared<const Buffer>(memory, Buffer::Access::write);
  check(pmusim_map_shared(handle(), address, buffer->data(), buffer->size()));
  shared_[address] = std::move(buffer);
}

void Cpu::unmap(uint64_t address) {
  require_no_arrays();
  check(pmusim_unmap(handle(), address));
  shared_.erase(address);
}

py::bytes Cpu::read(uint64_t address, std::size_t bytes) {
  std::string data(bytes, '\0');
  done(pmusim_read(handle(), address, data.data(), bytes));
  return data;
}

void Cpu::write(uint64_t address, const py::buffer& data) {
  const Buffer bytes(data, Buffer::Access::read);
  done(pmusim_write(handle(), address, bytes.data(), bytes.size()));
}

py::array Cpu::memory(const py::object& self, uint64_t address, std::size_t bytes) {
  Cpu& cpu = py::cast<Cpu&>(self);
  if (cpu.explored_)
    throw Misuse("memory changes from run to run of a scenario: expected read() and write()");
  auto* const first = static_cast<const uint8_t*>(check(pmusim_memory(cpu.handle(), address, bytes)));
  auto* const shown = new Shown{self, cpu.arrays_};
  ++cpu.arrays_;
  const py::capsule owner(shown, [](void* ended) {
    const std::unique_ptr<Shown> last(static_cast<Shown*>(ended));
    --last->arrays;
  });
  return py::array_t<uint8_t>(static_cast<py::ssize_t>(bytes), first, owner);
}

void Cpu::require_no_arrays() const {
  if (arrays_ != 0)
    throw py::buffer_error(std::to_string(arrays_) + " arrays of memory() show what would go: expected none");
}

// --- callbacks

void Cpu::on_pmi(const py::object& handler) {
  check(pmusim_set_pmi_handler(handle(), handler.is_none() ? nullptr : call_pmi_handler, this));
  pmi_handler_ = handler;
}

void Cpu::set_observer(pmusim_observer function, uint64_t kinds) {
  check(pmusim_set_observer(handle(), kinds != 0 ? function : nullptr, kinds, this));
}

void Cpu::observe(const py::object& observer, const py::args& kinds) {
  set_observer(call_observer, kinds_of(kinds));
  observer_ = observer;
}

void Cpu::watch(const py::args& kinds) {
  set_observer(log_event, kinds_of(kinds));
  observer_ = py::none();
}

void Cpu::call_pmi_handler(pmusim_cpu*, const pmusim_interrupt* interrupt, void* self) {
  auto& cpu = *static_cast<Cpu*>(self);
  cpu.enter([&] {
    const pmusim_registers& registers = interrupt->registers;
    Interrupt made{interrupt->cycle, registers.rip, registers.rflags,
                   ring_of(static_cast<int>(interrupt->privilege)), std::nullopt};
    if (interrupt->registers_known != 0) made.gpr.emplace(std::begin(registers.gpr), std::end(registers.gpr));
    const py::object handler = cpu.pmi_handler_;  // which may set another one
    handler(std::move(made));
  });
}

void Cpu::call_observer(pmusim_cpu*, const pmusim_event* event, void* self) {
  auto& cpu = *static_cast<Cpu*>(self);
  cpu.enter([&] {
    const py::object observer = cpu.observer_;
    observer(*event);
  });
}

py::object Cpu::events() {
  using namespace py::literals;
  using E = pmusim_event;
  handle();
  const std::vector<E> log = std::exchange(log_, {});
  return table(py::dict("cycle"_a = column_of(log, &E::cycle), "kind"_a = column_of(log, &E::kind),
                        "counter"_a = column_of(log, &E::counter), "address"_a = column_of(log, &E::address),
                        "value"_a = column_of(log, &E::value), "counters"_a = column_of(log, &E::counters),
                        "detail"_a = column_of(log, &E::detail), "flags"_a = column_of(log, &E::flags),
                        "vector"_a = column_of(log, &E::vector)));
}

void Cpu::log_event(pmusim_cpu*, const pmusim_event* event, void* self) {
  static_cast<Cpu*>(self)->log_.push_back(*event);
}

// --- feeds

void Cpu::retire(const py::object& instructions) {
  std::vector<pmusim_instruction> all;
  const py::list given = py::isinstance<py::iterable>(instructions) ? py::list(instructions)
                                                                    : py::list(py::make_tuple(instructions));
  for (const py::handle one : given) all.push_back(instruction_of(one));
  feed([&] { return pmusim_retire(cpu_, all.data(), all.size()); });
}

void Cpu::instructions(uint64_t count, int ring) {
  const int privilege = privilege_of(ring);
  feed([&] { return pmusim_run_instructions(cpu_, count, privilege); });
}

void Cpu::wait(uint64_t cycles, int ring) {
  const int privilege = privilege_of(ring);
  feed([&] { return pmusim_wait(cpu_, cycles, privilege); });
}

void Cpu::run(Program& program, int ring) {
  const int privilege = privilege_of(ring);
  const Program::Run running(program);
  feed([&] { return pmusim_run_program(cpu_, program.handle(), privilege); });
}

uint64_t Cpu::run_code(const py::buffer& code, uint64_t ip, uint64_t next_ip,
                       const std::vector<uint64_t>& addresses, int ring) {
  uint64_t retired = 0;
  const Buffer bytes(code, Buffer::Access::read);
  const pmusim_code what{.ip = ip,
                         .bytes = bytes.data(),
                         .size = bytes.size(),
                         .next_ip = next_ip,
                         .addresses = addresses.data(),
                         .address_count = addresses.size(),
                         .privilege = privilege_of(ring)};
  feed([&] { return pmusim_run_code(cpu_, &what, &retired); });
  return retired;
}

uint64_t Cpu::run_trace(const std::filesystem::path& path, uint64_t at_most,
                        const std::vector<Cpu*>& others) {
  uint64_t retired = 0;
  std::vector<pmusim_cpu*> all{cpu_};
  std::vector<std::unique_ptr<Use>> uses;
  for (Cpu* const other : others) {
    uses.push_back(std::make_unique<Use>(*other));
    all.push_back(other->cpu_);
  }
  feed([&] { return pmusim_run_trace(all.data(), all.size(), path.c_str(), at_most, &retired); });
  for (Cpu* const other : others) other->rethrow();
  return retired;
}

// --- what happened really

uint32_t Cpu::truth(uint64_t event_select, uint32_t extra_register, uint64_t extra) {
  uint32_t number = 0;
  check(pmusim_truth_begin(handle(), event_select, extra_register, extra, &number));
  return number;
}

uint64_t Cpu::true_count(uint32_t number) const {
  uint64_t count = 0;
  check(pmusim_truth(handle(), number, &count));
  return count;
}

uint64_t Cpu::assists(const std::string& outcome) const {
  uint64_t count = 0;
  check(pmusim_assists(handle(), number_of(assist_outcomes, outcome, "outcome"), &count));
  return count;
}

uint64_t Cpu::acr_reloads(uint32_t counter) const {
  uint64_t count = 0;
  check(pmusim_acr_reloads(handle(), counter, &count));
  return count;
}

// --- snapshots

Snapshot Cpu::snapshot() const {
  std::unique_ptr<pmusim_snapshot, DestroySnapshot> taken(check(pmusim_snapshot_take(handle())));
  return {std::move(taken), shared_, model_, now()};
}

void Cpu::restore(const Snapshot& snapshot) {
  require_no_arrays();
  check(pmusim_restore(handle(), snapshot.handle.get()));
  shared_ = snapshot.shared;
}

std::string Cpu::compare(const Snapshot& snapshot) const {
  int same = 0;
  std::string sentence(256, '\0');
  check(pmusim_compare(handle(), snapshot.handle.get(), &same, sentence.data(), sentence.size()));
  return sentence.c_str();
}

Cpu::Exploration::~Exploration() {
  cpu_.explored_ = false;
  cpu_.shared_ = std::move(shared_);
}

namespace {

/// The processor of an object; null before it is made.
Cpu* made_in(PyObject* object) {
  auto* const instance = reinterpret_cast<py::detail::instance*>(object);
  const bool made = instance->get_value_and_holder().holder_constructed();
  return made ? &py::cast<Cpu&>(py::handle(object)) : nullptr;
}

int visit_handlers(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (Cpu* const cpu = made_in(self)) {
    Py_VISIT(cpu->pmi_handler().ptr());
    Py_VISIT(cpu->observer().ptr());
  }
  return 0;
}

int drop_handlers(PyObject* self) {
  if (Cpu* const cpu = made_in(self)) {
    const auto handler = std::exchange(cpu->pmi_handler(), {});
    const auto observer = std::exchange(cpu->observer(), {});
  }
  return 0;
}

/// The garbage collector sees what a processor refers to: its handlers may refer to it.
void let_collect(PyHeapTypeObject* type) {
  type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->ht_type.tp_traverse = visit_handlers;
  type->ht_type.tp_clear = drop_handlers;
}

void add_kinds(py::module_& module) {
  using namespace py::literals;
  py::dict kinds;
  for (const auto& [name, kind] : event_kinds) kinds[name] = kind;
  py::object made = py::module_::import("enum").attr("IntEnum")("EventKind", kinds, "module"_a = "pmusim");
  made.attr("__doc__") = doc("EventKind");
  module.attr("EventKind") = made;
}

void add_records(py::module_& module) {
  Class<Interrupt>(module, "Interrupt")
      .get("cycle", [](const Interrupt& i) { return i.cycle; })
      .get("ip", [](const Interrupt& i) { return i.ip; })
      .get("rflags", [](const Interrupt& i) { return i.rflags; })
      .get("ring", [](const Interrupt& i) { return i.ring; })
      .get("gpr", [](const Interrupt& i) { return i.gpr; })
      .def("__repr__", [](const Interrupt& i) {
        return "<pmusim.Interrupt at " + hex(i.ip) + ", ring " + std::to_string(i.ring) + ", cycle " +
               std::to_string(i.cycle) + ">";
      });
  Class<pmusim_event>(module, "Event")
      .get("kind",
           [](const pmusim_event& e) { return py::module_::import("pmusim").attr("EventKind")(e.kind); })
      .get("cycle", [](const pmusim_event& e) { return e.cycle; })
      .get("address", [](const pmusim_event& e) { return e.address; })
      .get("value", [](const pmusim_event& e) { return e.value; })
      .get("counters", [](const pmusim_event& e) { return e.counters; })
      .get("counter", [](const pmusim_event& e) { return e.counter; })
      .get("detail", [](const pmusim_event& e) { return e.detail; })
      .get("flags", [](const pmusim_event& e) { return e.flags; })
      .get("vector", [](const pmusim_event& e) { return e.vector; })
      .def("__repr__", [](const pmusim_event& e) {
        return "<pmusim.Event " + std::string(event_kinds[e.kind].first) + ", cycle " +
               std::to_string(e.cycle) + ">";
      });
  Class<Snapshot>(module, "Snapshot").def("__repr__", [](const Snapshot& s) {
    return "<pmusim.Snapshot of " + s.model + ", cycle " + std::to_string(s.cycle) + ">";
  });
}

}  // namespace

void add_cpu(py::module_& module) {
  using namespace py::literals;
  add_kinds(module);
  add_records(module);
  Class<Cpu>(module, "Cpu", py::custom_type_setup(let_collect))
      .init(py::init<const std::string&, const py::kwargs&>(), "model"_a = default_model)
      .get("model", &Cpu::model)
      .get("now", &Cpu::now)
      .def("rdmsr", &Cpu::rdmsr, "register"_a)
      .def("wrmsr", &Cpu::wrmsr, "register"_a, "value"_a)
      .def("rdpmc", &Cpu::rdpmc, "ecx"_a, "ring"_a = 0)
      .def("rdtsc", &Cpu::rdtsc)
      .def("cpuid", &Cpu::cpuid, "leaf"_a, "subleaf"_a = 0)
      .def("set_control", &Cpu::set_control, py::kw_only(), "pce"_a = false, "osxsave"_a = true,
           "ts"_a = false)
      .def("xgetbv", &Cpu::xgetbv, "ecx"_a)
      .def("xsetbv", &Cpu::xsetbv, "ecx"_a, "value"_a)
      .def("xsave", &Cpu::xsave<PMUSIM_XSAVE>, "address"_a, "features"_a, "ring"_a = 0)
      .def("xsaveopt", &Cpu::xsave<PMUSIM_XSAVEOPT>, "address"_a, "features"_a, "ring"_a = 0)
      .def("xsavec", &Cpu::xsave<PMUSIM_XSAVEC>, "address"_a, "features"_a, "ring"_a = 0)
      .def("xsaves", &Cpu::xsave<PMUSIM_XSAVES>, "address"_a, "features"_a, "ring"_a = 0)
      .def("xrstor", &Cpu::xsave<PMUSIM_XRSTOR>, "address"_a, "features"_a, "ring"_a = 0)
      .def("xrstors", &Cpu::xsave<PMUSIM_XRSTORS>, "address"_a, "features"_a, "ring"_a = 0)
      .def("reset", &Cpu::reset)
      .def("registers", &Cpu::registers)
      .def("map", &Cpu::map, "address"_a, "bytes"_a)
      .def("map_shared", &Cpu::map_shared, "address"_a, "memory"_a)
      .def("unmap", &Cpu::unmap, "address"_a)
      .def("read", &Cpu::read, "address"_a, "bytes"_a)
      .def("write", &Cpu::write, "address"_a, "data"_a)
      .def("memory", &Cpu::memory, "address"_a, "bytes"_a)
      .def("on_pmi", &Cpu::on_pmi, "handler"_a)
      .def("observe", &Cpu::observe, "observer"_a)
      .def("watch", &Cpu::watch)
      .def("events", &Cpu::events)
      .def("retire", &Cpu::retire, "instructions"_a)
      .def("instructions", &Cpu::instructions, "count"_a, "ring"_a = 3)
      .def("wait", &Cpu::wait, "cycles"_a, "ring"_a = 3)
      .def("run", &Cpu::run, "program"_a, "ring"_a = 3)
      .def("run_code", &Cpu::run_code, "code"_a, "ip"_a = 0x401000, "next_ip"_a = 0,
           "addresses"_a = py::tuple(), "ring"_a = 3)
      .def("run_trace", &Cpu::run_trace, "path"_a, "at_most"_a = ~uint64_t{0}, "others"_a = py::tuple())
      .def("truth", &Cpu::truth, "event_select"_a, "extra_register"_a = 0, "extra"_a = 0)
      .def("true_count", &Cpu::true_count, "number"_a)
      .def("assists", &Cpu::assists, "outcome"_a = "wrote")
      .def("acr_reloads", &Cpu::acr_reloads, "counter"_a)
      .def("snapshot", &Cpu::snapshot)
      .def("restore", &Cpu::restore, "snapshot"_a)
      .def("compare", &Cpu::compare, "snapshot"_a)
      .def("__repr__", [](const Cpu& cpu) {
        return "<pmusim.Cpu " + cpu.model() + ", cycle " + std::to_string(cpu.now()) + ">";
      });
}

}  // namespace pmusim::python
