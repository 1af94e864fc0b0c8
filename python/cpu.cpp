// SPDX-License-Identifier: MIT
#include <pybind11/stl.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "module.h"

namespace pmusim::python {

namespace {

struct Interrupt {
  uint64_t cycle, ip;
  int ring;
  std::optional<std::vector<uint64_t>> gpr;  // where they are known
};

/// Events of the hardware, a column for each member.
struct EventLog {
  std::vector<uint64_t> cycle, address, value;
  std::vector<uint32_t> kind, counter, detail, flags;

  void add(const pmusim_event& event) {
    cycle.push_back(event.cycle);
    address.push_back(event.address);
    value.push_back(event.value);
    kind.push_back(event.kind);
    counter.push_back(event.counter);
    detail.push_back(event.detail);
    flags.push_back(event.flags);
  }
};

struct DestroySnapshot {
  void operator()(pmusim_snapshot* snapshot) const { pmusim_snapshot_destroy(snapshot); }
};
struct Snapshot {
  std::unique_ptr<pmusim_snapshot, DestroySnapshot> handle;
};

std::string text_of(const py::handle& value) { return py::cast<std::string>(py::str(value)); }

std::string policies_of(const py::kwargs& policies) {
  std::string list;
  for (const auto& [name, value] : policies)
    list += (list.empty() ? "" : ",") + text_of(name) + "=" + text_of(value);
  return list;
}

class Cpu {
 public:
  Cpu(const std::string& model, const py::kwargs& policies)
      : cpu_(check(pmusim_create(model.c_str(), policies_of(policies).c_str()))) {}
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;
  ~Cpu() { pmusim_destroy(cpu_); }

  uint32_t address_of(const py::object& name) const {
    uint32_t address = 0;
    if (!py::isinstance<py::str>(name)) return py::cast<uint32_t>(name);
    check(pmusim_find_register(cpu_, py::cast<std::string>(name).c_str(), &address));
    return address;
  }
  uint64_t rdmsr(const py::object& name) {
    uint64_t value = 0;
    check(pmusim_rdmsr(cpu_, address_of(name), &value));
    return value;
  }
  void wrmsr(const py::object& name, uint64_t value) { check(pmusim_wrmsr(cpu_, address_of(name), value)); }
  uint64_t rdpmc(uint32_t ecx, int ring) {
    uint64_t value = 0;
    check(pmusim_rdpmc(cpu_, ecx, privilege_of(ring), &value));
    return value;
  }
  py::tuple cpuid(uint32_t leaf, uint32_t subleaf) {
    pmusim_cpuid_result result{};
    check(pmusim_cpuid(cpu_, leaf, subleaf, &result));
    return py::make_tuple(result.eax, result.ebx, result.ecx, result.edx);
  }
  uint64_t now() const {
    uint64_t cycle = 0;
    check(pmusim_now(cpu_, &cycle));
    return cycle;
  }

  void map(uint64_t address, std::size_t bytes) { check(pmusim_map(cpu_, address, bytes)); }
  py::bytes read(uint64_t address, std::size_t bytes) {
    const void* const memory = check(pmusim_memory(cpu_, address, bytes));
    return {static_cast<const char*>(memory), bytes};
  }
  void write(uint64_t address, const std::string& bytes) {
    check(pmusim_write(cpu_, address, bytes.data(), bytes.size()));
  }

  void on_pmi(py::object handler) {
    check(pmusim_set_pmi_handler(cpu_, handler.is_none() ? nullptr : enter_handler, this));
    handler_ = std::move(handler);
  }

  void instructions(uint64_t count, int ring) {
    feed(pmusim_run_instructions(cpu_, count, privilege_of(ring)));
  }
  void wait(uint64_t cycles, int ring) { feed(pmusim_wait(cpu_, cycles, privilege_of(ring))); }
  void run(const py::object& program, int ring) {
    feed(pmusim_run_program(cpu_, program_of(program), privilege_of(ring)));
  }
  uint64_t run_code(const std::string& code, uint64_t ip, uint64_t next_ip, int ring) {
    uint64_t retired = 0;
    const pmusim_code what{.ip = ip,
                           .bytes = code.data(),
                           .size = code.size(),
                           .next_ip = next_ip,
                           .addresses = nullptr,
                           .address_count = 0,
                           .privilege = privilege_of(ring)};
    feed(pmusim_run_code(cpu_, &what, &retired));
    return retired;
  }
  uint64_t run_trace(const std::string& path, uint64_t at_most) {
    uint64_t retired = 0;
    feed(pmusim_run_trace(&cpu_, 1, path.c_str(), at_most, &retired));
    return retired;
  }

  uint32_t truth(uint64_t event_select, uint32_t extra_register, uint64_t extra) {
    uint32_t number = 0;
    check(pmusim_truth_begin(cpu_, event_select, extra_register, extra, &number));
    return number;
  }
  uint64_t true_count(uint32_t number) {
    uint64_t count = 0;
    check(pmusim_truth(cpu_, number, &count));
    return count;
  }

  void watch(uint64_t kinds) {
    check(pmusim_set_observer(cpu_, kinds != 0 ? log_event : nullptr, kinds, this));
  }
  py::dict events() const {
    using namespace py::literals;
    return py::dict("cycle"_a = column(log_.cycle), "kind"_a = column(log_.kind),
                    "counter"_a = column(log_.counter), "address"_a = column(log_.address),
                    "value"_a = column(log_.value), "detail"_a = column(log_.detail),
                    "flags"_a = column(log_.flags));
  }

