// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_SAMPLE_OUTPUT_H
#define PMUSIM_SRC_PERF_SAMPLE_OUTPUT_H

#include <span>

#include "perf/byte_writer.h"
#include "perf/ring_buffer.h"
#include "perf/sample_fields.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perf/driver.h"

namespace pmusim::perf {

/// Who runs, where, and when: what every record can say of the moment it was written.
struct Moment {
  u32 pid = 0, tid = 0;
  u32 cpu = 0;
  u64 time = 0;  ///< ns on the event's clock
};

/// What the core knows about a sample and the driver does not. Spans are borrowed.
struct SampleEnvironment {
  Moment moment;
  std::span<const u64> read_values;           ///< SAMPLE_READ, laid out for attr.read_format
  std::span<const u64> callchain;             ///< with context markers; the driver's own wins
  const Registers* user_registers = nullptr;  ///< at the last entry from user mode; nullptr: kernel thread
  const ExtendedRegisters* user_extended = nullptr;
  std::span<const std::byte> user_stack;        ///< readable bytes from the user stack pointer up
  u64 address_space_end = u64{0x7ffffffff000};  ///< STACK_USER never reaches past it
  u16 guest_mode = 0;                           ///< of misc, where a guest was sampled
  u64 cgroup = 0, data_page_size = 0, code_page_size = 0;
  std::optional<u64> physical_address;  ///< by page tables; wins over the driver's
};

/// The layout that an event with this attribute must have before it samples.
SampleLayout make_sample_layout(const Attr& attr, Kernel kernel = default_kernel);

/// One sample about to be written: PERF_RECORD_SAMPLE is a function of these four.
struct Sample {
  const Event& event;
  const SampleData& data;
  const InterruptFrame& frame;
  const SampleEnvironment& environment;
};

/// Bytes of a sample record, and how many of them the user stack may have.
struct SampleSize {
  std::size_t bytes = 0;
  std::size_t stack_bytes = 0;
};
inline constexpr std::size_t max_record_bytes = RingBuffer::max_record_bytes;

/// Size of the record (Linux: perf_prepare_sample). STACK_USER shrinks to let the record fit in
/// max_record_bytes; nothing else does, so that `bytes` may exceed it: such a sample cannot be written.
SampleSize sample_size(const Sample& sample);

/// Writes the record, `size.bytes` bytes (perf_output_sample). Returns the end.
std::byte* write_sample(std::byte* at, const Sample& sample, const SampleSize& size);

/// Writes a sample to `ring`; false if it was dropped, which is accounted in the ring and the event.
bool output_sample(RingBuffer& ring, Event& event, const SampleData& data, const InterruptFrame& frame,
                   const SampleEnvironment& environment);

/// The words of the fields that the sample_id trailer has (SampleFieldRow::in_sample_id), too.
inline u64 sample_id_word(FieldTag<SampleField::identifier>, const Event& event, const Moment&) {
  return event.original().id;
}
inline u64 sample_id_word(FieldTag<SampleField::tid>, const Event&, const Moment& moment) {
  return u64{moment.tid} << 32 | moment.pid;
}
inline u64 sample_id_word(FieldTag<SampleField::time>, const Event&, const Moment& moment) {
  return moment.time;
}
inline u64 sample_id_word(FieldTag<SampleField::id>, const Event& event, const Moment&) {
  return event.original().id;
}
inline u64 sample_id_word(FieldTag<SampleField::stream_id>, const Event& event, const Moment&) {
  return event.id;
}
inline u64 sample_id_word(FieldTag<SampleField::cpu>, const Event&, const Moment& moment) {
  return moment.cpu;
}

/// Bytes of the sample_id trailer (struct sample_id): 0 without attr.sample_id_all.
std::size_t sample_id_size(const Attr& attr);
void write_sample_id(ByteWriter& out, const Event& event, const Moment& moment);

}  // namespace pmusim::perf

#endif
