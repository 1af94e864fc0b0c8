// SPDX-License-Identifier: MIT
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <memory>

#include "module.h"

namespace pmusim::python {

namespace {

constexpr std::pair<const char*, int> branches[] = {{"", PMUSIM_NO_BRANCH},
                                                    {"conditional", PMUSIM_CONDITIONAL},
                                                    {"direct_jump", PMUSIM_DIRECT_JUMP},
                                                    {"indirect_jump", PMUSIM_INDIRECT_JUMP},
                                                    {"direct_call", PMUSIM_DIRECT_CALL},
                                                    {"indirect_call", PMUSIM_INDIRECT_CALL},
                                                    {"near_return", PMUSIM_NEAR_RETURN},
                                                    {"far_jump", PMUSIM_FAR_JUMP},
                                                    {"far_call", PMUSIM_FAR_CALL},
                                                    {"far_return", PMUSIM_FAR_RETURN},
                                                    {"syscall", PMUSIM_SYSCALL},
                                                    {"sysret", PMUSIM_SYSRET},
                                                    {"software_interrupt", PMUSIM_SOFTWARE_INTERRUPT},
                                                    {"interrupt_return", PMUSIM_INTERRUPT_RETURN},
                                                    {"interrupt", PMUSIM_INTERRUPT},
                                                    {"tsx_abort", PMUSIM_TSX_ABORT}};
constexpr std::pair<const char*, int> accesses[] = {{"load", PMUSIM_LOAD}, {"store", PMUSIM_STORE}};
constexpr std::pair<const char*, int> tlbs[] = {
    {"l1", PMUSIM_TLB_L1}, {"l2", PMUSIM_TLB_L2}, {"walk", PMUSIM_TLB_WALK}};
constexpr std::pair<const char*, int> transactions[] = {
    {"", PMUSIM_NO_TRANSACTION}, {"inside", PMUSIM_IN_TRANSACTION}, {"aborting", PMUSIM_ABORTING}};

struct Access {
  pmusim_access access{};
  std::string kind;
};

Access access(uint64_t address, const std::string& kind, uint32_t bytes, const std::string& level,
              const std::string& tlb, uint32_t latency_cycles, bool locked) {
  return {{.address = address,
           .bytes = bytes,
           .latency_cycles = latency_cycles,
           .kind = static_cast<uint8_t>(number_of(accesses, kind, "kind of access")),
           .level = static_cast<uint8_t>(level_of(level)),
           .tlb = static_cast<uint8_t>(number_of(tlbs, tlb, "TLB level")),
           .locked = locked,
           .reserved = {}},
          kind};
}

/// An instruction and what it points to.
struct Instruction {
  pmusim_instruction instruction{};
  std::vector<pmusim_access> accesses;
  pmusim_registers registers{};
};

std::unique_ptr<Instruction> instruction(uint64_t ip, uint64_t next_ip, uint64_t cycle, uint8_t length,
                                         const std::string& branch, bool taken, bool mispredicted, int ring,
                                         std::optional<int> ring_after, const std::vector<Access>& touched,
                                         const std::vector<std::string>& signals,
                                         const std::map<std::string, uint32_t>& quantities,
                                         uint32_t latency_cycles, uint32_t uops,
                                         const std::string& transaction,
                                         const std::optional<std::array<uint64_t, 16>>& gpr) {
  auto made = std::make_unique<Instruction>();
  for (const Access& one : touched) made->accesses.push_back(one.access);
  pmusim_instruction& what = made->instruction;
  what = {.ip = ip,
          .next_ip = next_ip,
          .cycle = cycle,
          .accesses = made->accesses.data(),
          .registers = gpr ? &made->registers : nullptr,
          .access_count = static_cast<uint32_t>(touched.size()),
          .latency_cycles = latency_cycles,
          .uops = uops,
          .length = length,
          .branch = static_cast<uint8_t>(number_of(branches, branch, "kind of branch")),
          .taken = taken,
          .mispredicted = mispredicted,
          .privilege = static_cast<uint8_t>(privilege_of(ring)),
          .privilege_after = static_cast<uint8_t>(privilege_of(ring_after.value_or(ring))),
          .transaction = static_cast<uint8_t>(number_of(transactions, transaction, "transaction"))};
  if (gpr) std::ranges::copy(*gpr, made->registers.gpr);
  made->registers.rip = next_ip != 0 ? next_ip : ip + length;
  for (const std::string& signal : signals) check(pmusim_add_signal(&what, signal.c_str()));
  for (const auto& [name, value] : quantities) check(pmusim_set_quantity(&what, name.c_str(), value));
  return made;
}

std::string instruction_text(const Instruction& one) {
  const pmusim_instruction& what = one.instruction;
  std::string text = "<pmusim.Instruction";
  if (what.ip != 0) text += " at " + hex(what.ip);
  if (what.branch != PMUSIM_NO_BRANCH) text += std::string(", ") + branches[what.branch].first;
  if (!one.accesses.empty()) text += ", " + std::to_string(one.accesses.size()) + " accesses";
  return text + ">";
}

}  // namespace

const pmusim_instruction& instruction_of(const py::handle& instruction) {
  return py::cast<const Instruction&>(instruction).instruction;
}

void add_instruction(py::module_& module) {
  using namespace py::literals;
  Class<Access>(module, "Access")
      .init(py::init(&access), "address"_a, "kind"_a = "load", "bytes"_a = 8, "level"_a = "", "tlb"_a = "l1",
            "latency_cycles"_a = 0, "locked"_a = false)
      .def("__repr__", [](const Access& one) {
        return "<pmusim.Access " + one.kind + " at " + hex(one.access.address) + ">";
      });
  Class<Instruction>(module, "Instruction")
      .init(py::init(&instruction), "ip"_a = 0, "next_ip"_a = 0, "cycle"_a = 0, "length"_a = 4,
            "branch"_a = "", "taken"_a = false, "mispredicted"_a = false, "ring"_a = 3,
            "ring_after"_a = py::none(), "accesses"_a = py::tuple(), "signals"_a = py::tuple(),
            "quantities"_a = py::dict(), "latency_cycles"_a = 0, "uops"_a = 0, "transaction"_a = "",
            "gpr"_a = py::none())
      .def("__repr__", &instruction_text);
}

}  // namespace pmusim::python
