// SPDX-License-Identifier: MIT
#include "driver/debug_store/pebs_demux.h"

#include <bit>

#include "driver/record_word.h"
#include "pmusim/arch/pebs_format.h"

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
  for (unsigned counter = 0; counter < pebs_counters; ++counter)
    if (totals.samples[counter] != 0 || totals.lost[counter] != 0) counters_seen_ |= bit(counter);
  return totals;
}

/// Nothing has to grow while records are read.
void Demultiplexer::make_room(std::size_t records, u64 counters) {
  const std::size_t room = records * static_cast<std::size_t>(std::popcount(counters)) + 1;
  if (found_.size() < room) found_.resize(room);
  found_count_ = 0;
}

inline void Demultiplexer::attribute(u64 offset, u64 bytes, u64 owners, DemuxTotals& totals) {
  if (owners == 0) {
    ++totals.unowned;
    return;
  }
  ++totals.attributed;
  if (several(owners)) ++totals.shared;
  do {
    const auto counter = static_cast<unsigned>(std::countr_zero(owners));
    found_[found_count_++] = RecordPlace(offset, bytes, counter);
    ++totals.samples[counter];
    owners &= owners - 1;
  } while (owners != 0);
}

void Demultiplexer::group(const DemuxTotals& totals) {
  std::size_t next = 0;
  for (const unsigned counter : set_bits(counters_seen_)) {
    begin_[counter] = next;
    next += totals.samples[counter];
  }
  if (grouped_.size() < found_count_) grouped_.resize(found_count_);
  std::array<std::size_t, pebs_counters> end = begin_;
  for (const RecordPlace place : std::span(found_).first(found_count_))
    grouped_[end[place.counter()]++] = place;
}

/// A sample leaves when its counter's next one is seen: the last of each stay behind, in `last_`.
std::span<const RecordPlace> Demultiplexer::take_out_last() {
  last_ = {};
  std::size_t leaving = 0;
  for (const RecordPlace place : std::span(found_).first(found_count_)) {
    RecordPlace& last = last_[place.counter()];
    found_[leaving] = last;
    leaving += last ? 1 : 0;
    last = place;
  }
  return std::span(found_).first(leaving);
}

void Demultiplexer::scan_core(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals) {
  const std::size_t size = pebs::fixed_record_bytes(0);
  totals.records = buffer.size() / size;
  totals.trailing_bytes = buffer.size() % size;
  for (std::size_t i = 0; i < totals.records; ++i) attribute(i * size, size, setup.enabled & 1, totals);
}

void Demultiplexer::scan_fixed(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals) {
  const std::size_t size = pebs::fixed_record_bytes(setup.format);
  totals.records = buffer.size() / size;
  totals.trailing_bytes = buffer.size() % size;
  if (!pebs::has_own_status(setup.format)) return scan_overflowed(buffer, setup, totals);
  for (std::size_t offset = 0; offset + size <= buffer.size(); offset += size)
    attribute(offset, size, load_word(&buffer[offset + status_offset]) & setup.enabled, totals);
}

namespace {

/// How many records had which set of owners. Counting sets, not counters, needs no branch that depends on
/// them.
class OwnerSets {
 public:
  explicit OwnerSets(u64 enabled) : enabled_(enabled) {}
  void add(u64 owners) { ++records_[owners & low_bits(set_bits_)]; }
  /// Formats 1 and 2 have PEBS on these general counters at most.
  static bool fit(u64 enabled) { return enabled >> set_bits_ == 0; }

  void add_to(DemuxTotals& totals) const {
    for (u64 set = enabled_; set != 0; set = (set - 1) & enabled_) {
      const u64 records = records_[set];
      (several(set) ? totals.collided : totals.attributed) += records;
      for (const unsigned counter : pmusim::set_bits(set))
        (several(set) ? totals.lost : totals.samples)[counter] += records;
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
  OwnerSets sets(enabled);
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
    sets.add(owners);
    found_[found_count_] = RecordPlace(offset, size, static_cast<unsigned>(std::countr_zero(owners)));
    found_count_ += several(owners) ? 0 : 1;
  }
  sets.add_to(totals);
}

void Demultiplexer::scan_adaptive(std::span<std::byte> buffer, const DemuxSetup& setup, DemuxTotals& totals) {
  constexpr std::size_t counters_offset = offsetof(pebs::BasicGroup, applicable_counters);
  std::size_t offset = 0;
  while (const std::size_t size = first_record_bytes(buffer.subspan(offset), setup.format)) {
    ++totals.records;
    if (size == setup.record_bytes)
      attribute(offset, size, load_word(&buffer[offset + counters_offset]) & setup.enabled, totals);
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
    const u64 word = load_word(&buffer[offset]);
    if (has_basic_group(word))
      attribute(offset, size, load_word(&buffer[offset + counters_offset]) & setup.enabled, totals);
    else if (!pebs::header::is_null(word))
      ++totals.headless;
    totals.records += !pebs::header::is_null(word);
    offset += size;
  }
  totals.trailing_bytes = buffer.size() - offset;
}

}  // namespace pmusim::driver
