// SPDX-License-Identifier: MIT
#include "driver/x86/local_apic.h"

#include <boost/endian/arithmetic.hpp>
#include <span>

#include "pmusim/arch/msr.h"

namespace pmusim::driver {
namespace {

std::span<const std::byte> entry_in_memory() {
  static const boost::endian::little_uint32_t word{static_cast<u32>(msr::lvtpc::NMI)};
  return std::as_bytes(std::span(&word, 1));
}

}  // namespace

void LocalApic::set_up() {
  Bus& bus = access_.probe();
  in_memory_ = bus.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI) != Fault::none;
  reachable_ = !in_memory_ || bus.write_memory(msr::lvtpc::XAPIC_ADDRESS, entry_in_memory()) == Fault::none;
}

void LocalApic::unmask() {
  if (!in_memory_)
    access_.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  else if (reachable_)
    access_.write_memory(msr::lvtpc::XAPIC_ADDRESS, entry_in_memory());
}

}  // namespace pmusim::driver
