// SPDX-License-Identifier: MIT
#include "arch/debugctl.h"
#include "ds_pointers.h"
#include "pmusim/arch/debug_store.h"
#include "record.h"

namespace pmusim {

namespace {

constexpr DsWidth width_of(const CpuModel& model) {
  return model.pebs.dtes64 ? DsWidth::bits_64 : DsWidth::bits_32;
}

/// DATA_CFG as it acts on a record: a counter without the adaptive bit writes the basic group alone.
u64 effective_config(const AssistInput& input, u64 data_cfg) {
  const u64 adaptive = input.served & input.counters.adaptive();
  if (adaptive == input.served) return data_cfg;
  const bool adaptive_wins = input.counters.model().policies.pebs_mixed_layout != 0;
  return adaptive != 0 && adaptive_wins ? data_cfg : 0;
}

u32 ds_record_bytes(const CpuModel& model, u64 config) {
  if (!pebs::is_fixed(model.pebs.format)) return pebs::adaptive_layout(config).size;
  if (!model.pebs.dtes64) return sizeof(pebs::Record32);
  return pebs::fixed_record_bytes(model.pebs.format);
}

/// The word at offset 90h of formats 1 to 3 (docs/pebs.md).
u64 status_word(const AssistInput& input) {
  const CpuModel& model = input.counters.model();
  if (pebs::has_own_status(model.pebs.format)) return input.served;
  const bool own_bits_can_be_lost = model.policies.pebs_status_race != 0;
  return input.counters.status() | (own_bits_can_be_lost ? 0 : input.served);
}

/// Nothing is mapped at an address where the assist reads or writes.
AssistOutcome unmapped(Assist& assist, u64 address) {
  assist.address = address;
  return AssistOutcome::unmapped;
}

}  // namespace

Assist PebsUnit::write(Memory& memory, const AssistInput& input) {
  Assist assist;
  if (model_->has_arch_pebs())
    assist.outcome = write_arch(memory, input, assist);
  else if (field(pebs_enable_, 62, 61) != 0)
    assist.outcome = Assist::Outcome::processor_trace;
  else
    assist.outcome = write_ds(memory, input, assist);
  ++assists_[static_cast<unsigned>(assist.outcome)];
  finish(memory, input, assist);
  return assist;
}

Assist::Outcome PebsUnit::write_ds(Memory& memory, const AssistInput& input, Assist& assist) {
  const DsWidth width = width_of(*model_);
  if (ds_area_ == 0) return Assist::Outcome::no_area;
  if (!pebs::is_ds_aligned(ds_area_)) return Assist::Outcome::misaligned;
  const auto buffer = pebs::read_ds_pointers(memory, ds_area_, width, pebs::DsBuffer::pebs);
  if (!buffer) return unmapped(assist, ds_area_);
  if (!pebs::is_ds_aligned(buffer->index)) return Assist::Outcome::misaligned;
  if (buffer->index < buffer->base) return Assist::Outcome::index_before_base;

  const u64 config = effective_config(input, data_cfg_);
  const u32 size = ds_record_bytes(*model_, config);
  if (!buffer->fits(size)) return Assist::Outcome::full;
  const std::span<std::byte> record = memory.at(buffer->index, size);
  if (record.empty()) return unmapped(assist, buffer->index);
  std::memset(record.data(), 0, record.size());

  const pebs::SampledAccess access = pebs::sampled_access(input, pebs_enable_, latency_threshold_);
  if (!pebs::is_fixed(model_->pebs.format))
    pebs::write_adaptive(record, input, access, config);
  else if (!model_->pebs.dtes64)
    pebs::write_fixed_32(record, input);
  else
    pebs::write_fixed(record, input, access, status_word(input));

  assist.address = buffer->index;
  assist.bytes = size;
  const u64 next = buffer->index + size;
  pebs::write_ds_index(memory, ds_area_, width, pebs::DsBuffer::pebs, next);
  if (next >= buffer->threshold) assist.raise_status = msr::status::OVF_BUF;
  return Assist::Outcome::wrote;
}

Assist::Outcome PebsUnit::write_arch(Memory& memory, const AssistInput& input, Assist& assist) {
  namespace index_bits = pebs::index_register;
  const u64 address = base_ & pebs::base_register::ADDRESS;
  if (address == 0 || (index_ & index_bits::ENABLE) == 0) return Assist::Outcome::no_area;
  if ((index_ & index_bits::FULL) != 0) return Assist::Outcome::full;

  const u64 offset = index_ & index_bits::WRITE_OFFSET;
  const pebs::ArchFragments fragments = pebs::arch_fragments(input);
  const u32 size = fragments.bytes();
  const u64 buffer_bytes = pebs::base_register::bytes(base_);
  if (offset > buffer_bytes || size > buffer_bytes - offset) {
    index_ |= index_bits::FULL;
    return Assist::Outcome::full;
  }
  const std::span<std::byte> record = memory.at_physical(address + offset, size);
  if (record.empty()) return unmapped(assist, address + offset);
  std::memset(record.data(), 0, record.size());
  pebs::write_arch(record, fragments, input, pebs::sampled_access(input, 0, latency_threshold_));

  assist.address = address + offset;
  assist.bytes = size;
  const u64 next = offset + size;
  if (next > index_bits::WRITE_OFFSET)  // the largest buffer is full to its last byte
    index_ |= index_bits::FULL;
  else
    index_ = (index_ & ~index_bits::WRITE_OFFSET) | next;
  const u64 threshold = (index_ & index_bits::THRESHOLD) >> 36;
  if (next / index_bits::unit_bytes >= threshold) assist.raise_status = msr::status::ARCH_PEBS;
  return Assist::Outcome::wrote;
}

/// Reload, clearing of overflow bits, and the counters' return to counting.
void PebsUnit::finish(Memory& memory, const AssistInput& input, Assist& assist) {
  const bool all_overflowed = model_->policies.pebs_reload_scope != 0;
  const u64 reloaded = all_overflowed ? overflowed_ | input.served : input.served;
  overflowed_ &= ~reloaded;
  switch (assist.outcome) {
    case Assist::Outcome::wrote:
    case Assist::Outcome::processor_trace:
      break;
    case Assist::Outcome::full:
      if (model_->policies.pebs_reload_when_full != 0) break;
      return;
    default:
      return;  // there is no area to take reset values from
  }
  assist.clear_status = reloaded;
  for (const unsigned counter : set_bits(reloaded))
    assist.reloads.push_back({counter, reload_value(memory, input.counters, counter)});
}

u64 PebsUnit::reload_value(const Memory& memory, const CounterFile& counters, unsigned counter) const {
  const u64 width_mask = low_bits(model_->counter_width);
  if (model_->has_arch_pebs())
    return sign_extend(counters.cfg_c(counter) & pebs::cfg_c::RELOAD, 31) & width_mask;
  if (field(pebs_enable_, 62, 61) != 0) return reload_[counter];
  const auto offset = reset_slot_offset(width_of(*model_), model_->pebs.format, counter);
  le64 value{0};
  if (!offset || memory.read(ds_area_ + *offset, std::as_writable_bytes(std::span(&value, 1))) != Fault::none)
    return 0;
  return value & width_mask;
}

bool PebsUnit::traces(const Retirement& retirement, u64 debugctl) {
  return retirement.taken && bts_record_due(debugctl, retirement.cpl);
}

BtsOutcome PebsUnit::trace(Memory& memory, const Retirement& retirement, u64 debugctl) const {
  const DsWidth width = width_of(*model_);
  if (ds_area_ == 0) return {.outcome = AssistOutcome::no_area};
  if (!pebs::is_ds_aligned(ds_area_)) return {.outcome = AssistOutcome::misaligned};
  auto buffer = pebs::read_ds_pointers(memory, ds_area_, width, pebs::DsBuffer::bts);
  if (!buffer) return {.outcome = AssistOutcome::unmapped, .address = ds_area_};

  const bool interrupts = (debugctl & msr::debugctl::BTINT) != 0;
  const u64 size = width == DsWidth::bits_64 ? sizeof(BtsRecord64) : sizeof(BtsRecord32);
  if (!interrupts && buffer->index >= buffer->maximum) buffer->index = buffer->base;
  if (buffer->index < buffer->base) return {.outcome = AssistOutcome::index_before_base};
  if (!buffer->fits(size)) return {.outcome = AssistOutcome::full};
  const std::span<std::byte> place = memory.at(buffer->index, size);
  if (place.empty()) return {.outcome = AssistOutcome::unmapped, .address = buffer->index};

  const u64 flags = retirement.mispredicted ? 0 : bts_flag_predicted;
  if (width == DsWidth::bits_64) {
    BtsRecord64 record{};
    record.from = retirement.ip;
    record.to = retirement.next_ip;
    record.flags = flags;
    pebs::put(place, 0, record);
  } else {
    BtsRecord32 record{};
    record.from = static_cast<u32>(retirement.ip);
    record.to = static_cast<u32>(retirement.next_ip);
    record.flags = static_cast<u32>(flags);
    pebs::put(place, 0, record);
  }
  const u64 next = buffer->index + size;
  pebs::write_ds_index(memory, ds_area_, width, pebs::DsBuffer::bts, next);
  return {.outcome = AssistOutcome::wrote,
          .address = buffer->index,
          .interrupt = interrupts && next >= buffer->threshold};
}

}  // namespace pmusim
