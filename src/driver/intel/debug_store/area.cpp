// SPDX-License-Identifier: MIT
#include "driver/intel/debug_store/area.h"

#include "pmusim/arch/msr.h"

namespace pmusim::driver {

u64 DebugStoreArea::offset_of(Writer writer) {
  static_assert(sizeof(Pointers) == offsetof(DsArea64, pebs_base));
  return writer == Writer::pebs ? offsetof(DsArea64, pebs_base) : offsetof(DsArea64, bts_base);
}

Fault DebugStoreArea::map() {
  constexpr u64 area_bytes = 4096;
  if (!mapped_)
    mapped_ =
        access_.probe().map_memory(address_, area_bytes) ? access_.wrmsr(msr::DS_AREA, address_) : Fault::pf;
  return *mapped_;
}

Fault DebugStoreArea::set_up(Writer writer, const RecordBuffer& buffer) {
  if (const Fault fault = map(); fault != Fault::none) return fault;
  if (!access_.probe().map_memory(buffer.address, buffer.bytes)) return Fault::pf;
  buffers_[static_cast<unsigned>(writer)] = buffer.address;
  const u64 whole_records = buffer.bytes / buffer.record_bytes * buffer.record_bytes;
  const Pointers pointers{.base = buffer.address,
                          .index = buffer.address,
                          .maximum = buffer.address + whole_records,
                          .threshold = buffer.address + buffer.threshold_bytes};
  return access_.write_memory(address_ + offset_of(writer), std::as_bytes(std::span(&pointers, 1)));
}

void DebugStoreArea::set_threshold(Writer writer, u64 bytes) {
  write(offset_of(writer) + offsetof(Pointers, threshold), buffers_[static_cast<unsigned>(writer)] + bytes);
}

void DebugStoreArea::write(u64 offset, u64 value) {
  const le64 word = value;
  access_.write_memory(address_ + offset, std::as_bytes(std::span(&word, 1)));
}

std::optional<DebugStoreArea::Pointers> DebugStoreArea::read(Writer writer) const {
  Pointers pointers;
  const Fault fault =
      access_.read_memory(address_ + offset_of(writer), std::as_writable_bytes(std::span(&pointers, 1)));
  if (fault != Fault::none) return std::nullopt;
  return pointers;
}

bool DebugStoreArea::holds_records(Writer writer) const {
  const std::optional<Pointers> pointers = read(writer);
  return !pointers || pointers->index != pointers->base;
}

std::span<std::byte> DebugStoreArea::take(Writer writer) {
  const std::optional<Pointers> pointers = read(writer);
  if (!pointers || pointers->index == pointers->base) return {};
  const u64 base = pointers->base, index = pointers->index;
  const u64 index_offset = offset_of(writer) + offsetof(Pointers, index);
  write(index_offset, base);
  if (index < base) {
    access_.note({BusAccess::read_memory, address_ + index_offset, index});
    return {};
  }
  return access_.memory(base, index - base);
}

}  // namespace pmusim::driver
