// SPDX-License-Identifier: MIT
#include "driver/debug_store/pebs_demux.h"

#include <bit>
#include <cstring>

#include "pmusim/arch/debug_store.h"
#include "pmusim/arch/pebs_format.h"

namespace pmusim::driver {

namespace {

u64 load_word(std::span<const std::byte> buffer, std::size_t offset) {
  le64 word;
  std::memcpy(&word, buffer.data() + offset, sizeof(word));
  return word;
}

void store_word(std::span<std::byte> buffer, std::size_t offset, u64 value) {
  const le64 word = value;
  std::memcpy(buffer.data() + offset, &word, sizeof(word));
}

/// What std::has_single_bit counts bits for, one by one where the processor cannot be sure to.
bool several(u64 owners) { return (owners & (owners - 1)) != 0; }

/// A header of an arch-PEBS fragment at `offset`, or 0 where there is none.
u64 header_at(std::span<const std::byte> buffer, std::size_t offset) {
  if (buffer.size() - offset < sizeof(pebs::ArchHeader)) return 0;
  const u64 word = load_word(buffer, offset);
  const u64 size = word & pebs::header::SIZE;
  return size >= sizeof(pebs::ArchHeader) && size <= buffer.size() - offset ? word : 0;
}

/// The record goes on in the next fragment.
bool continues(u64 header) {
  return (header & pebs::header::CONTINUED) != 0 || pebs::header::is_null(header);
}

bool has_basic_group(u64 header) {
  return (header & pebs::header::BASIC) != 0 &&
         (header & pebs::header::SIZE) >= sizeof(pebs::ArchHeader) + sizeof(pebs::ArchBasic);
}

/// The least that a record with an owner has.
std::size_t smallest_record_bytes(unsigned format) {
  return pebs::is_fixed(format) ? pebs::fixed_record_bytes(format) : sizeof(pebs::BasicGroup);
}

}  // namespace

std::size_t first_record_bytes(std::span<const std::byte> buffer, unsigned format) {
  if (pebs::is_fixed(format)) {
    const std::size_t size = pebs::fixed_record_bytes(format);
    return size <= buffer.size() ? size : 0;
  }
  if (pebs::is_adaptive(format)) {
    if (buffer.size() < sizeof(pebs::BasicGroup)) return 0;
    const std::size_t size = load_word(buffer, 0) >> 48;
    return size >= sizeof(pebs::BasicGroup) && size <= buffer.size() ? size : 0;
  }
  u64 word = header_at(buffer, 0);
  std::size_t bytes = word & pebs::header::SIZE;
  if (!has_basic_group(word)) return bytes;
  while (continues(word) && (word = header_at(buffer, bytes)) != 0) bytes += word & pebs::header::SIZE;
  return bytes;
}

DemuxTotals& DemuxTotals::operator+=(const DemuxTotals& other) {
  records += other.records;
  attributed += other.attributed;
  collided += other.collided;
  unowned += other.unowned;
  odd_size += other.odd_size;
  headless += other.headless;
  shared += other.shared;
  rescued += other.rescued;
  trailing_bytes += other.trailing_bytes;
  for (unsigned i = 0; i < pebs_counters; ++i) {
    samples[i] += other.samples[i];
    lost[i] += other.lost[i];
  }
  return *this;
}

DemuxTotals Demultiplexer::scan(std::span<std::byte> buffer, const DemuxSetup& asked) {
  counters_seen_ = 0;
  DemuxTotals totals;
  DemuxSetup setup = asked;
  setup.enabled &= low_bits(pebs_counters);
  make_room(buffer.size() / smallest_record_bytes(asked.format), setup.enabled);
  if (pebs::has_registers_alone(setup.format))
    scan_core(buffer, setup, totals);
  else if (pebs::is_fixed(setup.format))
    scan_fixed(buffer, setup, totals);
  else if (pebs::is_adaptive(setup.format))
    scan_adaptive(buffer, setup, totals);
  else
    scan_arch(buffer, setup, totals);
  return totals;
}

/// Nothing has to grow while records are read.
void Demultiplexer::make_room(std::size_t records, u64 counters) {
  std::size_t room = 0;
  for (const unsigned counter : set_bits(counters)) {
    begin_[counter] = room;
    room += records;
  }
  if (places_.size() < room) places_.resize(room);
  if (owners_.size() < records) owners_.resize(records);
}

inline void Demultiplexer::attribute(RecordPlace place, u64 owners, DemuxTotals& totals) {
  if (owners == 0) {
    ++totals.unowned;
    return;
  }
  owners_[totals.attributed++] = owners;
  if (several(owners)) ++totals.shared;
  counters_seen_ |= owners;
  for (const unsigned counter : set_bits(owners))
    places_[begin_[counter] + totals.samples[counter]++] = place;
}

void Demultiplexer::scan_core(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals) {
  const std::size_t size = pebs::fixed_record_bytes(0);
  totals.records = buffer.size() / size;
  totals.trailing_bytes = buffer.size() % size;
  for (std::size_t i = 0; i < totals.records; ++i) attribute({i * size, size}, setup.enabled & 1, totals);
}

void Demultiplexer::scan_fixed(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals) {
  constexpr std::size_t status_offset = offsetof(pebs::FixedRecord, status);
  const std::size_t size = pebs::fixed_record_bytes(setup.format);
  totals.records = buffer.size() / size;
  totals.trailing_bytes = buffer.size() % size;
  for (std::size_t offset = 0; offset + size <= buffer.size(); offset += size) {
    u64 owners = load_word(buffer, offset + status_offset) & setup.enabled;
    if (!pebs::has_own_status(setup.format)) {
      // The hardware can lose the status when it races with a clear; a lone event is still known.
      if (owners == 0 && std::has_single_bit(setup.enable_word)) {
        owners = setup.enable_word & setup.enabled;
        if (owners != 0) {
          store_word(buffer, offset + status_offset, owners);
          ++totals.rescued;
        }
      }
      if (several(owners)) {
        ++totals.collided;
        counters_seen_ |= owners;
        for (const unsigned counter : set_bits(owners)) ++totals.lost[counter];
        continue;
      }
    }
    attribute({offset, size}, owners, totals);
  }
}

void Demultiplexer::scan_adaptive(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals) {
  constexpr std::size_t counters_offset = offsetof(pebs::BasicGroup, applicable_counters);
  std::size_t offset = 0;
  while (const std::size_t size = first_record_bytes(buffer.subspan(offset), setup.format)) {
    ++totals.records;
    if (size == setup.record_bytes)
      attribute({offset, size}, load_word(buffer, offset + counters_offset) & setup.enabled, totals);
    else
      ++totals.odd_size;
    offset += size;
  }
  totals.trailing_bytes = buffer.size() - offset;
}

void Demultiplexer::scan_arch(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals) {
  constexpr std::size_t counters_offset =
      sizeof(pebs::ArchHeader) + offsetof(pebs::ArchBasic, applicable_counters);
  std::size_t offset = 0;
  while (const std::size_t size = first_record_bytes(buffer.subspan(offset), setup.format)) {
    const u64 word = load_word(buffer, offset);
    if (has_basic_group(word))
      attribute({offset, size}, load_word(buffer, offset + counters_offset) & setup.enabled, totals);
    else if (!pebs::header::is_null(word))
      ++totals.headless;
    totals.records += !pebs::header::is_null(word);
    offset += size;
  }
  totals.trailing_bytes = buffer.size() - offset;
}

}  // namespace pmusim::driver
