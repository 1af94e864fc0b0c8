// SPDX-License-Identifier: MIT
#include "host/access_text.h"

#include <fmt/format.h>

namespace pmusim::linux_driver {

namespace {

std::string_view name_of(Access::Kind kind) {
  if (kind == Access::Kind::rdpmc) return "rdpmc";
  return kind == Access::Kind::rdmsr ? "rdmsr" : "wrmsr";
}

std::string place(const Access& access) {
  if (access.kind == Access::Kind::rdpmc) return fmt::format("{:x}", access.address);
  const Register* const row = KernelMachine::present().pmu().registers().find(access.address);
  return row == nullptr ? fmt::format("{:x}", access.address)
                        : fmt::format("{} ({:x})", row->name(), access.address);
}

}  // namespace

std::string AccessText::operator()(const Access& access) const {
  return fmt::format("{} {} = {:x}{}  {}", name_of(access.kind), place(access), access.value,
                     access.faulted ? " faults" : "", symbols_.at(access.caller));
}

}  // namespace pmusim::linux_driver
