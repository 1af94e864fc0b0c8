// SPDX-License-Identifier: MIT
#include "perf/sample_output.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "perf/general_registers.h"
#include "perf/output.h"
#include "perf/sample_parts.h"

namespace pmusim::perf {

namespace {

/// The bits of sample_type that stand for exactly one word each.
constexpr u64 one_word = sample::IDENTIFIER | sample::IP | sample::TID | sample::TIME | sample::ADDR |
                         sample::ID | sample::STREAM_ID | sample::CPU | sample::PERIOD | sample::WEIGHT |
                         sample::WEIGHT_STRUCT | sample::DATA_SRC | sample::TRANSACTION | sample::PHYS_ADDR |
                         sample::CGROUP | sample::DATA_PAGE_SIZE | sample::CODE_PAGE_SIZE;

constexpr u64 trailer_words =
    sample::TID | sample::TIME | sample::ID | sample::STREAM_ID | sample::CPU | sample::IDENTIFIER;

/// The bits whose size each sample decides for itself.
constexpr u64 variable_parts = sample::READ | sample::CALLCHAIN | sample::RAW | sample::BRANCH_STACK |
                               sample::REGS_USER | sample::STACK_USER;
/// The bits of the fields behind those.
constexpr u64 access_parts =
    sample::WEIGHT | sample::WEIGHT_STRUCT | sample::DATA_SRC | sample::TRANSACTION | sample::REGS_INTR;
constexpr u64 rare_words =
    sample::PHYS_ADDR | sample::CGROUP | sample::DATA_PAGE_SIZE | sample::CODE_PAGE_SIZE | sample::AUX;

/// What a plain layout may have.
constexpr u64 plain_parts = one_word | sample::REGS_INTR;

u64 physical_address(const Sample& s) {
  const std::optional<u64>& by_tables = s.environment.physical_address;
  return by_tables ? *by_tables : s.data.physical_address.value_or(0);
}

u32 words_in(u64 mask) { return 8 * static_cast<u32>(std::popcount(mask)); }

}  // namespace

SampleLayout make_sample_layout(const Attr& attr, SimdAbi simd) {
  SampleLayout layout;
  layout.sample_type = attr.sample_type;
  layout.simd = simd;
  layout.fixed_bytes = sizeof(RecordHeader) + words_in(attr.sample_type & (one_word | sample::AUX));
  if (attr.sample_type & sample::REGS_INTR)
    layout.fixed_bytes += 8 + register_bytes(attr, RegisterSide::interrupt, simd);
  if (simd == SimdAbi::merged && attr.exclude_kernel && (attr.sample_type & sample::REGS_INTR))
    layout.hidden_in_kernel_bytes = register_bytes(attr, RegisterSide::interrupt, simd);
  layout.user_register_bytes = register_bytes(attr, RegisterSide::user, simd);
  for (const RegisterSide side : {RegisterSide::user, RegisterSide::interrupt})
    layout.simd_counts[static_cast<unsigned>(side)] = simd_counts(attr, side);
  layout.samples_between_wakeups = attr.watermark ? 0 : attr.wakeup_events;
  const bool registers_plain = (attr.sample_type & sample::REGS_INTR) == 0 ||
                               (attr.sample_regs_intr == all_general && attr.sample_simd_regs_enabled == 0 &&
                                layout.hidden_in_kernel_bytes == 0);
  if ((attr.sample_type & ~plain_parts) == 0 && registers_plain && layout.samples_between_wakeups == 0)
    layout.plain_bytes = layout.fixed_bytes;
  return layout;
}

namespace {

std::span<const u64> callchain(const Sample& s) {
  return s.data.callchain ? *s.data.callchain : s.environment.callchain;
}

// What is always inlined here becomes part of the two functions that output a sample, which then keep its
// four parts in CPU registers.

[[gnu::always_inline]] inline SampleSize size_of(const Sample& s) {
  assert(s.event.layout.sample_type == s.event.attr.sample_type);
  const u64 type = s.event.attr.sample_type;
  SampleSize size{.bytes = s.event.layout.fixed_bytes};
  if (hides_interrupt_registers(s.event.layout, s.data, s.frame)) [[unlikely]]
    size.bytes -= s.event.layout.hidden_in_kernel_bytes;
  if ((type & variable_parts) == 0) return size;
  if (type & sample::CALLCHAIN) size.bytes += 8 + callchain(s).size_bytes();
  if (type & sample::BRANCH_STACK) size.bytes += branch_stack_size(s.event, s.data.branches);
  constexpr u64 usual_parts = sample::CALLCHAIN | sample::BRANCH_STACK;
  if ((type & variable_parts & ~usual_parts) == 0) return size;
  if (type & sample::READ) size.bytes += s.environment.read_values.size_bytes();
  if (type & sample::RAW) size.bytes += raw_size(s.data.raw);
  if (type & sample::REGS_USER)
    size.bytes += 8 + (s.environment.user_registers ? s.event.layout.user_register_bytes : 0);
  if (type & sample::STACK_USER) {
    size.stack_bytes = user_stack_bytes(s.event.attr, s.environment, size.bytes);
    size.bytes += size.stack_bytes == 0 ? 8 : 16 + size.stack_bytes;
  }
  return size;
}

u64 header_word(const Sample& s, std::size_t bytes) {
  const u64 mode = sampled_level(s.data, s.frame) == Cpl::user ? misc::USER : misc::KERNEL;
  const u64 exact = s.data.exact_ip ? misc::EXACT_IP : 0;
  return u64{bytes} << 48 | exact << 32 | mode << 32 | static_cast<u64>(RecordType::sample);
}

// The fields in their order. Those that few samples have are marked or bundled: the usual ones then follow
// each other without a jump. `type` is what the attribute asks for.

[[gnu::always_inline]] inline ByteWriter write_first_words(ByteWriter out, const Sample& s, u64 type) {
  const Moment& moment = s.environment.moment;
  if (type & sample::IDENTIFIER) [[unlikely]]
    out.put(s.event.original().id);
  if (type & sample::IP) [[likely]]
    out.put(s.data.ip.value_or(s.frame.registers.rip));
  if (type & sample::TID) [[likely]]
    out.put_two(moment.pid, moment.tid);
  if (type & sample::TIME) [[likely]]
    out.put(s.data.time.value_or(moment.time));
  if (type & (sample::ADDR | sample::ID | sample::STREAM_ID)) [[unlikely]] {
    if (type & sample::ADDR) [[likely]]
      out.put(s.data.address.value_or(0));
    if (type & sample::ID) out.put(s.event.original().id);
    if (type & sample::STREAM_ID) out.put(s.event.id);
  }
  if (type & sample::CPU) [[likely]]
    out.put_two(moment.cpu, 0);
  if (type & sample::PERIOD) [[likely]]
    out.put(s.data.period);
  return out;
}

[[gnu::always_inline]] inline ByteWriter write_variable_parts(ByteWriter out, const Sample& s, u64 type,
                                                              std::size_t stack_bytes) {
  if (type & sample::READ) [[unlikely]]
    out.put_all(s.environment.read_values);
  if (type & sample::CALLCHAIN) {
    out.put(u64{callchain(s).size()});
    out.put_all(callchain(s));
  }
  if (type & (sample::RAW | sample::BRANCH_STACK | sample::REGS_USER | sample::STACK_USER)) {
    if (type & sample::RAW) out = write_raw(out, s.data.raw);
    if (type & sample::BRANCH_STACK) out = write_branch_stack(out, s.event, s.data.branches);
    if (type & sample::REGS_USER) out = write_user_registers(out, s.event, s.environment);
    if (type & sample::STACK_USER) out = write_user_stack(out, s.environment.user_stack, stack_bytes);
  }
  return out;
}

template <class WriteRegisters>
[[gnu::always_inline]] inline ByteWriter write_last_parts(ByteWriter out, const Sample& s, u64 type,
                                                          WriteRegisters write_registers) {
  if (type & access_parts) {
    if (type & (sample::WEIGHT | sample::WEIGHT_STRUCT)) [[likely]]
      out.put(s.data.weight);
    if (type & sample::DATA_SRC) [[likely]]
      out.put(s.data.data_source);
    if (type & sample::TRANSACTION) [[unlikely]]
      out.put(s.data.transaction);
    if (type & sample::REGS_INTR) out = write_registers(out, s.event, s.data, s.frame);
  }
  if (type & rare_words) [[unlikely]] {
    if (type & sample::PHYS_ADDR) out.put(physical_address(s));
    if (type & sample::CGROUP) out.put(s.environment.cgroup);
    if (type & sample::DATA_PAGE_SIZE) out.put(s.environment.data_page_size);
    if (type & sample::CODE_PAGE_SIZE) out.put(s.environment.code_page_size);
    if (type & sample::AUX) out.put(u64{0});
  }
  return out;
}

[[gnu::always_inline]] inline ByteWriter write(ByteWriter out, const Sample& s, const SampleSize& size) {
  const u64 type = s.event.attr.sample_type;
  out.put(header_word(s, size.bytes));
  out = write_first_words(out, s, type);
  if (type & variable_parts) out = write_variable_parts(out, s, type, size.stack_bytes);
  return write_last_parts(out, s, type, write_interrupt_registers);
}

/// write() where the layout is plain.
[[gnu::always_inline]] inline void write_plain(ByteWriter out, const Sample& s, std::size_t bytes) {
  const u64 type = s.event.attr.sample_type & plain_parts;
  out.put(header_word(s, bytes));
  out = write_first_words(out, s, type);
  write_last_parts(out, s, type, write_all_interrupt_registers);
}

}  // namespace

SampleSize sample_size(const Sample& sample) { return size_of(sample); }

std::byte* write_sample(std::byte* at, const Sample& sample, const SampleSize& size) {
  return write(ByteWriter(at), sample, size).at();
}

namespace {

[[gnu::noinline]] bool output_any_sample(RingBuffer& ring, Event& event, const SampleData& data,
                                         const InterruptFrame& frame, const SampleEnvironment& environment) {
  const Sample s{event, data, frame, environment};
  const SampleSize size = size_of(s);
  return output(ring, event, environment.moment, size.bytes, [&](std::byte* at) {
    write(ByteWriter(at), s, size);
    ring.count_sample(event.layout.samples_between_wakeups);
  });
}

}  // namespace

/// Plain samples are written here, without a call and hence without saving CPU registers.
bool output_sample(RingBuffer& ring, Event& event, const SampleData& data, const InterruptFrame& frame,
                   const SampleEnvironment& environment) {
  const std::size_t bytes = event.layout.plain_bytes;
  if (!ring.fits_ahead(bytes)) return output_any_sample(ring, event, data, frame, environment);
  write_plain(ByteWriter(ring.reserve(bytes)), {event, data, frame, environment}, bytes);
  ring.publish_ahead();
  return true;
}

std::size_t sample_id_size(const Attr& attr) {
  if (!attr.sample_id_all) return 0;
  return 8 * static_cast<std::size_t>(std::popcount(attr.sample_type & trailer_words));
}

void write_sample_id(ByteWriter& out, const Event& event, const Moment& moment) {
  if (!event.attr.sample_id_all) return;
  const u64 type = event.attr.sample_type;
  if (type & sample::TID) out.put_two(moment.pid, moment.tid);
  if (type & sample::TIME) out.put(moment.time);
  if (type & sample::ID) out.put(event.original().id);
  if (type & sample::STREAM_ID) out.put(event.id);
  if (type & sample::CPU) out.put_two(moment.cpu, 0);
  if (type & sample::IDENTIFIER) out.put(event.original().id);
}

}  // namespace pmusim::perf
