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

/// The bits whose size each sample decides for itself.
constexpr u64 variable_parts = sample::READ | sample::CALLCHAIN | sample::RAW | sample::BRANCH_STACK |
                               sample::REGS_USER | sample::STACK_USER;
/// The bits of the fields behind those.
constexpr u64 access_parts =
    sample::WEIGHT | sample::WEIGHT_STRUCT | sample::DATA_SRC | sample::TRANSACTION | sample::REGS_INTR;
constexpr u64 rare_words =
    sample::PHYS_ADDR | sample::CGROUP | sample::DATA_PAGE_SIZE | sample::CODE_PAGE_SIZE | sample::AUX;

u32 words_in(u64 mask) { return 8 * static_cast<u32>(std::popcount(mask)); }

RecordHeader sample_header(const Sample& s, std::size_t bytes) {
  const u16 mode = s.frame.cpl == Cpl::user ? misc::USER : misc::KERNEL;
  const u16 exact = s.data.exact_ip ? misc::EXACT_IP : 0;
  return {static_cast<u32>(RecordType::sample), static_cast<u16>(mode | exact), static_cast<u16>(bytes)};
}

/// These two are called, so that the way of a sample without such parts stays short.
[[gnu::noinline]] SampleSize size_with_variable_parts(const Sample& s) {
  const u64 type = s.event.attr.sample_type;
  SampleSize size{.bytes = s.event.layout.fixed_bytes};
  if (type & sample::READ) size.bytes += s.environment.read_values.size_bytes();
  if (type & sample::CALLCHAIN) size.bytes += 8 + callchain(s).size_bytes();
  if (type & sample::RAW) size.bytes += raw_size(s.data.raw);
  if (type & sample::BRANCH_STACK) size.bytes += branch_stack_size(s);
  if (type & sample::REGS_USER) size.bytes += user_registers_size(s);
  if (type & sample::STACK_USER) {
    size.stack_bytes = user_stack_bytes(s, size.bytes);
    size.bytes += size.stack_bytes == 0 ? 8 : 16 + size.stack_bytes;
  }
  return size;
}

[[gnu::noinline]] std::byte* write_behind_first_words(ByteWriter out, const Sample& s,
                                                      std::size_t stack_bytes) {
  const u64 type = s.event.attr.sample_type;
  if (type & variable_parts) {
    if (type & sample::READ) out.put_all(s.environment.read_values);
    if (type & sample::CALLCHAIN) {
      out.put(u64{callchain(s).size()});
      out.put_all(callchain(s));
    }
    if (type & sample::RAW) out = write_raw(out, s.data.raw);
    if (type & sample::BRANCH_STACK) out = write_branch_stack(out, s);
    if (type & sample::REGS_USER) out = write_user_registers(out, s);
    if (type & sample::STACK_USER) out = write_user_stack(out, s, stack_bytes);
  }
  if (type & access_parts) {
    if (type & (sample::WEIGHT | sample::WEIGHT_STRUCT)) out.put(s.data.weight);
    if (type & sample::DATA_SRC) out.put(s.data.data_source);
    if (type & sample::TRANSACTION) out.put(s.data.transaction);
    if (type & sample::REGS_INTR) out = write_interrupt_registers(out, s);
  }
  if (type & rare_words) {
    if (type & sample::PHYS_ADDR) out.put(s.data.physical_address.value_or(0));
    if (type & sample::CGROUP) out.put(s.environment.cgroup);
    if (type & sample::DATA_PAGE_SIZE) out.put(s.environment.data_page_size);
    if (type & sample::CODE_PAGE_SIZE) out.put(s.environment.code_page_size);
    if (type & sample::AUX) out.put(u64{0});
  }
  return out.at();
}

}  // namespace

SampleLayout make_sample_layout(const Attr& attr, SimdAbi simd) {
  SampleLayout layout;
  layout.sample_type = attr.sample_type;
  layout.simd = simd;
  layout.fixed_bytes = sizeof(RecordHeader) + words_in(attr.sample_type & (one_word | sample::AUX));
  if (attr.sample_type & sample::REGS_INTR)
    layout.fixed_bytes += 8 + register_bytes(attr, RegisterSide::interrupt, simd);
  layout.user_register_bytes = register_bytes(attr, RegisterSide::user, simd);
  layout.samples_between_wakeups = attr.watermark ? 0 : attr.wakeup_events;
  return layout;
}

namespace {

inline SampleSize size_of(const Sample& s) {
  assert(s.event.layout.sample_type == s.event.attr.sample_type);
  if ((s.event.attr.sample_type & variable_parts) == 0) return {s.event.layout.fixed_bytes, 0};
  return size_with_variable_parts(s);
}

/// Fields that few samples have are marked: the usual ones then follow each other without a jump.
inline std::byte* write(std::byte* at, const Sample& s, const SampleSize& size) {
  const u64 type = s.event.attr.sample_type;
  const Moment& moment = s.environment.moment;
  ByteWriter out(at);
  out.put(sample_header(s, size.bytes));
  if (type & sample::IDENTIFIER) [[unlikely]]
    out.put(primary_id(s.event));
  if (type & sample::IP) out.put(s.data.ip.value_or(s.frame.registers.rip));
  if (type & sample::TID) out.put_two(moment.pid, moment.tid);
  if (type & sample::TIME) out.put(s.data.time.value_or(moment.time));
  if (type & sample::ADDR) [[unlikely]]
    out.put(s.data.address.value_or(0));
  if (type & sample::ID) [[unlikely]]
    out.put(primary_id(s.event));
  if (type & sample::STREAM_ID) [[unlikely]]
    out.put(s.event.id);
  if (type & sample::CPU) out.put_two(moment.cpu, 0);
  if (type & sample::PERIOD) out.put(s.data.period);
  if ((type & (variable_parts | access_parts | rare_words)) == 0) return out.at();
  return write_behind_first_words(out, s, size.stack_bytes);
}

}  // namespace

SampleSize sample_size(const Sample& sample) { return size_of(sample); }

std::byte* write_sample(std::byte* at, const Sample& sample, const SampleSize& size) {
  return write(at, sample, size);
}

bool output_sample(RingBuffer& ring, Event& event, const SampleData& data, const InterruptFrame& frame,
                   const SampleEnvironment& environment) {
  const Sample s{event, data, frame, environment};
  const SampleSize size = size_of(s);
  return output(ring, event, environment.moment, size.bytes, [&](std::byte* at) {
    write(at, s, size);
    ring.count_sample(event.layout.samples_between_wakeups);
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
