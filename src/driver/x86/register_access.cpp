// SPDX-License-Identifier: MIT
#include "driver/x86/register_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace pmusim::driver {
namespace {

std::string describe(const BusFault& fault) {
  switch (fault.access) {
    case BusAccess::rdmsr:
      return fmt::format("RDMSR of {:#x}", fault.address);
    case BusAccess::wrmsr:
      return fmt::format("WRMSR of {:#x} to {:#x}", fault.value, fault.address);
    case BusAccess::rdpmc:
      return fmt::format("RDPMC of {:#x}", fault.address);
    case BusAccess::read_memory:
      return fmt::format("read of memory at {:#x}", fault.address);
    case BusAccess::write_memory:
      return fmt::format("write of {:#x} to memory at {:#x}", fault.value, fault.address);
    case BusAccess::xsaves:
      return fmt::format("XSAVES of {:#x} to {:#x}", fault.value, fault.address);
    case BusAccess::xrstors:
      return fmt::format("XRSTORS of {:#x} from {:#x}", fault.value, fault.address);
  }
  return {};
}

}  // namespace

std::string describe(const BusFaults& faults) {
  if (faults.count == 0) return {};
  return fmt::format(
      "{} of the driver's accesses to the PMU faulted, first {}: counts and samples may be wrong",
      faults.count, describe(faults.first));
}

void RegisterAccess::note(const BusFault& fault) {
  if (faults_.count++ == 0) faults_.first = fault;
}

Fault RegisterAccess::write_memory(u64 address, std::span<const std::byte> in) {
  u64 value = 0;
  std::memcpy(&value, in.data(), std::min(in.size(), sizeof(value)));
  return noted(bus_.write_memory(address, in), {BusAccess::write_memory, address, value});
}

std::span<std::byte> RegisterAccess::memory(u64 address, u64 bytes) {
  const std::span<std::byte> view = bus_.memory(address, bytes);
  if (view.empty() && bytes != 0) note({BusAccess::read_memory, address});
  return view;
}

}  // namespace pmusim::driver
