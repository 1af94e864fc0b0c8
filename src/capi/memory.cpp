// SPDX-License-Identifier: MIT
// The memory that software shares with the processor.
#include <fmt/format.h>

#include "capi/cpu.h"

using namespace pmusim;
using capi::changeable;
using capi::guarded;
using capi::Misuse;
using capi::require;

namespace pmusim::capi {
namespace {

constexpr u64 most_bytes = u64{1} << 30;

/// Throws Misuse where the pointer is null and there is something to copy.
template <class T>
T* bytes_of(T* pointer, u64 bytes, std::string_view name) {
  return bytes != 0 ? &require(pointer, name) : pointer;
}

std::span<std::byte> writable(void* memory, u64 bytes, std::string_view name) {
  return {bytes_of(static_cast<std::byte*>(memory), bytes, name), static_cast<std::size_t>(bytes)};
}

std::span<const std::byte> readable(const void* memory, u64 bytes, std::string_view name) {
  return {bytes_of(static_cast<const std::byte*>(memory), bytes, name), static_cast<std::size_t>(bytes)};
}

int check_mapped(bool mapped, u64 address, u64 bytes) {
  if (!mapped)
    throw Misuse(
        fmt::format("cannot map {} bytes at {:#x}: expected a range that does not wrap, where nothing "
                    "is mapped",
                    bytes, address));
  return PMUSIM_OK;
}

void check_size(u64 bytes) {
  if (bytes == 0 || bytes > most_bytes)
    throw Misuse(fmt::format("bytes is {}: expected 1 to {}", bytes, most_bytes));
}

/// Keeps the sentence for pmusim_last_error, where an access to memory faulted.
void explain_page_fault(std::string_view function, Fault fault, u64 address, u64 bytes) {
  if (fault != Fault::none)
    set_last_error(function, fmt::format("{}: {} bytes at {:#x} are not mapped in one region", name_of(fault),
                                         bytes, address));
}

}  // namespace
}  // namespace pmusim::capi

int pmusim_map(pmusim_cpu* cpu, uint64_t address, size_t bytes) {
  return guarded("pmusim_map", [&] {
    capi::check_size(bytes);
    return capi::check_mapped(changeable(cpu).map(address, bytes), address, bytes);
  });
}

int pmusim_map_shared(pmusim_cpu* cpu, uint64_t address, void* memory, size_t bytes) {
  return guarded("pmusim_map_shared", [&] {
    capi::check_size(bytes);
    const std::span<std::byte> lent = capi::writable(memory, bytes, "memory");
    return capi::check_mapped(changeable(cpu).map(address, lent), address, bytes);
  });
}

int pmusim_unmap(pmusim_cpu* cpu, uint64_t address) {
  return guarded("pmusim_unmap", [&] {
    if (!changeable(cpu).unmap(address)) throw Misuse(fmt::format("no region starts at {:#x}", address));
    return PMUSIM_OK;
  });
}

int pmusim_read(pmusim_cpu* cpu, uint64_t address, void* out, size_t bytes) {
  return guarded("pmusim_read", [&] {
    Bus& bus = require(cpu, "cpu").bus();
    const Fault fault = bus.read_memory(address, capi::writable(out, bytes, "out"));
    capi::explain_page_fault("pmusim_read", fault, address, bytes);
    return cpu->status(fault);
  });
}

int pmusim_write(pmusim_cpu* cpu, uint64_t address, const void* in, size_t bytes) {
  return guarded("pmusim_write", [&] {
    Bus& bus = changeable(cpu).bus();
    const Fault fault = bus.write_memory(address, capi::readable(in, bytes, "in"));
    capi::explain_page_fault("pmusim_write", fault, address, bytes);
    return cpu->status(fault, capi::page_fault_write);
  });
}

void* pmusim_memory(pmusim_cpu* cpu, uint64_t address, size_t bytes) {
  return guarded<void*>("pmusim_memory", nullptr, [&]() -> void* {
    const std::span<std::byte> view = require(cpu, "cpu").pmu().memory(address, bytes);
    if (view.empty())
      throw Misuse(fmt::format("{} bytes at {:#x} are not mapped in one region", bytes, address));
    return view.data();
  });
}
