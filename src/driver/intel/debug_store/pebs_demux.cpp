// SPDX-License-Identifier: MIT
#include "driver/intel/debug_store/pebs_demux.h"

#include <bit>

#include "driver/x86/record_word.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

namespace {

/// What std::has_single_bit counts bits for, one by one where the processor cannot be sure to.
constexpr bool several(u64 owners) { return (owners & (owners - 1)) != 0; }

constexpr std::size_t status_offset = offsetof(pebs::FixedRecord, status);

/// A header of an arch-PEBS fragment at `offset`, or 0 where there is none.
u64 header_at(std::span<const std::byte> buffer, std::size_t offset) {
  if (buffer.size() - offset < sizeof(pebs::ArchHeader)) return 0;
  const u64 word = load_word(&buffer[offset]);
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
    const std::size_t size = load_word(&buffer[0]) >> 48;
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

template <DrainOrder order>
DemuxTotals Demultiplexer::scan(std::span<std::byte> buffer, const DemuxSetup& asked) {
  DemuxTotals totals;
  DemuxSetup setup = asked;
  setup.enabled &= low_bits(pebs_counters);
  make_room(buffer.size() / smallest_record_bytes(asked.format), setup.enabled);
  if constexpr (order == DrainOrder::grouped) {
    if (pebs::has_registers_alone(setup.format))
      scan_core(buffer, setup, totals);
    else if (pebs::is_fixed(setup.format))
      scan_fixed(buffer, setup, totals);
  }
  if (pebs::is_adaptive(setup.format))
    scan_adaptive<order>(buffer, setup, totals);
  else if (!pebs::is_fixed(setup.format))
    scan_arch<order>(buffer, setup, totals);
  totals.attributed = totals.records - totals.unowned - totals.collided - totals.odd_size - totals.headless;
  counters_seen_ = 0;
  for (const unsigned counter : set_bits(setup.enabled)) {
    if constexpr (order == DrainOrder::grouped)
      totals.samples[counter] = static_cast<u64>(end_[counter] - begin_[counter]);
    if (totals.samples[counter] != 0 || totals.lost[counter] != 0) counters_seen_ |= bit(counter);
  }
  return totals;
}

template DemuxTotals Demultiplexer::scan<DrainOrder::grouped>(std::span<std::byte>, const DemuxSetup&);
template DemuxTotals Demultiplexer::scan<DrainOrder::record>(std::span<std::byte>, const DemuxSetup&);

/// Nothing has to grow while records are read. In order, one place more than there can be samples is written,
/// before it is known that none leaves.
void Demultiplexer::make_room(std::size_t records, u64 counters) {
  const std::size_t room = records * static_cast<std::size_t>(std::popcount(counters)) + 1;
  if (places_.size() < room) places_.resize(room);
  leaving_ = places_.data();
  last_ = {};
  RecordPlace* next = places_.data();
  for (const unsigned counter : set_bits(counters)) {
    begin_[counter] = end_[counter] = next;
    next += records;
  }
}

template <DrainOrder order>
inline void Demultiplexer::place(u64 offset, u64 bytes, unsigned counter, DemuxTotals& totals) {
  const RecordPlace place(offset, bytes, counter);
  if constexpr (order == DrainOrder::grouped) {
    *end_[counter]++ = place;
  } else {
    RecordPlace& last = last_[counter];
    *leaving_ = last;
    leaving_ += last ? 1 : 0;
    last = place;
    ++totals.samples[counter];
  }
}

template <DrainOrder order>
inline void Demultiplexer::attribute(u64 offset, u64 bytes, u64 owners, DemuxTotals& totals) {
  if (owners == 0) {
    ++totals.unowned;
    return;
  }
  place<order>(offset, bytes, static_cast<unsigned>(std::countr_zero(owners)), totals);
  if (!several(owners)) return;
  ++totals.shared;
  while ((owners &= owners - 1) != 0)
    place<order>(offset, bytes, static_cast<unsigned>(std::countr_zero(owners)), totals);
}

/// Records from `offset` on, as long as `alike` says that they are of this kind. Returns where they end.
/// Where the next one begins does not wait for what is read of this one.
template <DrainOrder order, class Alike>
inline std::size_t Demultiplexer::attribute_alike(std::span<const std::byte> buffer, std::size_t offset,
                                                  const Kind& kind, Alike alike, DemuxTotals& totals) {
  for (; kind.bytes <= buffer.size() - offset && alike(&buffer[offset]); offset += kind.bytes) {
    ++totals.records;
    attribute<order>(offset, kind.bytes, load_word(&buffer[offset + kind.owners_at]) & kind.enabled, totals);
  }
  return offset;
}

void Demultiplexer::scan_core(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals) {
  const std::size_t size = pebs::fixed_record_bytes(0);
  totals.records = buffer.size() / size;
  totals.trailing_bytes = buffer.size() % size;
  for (std::size_t i = 0; i < totals.records; ++i)
    attribute<DrainOrder::grouped>(i * size, size, setup.enabled & 1, totals);
}

void Demultiplexer::scan_fixed(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals) {
  const std::size_t size = pebs::fixed_record_bytes(setup.format);
  totals.trailing_bytes = buffer.size() % size;
  if (!pebs::has_own_status(setup.format)) return scan_overflowed(buffer, setup, totals);
  const auto all = [](const std::byte*) { return true; };
  attribute_alike<DrainOrder::grouped>(buffer, 0, {size, status_offset, setup.enabled}, all, totals);
}

namespace {

/// How many records collided with which set of owners. Counting sets, not counters, needs no branch that
/// depends on them. Formats 1 and 2 have PEBS on eight general counters at most.
class OwnerSets {
 public:
  explicit OwnerSets(u64 enabled) : enabled_(enabled) {}
  void add(u64 owners) { ++records_[owners & low_bits(set_bits_)]; }
  void add_to(DemuxTotals& totals) const {
    for (u64 set = enabled_; set != 0; set = (set - 1) & enabled_) {
      totals.collided += records_[set];
      for (const unsigned counter : pmusim::set_bits(set)) totals.lost[counter] += records_[set];
    }
  }

 private:
  static constexpr unsigned set_bits_ = 8;
  u64 enabled_;
  std::array<u32, 1u << set_bits_> records_{};
};

}  // namespace

/// Formats 1 and 2: the status word has every counter that had overflowed, and a record of several is
/// nobody's sample.
void Demultiplexer::scan_overflowed(std::span<std::byte> buffer, const DemuxSetup& setup,
                                    DemuxTotals& totals) {
  const std::size_t size = pebs::fixed_record_bytes(setup.format);
  const u64 enabled = setup.enabled & low_bits(8);
  totals.records = buffer.size() / size;
  OwnerSets collisions(enabled);
  // The hardware can lose the status when it races with a clear; a lone event is still known.
  const u64 rescuer = std::has_single_bit(setup.enable_word) ? setup.enable_word & enabled : 0;
  for (std::size_t offset = 0; offset + size <= buffer.size(); offset += size) {
    u64 owners = load_word(&buffer[offset + status_offset]) & enabled;
    if (owners == 0) [[unlikely]] {
      owners = rescuer;
      ++(owners != 0 ? totals.rescued : totals.unowned);
      if (owners == 0) continue;
      store_word(&buffer[offset + status_offset], owners);
    }
    if (several(owners)) {
      collisions.add(owners);
      continue;
    }
    const auto counter = static_cast<unsigned>(std::countr_zero(owners));
    *end_[counter]++ = RecordPlace(offset, size, counter);
  }
  collisions.add_to(totals);
}

template <DrainOrder order>
void Demultiplexer::scan_adaptive(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals) {
  constexpr unsigned size_low = 48;
  const std::size_t size = setup.record_bytes;
  const Kind kind{size, offsetof(pebs::BasicGroup, applicable_counters), setup.enabled};
  const auto alike = [&](const std::byte* record) { return load_word(record) >> size_low == size; };
  std::size_t offset = 0;
  while (const std::size_t next = first_record_bytes(buffer.subspan(offset), setup.format)) {
    if (next == size) {
      offset = attribute_alike<order>(buffer, offset, kind, alike, totals);
    } else {
      ++totals.records;
      ++totals.odd_size;
      offset += next;
    }
  }
  totals.trailing_bytes = buffer.size() - offset;
}

template <DrainOrder order>
void Demultiplexer::scan_arch(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals) {
  constexpr std::size_t counters_offset =
      sizeof(pebs::ArchHeader) + offsetof(pebs::ArchBasic, applicable_counters);
  std::size_t offset = 0;
  while (const std::size_t size = first_record_bytes(buffer.subspan(offset), setup.format)) {
    const u64 word = load_word(&buffer[offset]);
    if (has_basic_group(word)) {
      const Kind kind{size, counters_offset, setup.enabled};
      const auto alike = [&](const std::byte* record) { return load_word(record) == word; };
      // The fragments behind one that continues may differ from record to record.
      const std::size_t end = continues(word) ? offset + size : buffer.size();
      offset = attribute_alike<order>(buffer.first(end), offset, kind, alike, totals);
    } else {
      totals.records += !pebs::header::is_null(word);
      totals.headless += !pebs::header::is_null(word);
      offset += size;
    }
  }
  totals.trailing_bytes = buffer.size() - offset;
}

}  // namespace pmusim::driver
