#include "pmusim/perf/sample_output.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "perf/sample_parts.h"
#include "pmusim/perf/output.h"

namespace pmusim::perf {

namespace {

/// The bits of sample_type that stand for exactly one word each.
constexpr u64 one_word = sample::IDENTIFIER | sample::IP | sample::TID | sample::TIME | sample::ADDR |
                         sample::ID | sample::STREAM_ID | sample::CPU | sample::PERIOD | sample::WEIGHT |
                         sample::WEIGHT_STRUCT | sample::DATA_SRC | sample::TRANSACTION | sample::PHYS_ADDR |
                         sample::CGROUP | sample::DATA_PAGE_SIZE | sample::CODE_PAGE_SIZE;

constexpr u64 trailer_words =
    sample::TID | sample::TIME | sample::ID | sample::STREAM_ID | sample::CPU | sample::IDENTIFIER;

u16 sample_misc(const Sample& s) {
  const u16 mode = s.frame.cpl == Cpl::user ? misc::USER : misc::KERNEL;
  return s.data.exact_ip ? mode | misc::EXACT_IP : mode;
}

ByteWriter write_first_words(ByteWriter out, const Sample& s) {
  const u64 type = s.event.attr.sample_type;
  const Moment& moment = s.environment.moment;
  if (type & sample::IDENTIFIER) out.put(primary_id(s.event));
  if (type & sample::IP) out.put(s.data.ip.value_or(s.frame.registers.rip));
  if (type & sample::TID) out.put_two(moment.pid, moment.tid);
  if (type & sample::TIME) out.put(s.data.time.value_or(moment.time));
  if (type & sample::ADDR) out.put(s.data.address.value_or(0));
  if (type & sample::ID) out.put(primary_id(s.event));
  if (type & sample::STREAM_ID) out.put(s.event.id);
  if (type & sample::CPU) out.put_two(moment.cpu, 0);
  if (type & sample::PERIOD) out.put(s.data.period);
  return out;
}

ByteWriter write_stacks(ByteWriter out, const Sample& s, std::size_t stack_bytes) {
  const u64 type = s.event.attr.sample_type;
  if (type & sample::READ) out.put_all(s.environment.read_values);
  if (type & sample::CALLCHAIN) {
    const auto chain = callchain(s);
    out.put(u64{chain.size()});
    out.put_all(chain);
  }
  if (type & sample::RAW) out = write_raw(out, s.data.raw);
  if (type & sample::BRANCH_STACK) out = write_branch_stack(out, s);
  if (type & sample::REGS_USER) out = write_registers(out, s.event, RegisterSide::user, user_registers(s));
  if (type & sample::STACK_USER) out = write_user_stack(out, s, stack_bytes);
  return out;
}

ByteWriter write_last_words(ByteWriter out, const Sample& s) {
  const u64 type = s.event.attr.sample_type;
  if (type & (sample::WEIGHT | sample::WEIGHT_STRUCT)) out.put(s.data.weight);
  if (type & sample::DATA_SRC) out.put(s.data.data_source);
  if (type & sample::TRANSACTION) out.put(s.data.transaction);
  if (type & sample::REGS_INTR)
    out = write_registers(out, s.event, RegisterSide::interrupt, interrupt_registers(s));
  if (type & sample::PHYS_ADDR) out.put(s.data.physical_address.value_or(0));
  if (type & sample::CGROUP) out.put(s.environment.cgroup);
  if (type & sample::DATA_PAGE_SIZE) out.put(s.environment.data_page_size);
  if (type & sample::CODE_PAGE_SIZE) out.put(s.environment.code_page_size);
  if (type & sample::AUX) out.put(u64{0});
  return out;
}

/// The bits that each of the writers above looks at.
constexpr u64 variable_parts = sample::READ | sample::CALLCHAIN | sample::RAW | sample::BRANCH_STACK |
                               sample::REGS_USER | sample::STACK_USER;
constexpr u64 last_words = sample::WEIGHT | sample::WEIGHT_STRUCT | sample::DATA_SRC | sample::TRANSACTION |
                           sample::REGS_INTR | sample::PHYS_ADDR | sample::CGROUP | sample::DATA_PAGE_SIZE |
                           sample::CODE_PAGE_SIZE | sample::AUX;

u32 words_in(u64 mask) { return 8 * static_cast<u32>(std::popcount(mask)); }

}  // namespace

SampleLayout make_sample_layout(const Attr& attr, SimdAbi simd) {
  SampleLayout layout;
  layout.sample_type = attr.sample_type;
  layout.word_bytes = sizeof(RecordHeader) + words_in(attr.sample_type & one_word);
  layout.simd = simd;
  layout.user_register_bytes = register_bytes(attr, RegisterSide::user, simd);
  layout.interrupt_register_bytes = register_bytes(attr, RegisterSide::interrupt, simd);
  return layout;
}

namespace {

SampleSize size_with_variable_parts(const Sample& s) {
  const u64 type = s.event.attr.sample_type;
  const SampleLayout& layout = s.event.layout;
  SampleSize size{.bytes = layout.word_bytes};
  if (type & sample::READ) size.bytes += s.environment.read_values.size_bytes();
  if (type & sample::CALLCHAIN) size.bytes += 8 + callchain(s).size_bytes();
  if (type & sample::RAW) size.bytes += raw_size(s.data.raw);
  if (type & sample::BRANCH_STACK) size.bytes += branch_stack_size(s);
  if (type & sample::REGS_USER)
    size.bytes += 8 + (user_registers(s).general ? layout.user_register_bytes : 0);
  if (type & sample::REGS_INTR) size.bytes += 8 + layout.interrupt_register_bytes;
  if (type & sample::AUX) size.bytes += 8;
  if (type & sample::STACK_USER) {
    size.stack_bytes = user_stack_bytes(s, size.bytes);
    size.bytes += size.stack_bytes == 0 ? 8 : 16 + size.stack_bytes;
  }
  return size;
}

}  // namespace

SampleSize sample_size(const Sample& s) {
  assert(s.event.layout.sample_type == s.event.attr.sample_type);
  if ((s.event.attr.sample_type & ~one_word) == 0) return {s.event.layout.word_bytes, 0};
  return size_with_variable_parts(s);
}

std::byte* write_sample(std::byte* at, const Sample& s, const SampleSize& size) {
  ByteWriter out(at);
  out.put(RecordHeader{static_cast<u32>(RecordType::sample), sample_misc(s), static_cast<u16>(size.bytes)});
  out = write_first_words(out, s);
  if (s.event.attr.sample_type & variable_parts) out = write_stacks(out, s, size.stack_bytes);
  if (s.event.attr.sample_type & last_words) out = write_last_words(out, s);
  return out.at();
}

bool output_sample(RingBuffer& ring, Event& event, const Sample& s) {
  const SampleSize size = sample_size(s);
  return output(ring, event, s.environment.moment, size.bytes, [&](std::byte* at) {
    write_sample(at, s, size);
    if (!event.attr.watermark) ring.count_sample(event.attr.wakeup_events);
  });
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
  if (type & sample::ID) out.put(primary_id(event));
  if (type & sample::STREAM_ID) out.put(event.id);
  if (type & sample::CPU) out.put_two(moment.cpu, 0);
  if (type & sample::IDENTIFIER) out.put(primary_id(event));
}

}  // namespace pmusim::perf