  Snapshot snapshot() const {
    return {std::unique_ptr<pmusim_snapshot, DestroySnapshot>(check(pmusim_snapshot_take(cpu_)))};
  }
  void restore(const Snapshot& snapshot) { check(pmusim_restore(cpu_, snapshot.handle.get())); }
  std::string compare(const Snapshot& snapshot) const {
    int same = 0;
    std::string sentence(256, '\0');
    check(pmusim_compare(cpu_, snapshot.handle.get(), &same, sentence.data(), sentence.size()));
    return sentence.c_str();
  }

  py::dict registers() const {
    using namespace py::literals;
    std::vector<std::string> names;
    std::vector<uint32_t> addresses;
    std::vector<uint64_t> writable, reset;
    for (std::size_t n = 0; n < pmusim_register_count(cpu_); ++n) {
      pmusim_register one{};
      check(pmusim_get_register(cpu_, n, &one));
      names.emplace_back(one.name);
      addresses.push_back(one.address);
      writable.push_back(one.writable);
      reset.push_back(one.reset);
    }
    return py::dict("name"_a = names, "address"_a = column(addresses), "writable"_a = column(writable),
                    "reset"_a = column(reset));
  }

 private:
  static void enter_handler(pmusim_cpu*, const pmusim_interrupt* interrupt, void* context) {
    static_cast<Cpu*>(context)->handle(*interrupt);
  }
  static void log_event(pmusim_cpu*, const pmusim_event* event, void* context) {
    static_cast<Cpu*>(context)->log_.add(*event);
  }

  // An exception of Python's waits until the feed is over: hardware cannot be left in the middle.
  void handle(const pmusim_interrupt& interrupt) {
    if (raised_) return;
    const pmusim_registers& registers = interrupt.registers;
    Interrupt made{interrupt.cycle, registers.rip, interrupt.privilege == PMUSIM_KERNEL ? 0 : 3,
                   std::nullopt};
    if (interrupt.registers_known != 0) made.gpr.emplace(std::begin(registers.gpr), std::end(registers.gpr));
    try {
      handler_(made);
    } catch (...) {
      raised_ = std::current_exception();
    }
  }
  void feed(int status) {
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
    check(status);
  }

  pmusim_cpu* cpu_;
  py::object handler_;
  std::exception_ptr raised_;
  EventLog log_;
};

std::vector<std::string> list(const char* (*name)(size_t)) {
  std::vector<std::string> names;
  while (const char* const next = name(names.size())) names.emplace_back(next);
  return names;
}

void add_kinds(py::module_& module) {
  const std::pair<const char*, pmusim_event_kind> kinds[] = {{"REGISTER_WRITE", PMUSIM_REGISTER_WRITE},
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
  for (const auto& [name, kind] : kinds) module.attr(name) = static_cast<int>(kind);
}

}  // namespace

void add_cpu(py::module_& module) {
  using namespace py::literals;
  module.def(
      "models", [] { return list(pmusim_model_name); }, "Names of the models, oldest first.");
  module.def(
      "policies", [] { return list(pmusim_policy_name); }, "Names of the policies (docs/policies.md).");
  add_kinds(module);
  py::class_<Interrupt>(module, "Interrupt", "The interrupted code at a PMI.")
      .def_readonly("cycle", &Interrupt::cycle)
      .def_readonly("ip", &Interrupt::ip, "of the next instruction")
      .def_readonly("ring", &Interrupt::ring)
      .def_readonly("gpr", &Interrupt::gpr, "RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8..R15, or None");
  py::class_<Snapshot>(module, "Snapshot");
  py::class_<Cpu>(module, "Cpu", "A processor: Cpu('skylake', pmi_skid_cycles=0).")
      .def(py::init<const std::string&, const py::kwargs&>(), "model"_a)
      .def("rdmsr", &Cpu::rdmsr, "register"_a, "By address or name; raises Fault where silicon does.")
      .def("wrmsr", &Cpu::wrmsr, "register"_a, "value"_a)
      .def("rdpmc", &Cpu::rdpmc, "ecx"_a, "ring"_a = 0)
      .def("cpuid", &Cpu::cpuid, "leaf"_a, "subleaf"_a = 0, "(eax, ebx, ecx, edx)")
      .def_property_readonly("now", &Cpu::now, "The core cycle.")
      .def("map", &Cpu::map, "address"_a, "bytes"_a, "Maps zeroed memory.")
      .def("read", &Cpu::read, "address"_a, "bytes"_a)
      .def("write", &Cpu::write, "address"_a, "data"_a)
      .def("on_pmi", &Cpu::on_pmi, "handler"_a,
           "handler(interrupt) is called at each PMI; None: they stay pending.")
      .def("instructions", &Cpu::instructions, "count"_a, "ring"_a = 3)
      .def("wait", &Cpu::wait, "cycles"_a, "ring"_a = 3)
      .def("run", &Cpu::run, "program"_a, "ring"_a = 3)
      .def("run_code", &Cpu::run_code, "code"_a, "ip"_a = 0x401000, "next_ip"_a = 0, "ring"_a = 3)
      .def("run_trace", &Cpu::run_trace, "path"_a, "at_most"_a = ~uint64_t{0})
      .def("truth", &Cpu::truth, "event_select"_a, "extra_register"_a = 0, "extra"_a = 0,
           "Begins to count what an event really does; the number is for true_count.")
      .def("true_count", &Cpu::true_count, "number"_a)
      .def("watch", &Cpu::watch, "kinds"_a,
           "Logs hardware events: a sum of 1 << pmusim.OVERFLOW and the like.")
      .def("events", &Cpu::events, "What has been logged, as columns.")
      .def("snapshot", &Cpu::snapshot)
      .def("restore", &Cpu::restore, "snapshot"_a)
      .def("compare", &Cpu::compare, "snapshot"_a, "The first difference as a sentence, or ''.")
      .def("registers", &Cpu::registers, "The registers of the model, as columns.");
}

}  // namespace pmusim::python
