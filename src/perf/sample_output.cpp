// SPDX-License-Identifier: MIT
#include "perf/sample_output.h"

#include <array>
#include <cassert>
#include <utility>

#include "perf/general_registers.h"
#include "perf/output.h"
#include "perf/sample_fields.h"
#include "perf/sample_parts.h"

namespace pmusim::perf {

namespace {

constexpr u64 words = sample_bits(FieldSize::word), by_sample = sample_bits(FieldSize::sample);

/// What a plain layout may have.
constexpr u64 plain_fields = (words & ~sample::AUX) | sample::REGS_INTR;

}  // namespace

SampleLayout make_sample_layout(const Attr& attr, Kernel kernel) {
  const SimdAbi simd = simd_abi(kernel);
  SampleLayout layout;
  layout.hides_kernel = attr.exclude_kernel && has(kernel, change::kernel_registers_hidden);
  layout.sample_type = attr.sample_type;
  layout.simd = simd;
  layout.fixed_bytes = sizeof(RecordHeader) + word_bytes(attr.sample_type & words);
  if (attr.sample_type & sample::REGS_INTR)
    layout.fixed_bytes += 8 + register_bytes(attr, RegisterSide::interrupt, simd);
  if (layout.hides_kernel && (attr.sample_type & sample::REGS_INTR))
    layout.hidden_in_kernel_bytes = register_bytes(attr, RegisterSide::interrupt, simd);
  layout.user_register_bytes = register_bytes(attr, RegisterSide::user, simd);
  for (const RegisterSide side : {RegisterSide::user, RegisterSide::interrupt})
    layout.simd_counts[static_cast<unsigned>(side)] = simd_counts(attr, side);
  layout.samples_between_wakeups = attr.watermark ? 0 : attr.wakeup_events;
  const bool registers_plain = (attr.sample_type & sample::REGS_INTR) == 0 ||
                               (attr.sample_regs_intr == all_general && attr.sample_simd_regs_enabled == 0 &&
                                layout.hidden_in_kernel_bytes == 0);
  if ((attr.sample_type & ~plain_fields) == 0 && registers_plain && layout.samples_between_wakeups == 0)
    layout.plain_bytes = layout.fixed_bytes;
  return layout;
}

namespace {

std::span<const u64> callchain(const Sample& s) {
  return s.data.callchain ? *s.data.callchain : s.environment.callchain;
}

// What is always inlined here becomes part of the two functions that output a sample, which then keep its
// four parts in CPU registers.

// --- a function for each field that is a word

template <SampleField field>
u64 word(FieldTag<field> tag, const Sample& s) {
  return sample_id_word(tag, s.event, s.environment.moment);
}
u64 word(FieldTag<SampleField::ip>, const Sample& s) {
  if (hides_interrupted_code(s.event.layout, s.data, s.frame)) [[unlikely]]
    return 0;
  return s.data.ip.value_or(s.frame.registers.rip);
}
u64 word(FieldTag<SampleField::time>, const Sample& s) {
  return s.data.time.value_or(s.environment.moment.time);
}
u64 word(FieldTag<SampleField::addr>, const Sample& s) { return s.data.address.value_or(0); }
u64 word(FieldTag<SampleField::period>, const Sample& s) { return s.data.period; }
u64 word(FieldTag<SampleField::weight>, const Sample& s) { return s.data.weight; }
u64 word(FieldTag<SampleField::data_src>, const Sample& s) { return s.data.data_source; }
u64 word(FieldTag<SampleField::transaction>, const Sample& s) { return s.data.transaction; }
u64 word(FieldTag<SampleField::phys_addr>, const Sample& s) {
  const std::optional<u64>& by_tables = s.environment.physical_address;
  return by_tables ? *by_tables : s.data.physical_address.value_or(0);
}
u64 word(FieldTag<SampleField::cgroup>, const Sample& s) { return s.environment.cgroup; }
u64 word(FieldTag<SampleField::data_page_size>, const Sample& s) { return s.environment.data_page_size; }
u64 word(FieldTag<SampleField::code_page_size>, const Sample& s) { return s.environment.code_page_size; }
u64 word(FieldTag<SampleField::aux>, const Sample&) { return 0; }

// --- size and writer of each field that is more

std::size_t bytes_of(FieldTag<SampleField::read>, const Sample& s) {
  return s.environment.read_values.size_bytes();
}
ByteWriter put(FieldTag<SampleField::read>, ByteWriter out, const Sample& s, const SampleSize&) {
  out.put_all(s.environment.read_values);
  return out;
}

std::size_t bytes_of(FieldTag<SampleField::callchain>, const Sample& s) {
  return 8 + callchain(s).size_bytes();
}
ByteWriter put(FieldTag<SampleField::callchain>, ByteWriter out, const Sample& s, const SampleSize&) {
  out.put(u64{callchain(s).size()});
  out.put_all(callchain(s));
  return out;
}

std::size_t bytes_of(FieldTag<SampleField::raw>, const Sample& s) { return raw_size(s.data.raw); }
ByteWriter put(FieldTag<SampleField::raw>, ByteWriter out, const Sample& s, const SampleSize&) {
  return write_raw(out, s.data.raw);
}

std::size_t bytes_of(FieldTag<SampleField::branch_stack>, const Sample& s) {
  return branch_stack_size(s.event, s.data.branches);
}
ByteWriter put(FieldTag<SampleField::branch_stack>, ByteWriter out, const Sample& s, const SampleSize&) {
  return write_branch_stack(out, s.event, s.data.branches);
}

std::size_t bytes_of(FieldTag<SampleField::regs_user>, const Sample& s) {
  return 8 + (s.environment.user_registers ? s.event.layout.user_register_bytes : 0);
}
ByteWriter put(FieldTag<SampleField::regs_user>, ByteWriter out, const Sample& s, const SampleSize&) {
  return write_user_registers(out, s.event, s.environment);
}

std::size_t bytes_of(FieldTag<SampleField::stack_user>, std::size_t stack_bytes) {
  return stack_bytes == 0 ? 8 : 16 + stack_bytes;
}
ByteWriter put(FieldTag<SampleField::stack_user>, ByteWriter out, const Sample& s, const SampleSize& size) {
  return write_user_stack(out, s.environment.user_stack, size.stack_bytes);
}

ByteWriter put(FieldTag<SampleField::regs_intr>, ByteWriter out, const Sample& s, const SampleSize&) {
  return write_interrupt_registers(out, s.event, s.data, s.frame);
}

// --- the record

[[gnu::always_inline]] inline SampleSize size_of(const Sample& s) {
  assert(s.event.layout.sample_type == s.event.attr.sample_type);
  SampleSize size{.bytes = s.event.layout.fixed_bytes};
  if (hides_interrupted_code(s.event.layout, s.data, s.frame)) [[unlikely]]
    size.bytes -= s.event.layout.hidden_in_kernel_bytes;
  const u64 type = s.event.attr.sample_type & by_sample;
  if (type == 0) return size;
  for_each_sample_field(type, [&]<SampleField field>(FieldTag<field> tag) {
    if constexpr (field == SampleField::stack_user) {  // gets what the others leave
      size.stack_bytes = user_stack_bytes(s.event.attr, s.environment, size.bytes);
      size.bytes += bytes_of(tag, size.stack_bytes);
    } else if constexpr (row_of(field).size == FieldSize::sample) {
      size.bytes += bytes_of(tag, s);
    }
  });
  return size;
}

u64 header_word(const Sample& s, std::size_t bytes) {
  const u64 hosts = sampled_level(s.data, s.frame) == Cpl::user ? misc::USER : misc::KERNEL;
  const u64 mode = s.environment.guest_mode != 0 ? s.environment.guest_mode : hosts;
  const u64 exact = s.data.exact_ip ? misc::EXACT_IP : 0;
  return u64{bytes} << 48 | exact << 32 | mode << 32 | static_cast<u64>(RecordType::sample);
}

/// How samples are written: any, or those of a plain layout.
enum class Form : u8 { any, plain };

/// The fields from `first` to `last`. That a sample has none of them is one test.
template <SampleField first, SampleField last, Form form>
[[gnu::always_inline]] inline ByteWriter write_fields(ByteWriter out, const Sample& s, u64 type,
                                                      const SampleSize& size) {
  if (!has_usual_field(first, last) && (type & sample_bits(first, last)) == 0) return out;
  for_each_sample_field<first, last>(
      type, [&]<SampleField field>(FieldTag<field> tag) __attribute__((always_inline)) {
        if constexpr (row_of(field).size == FieldSize::word)
          out.put(word(tag, s));
        else if constexpr (field == SampleField::regs_intr && form == Form::plain)
          out = write_all_interrupt_registers(out, s.event, s.data, s.frame);
        else
          out = put(tag, out, s, size);
      });
  return out;
}

/// Where bundles of fields begin.
constexpr std::array bundles = {SampleField::identifier, SampleField::addr,   SampleField::cpu,
                                SampleField::read,       SampleField::weight, SampleField::phys_addr};
constexpr SampleField last_of_bundle(std::size_t n) {
  return field_before(n + 1 < bundles.size() ? bundles[n + 1] : SampleField::count_);
}

template <Form form>
[[gnu::always_inline]] inline ByteWriter write(ByteWriter out, const Sample& s, const SampleSize& size) {
  const u64 type = s.event.attr.sample_type & (form == Form::plain ? plain_fields : sample::ALL);
  out.put(header_word(s, size.bytes));
  [&]<std::size_t... n>(std::index_sequence<n...>) __attribute__((always_inline)) {
    ((out = write_fields<bundles[n], last_of_bundle(n), form>(out, s, type, size)), ...);
  }
  (std::make_index_sequence<bundles.size()>{});
  return out;
}

}  // namespace

SampleSize sample_size(const Sample& sample) { return size_of(sample); }

std::byte* write_sample(std::byte* at, const Sample& sample, const SampleSize& size) {
  return write<Form::any>(ByteWriter(at), sample, size).at();
}

namespace {

[[gnu::noinline]] bool output_any_sample(RingBuffer& ring, Event& event, const SampleData& data,
                                         const InterruptFrame& frame, const SampleEnvironment& environment) {
  // The LOST record in front takes the present time for both (Linux: __perf_output_begin).
  if (ring.lost() != 0 && event.attr.sample_id_all && data.time) {
    SampleData behind_lost = data;
    behind_lost.time.reset();
    return output_any_sample(ring, event, behind_lost, frame, environment);
  }
  const Sample s{event, data, frame, environment};
  const SampleSize size = size_of(s);
  return output(ring, event, environment.moment, size.bytes, [&](std::byte* at) {
    write<Form::any>(ByteWriter(at), s, size);
    ring.count_sample(event.layout.samples_between_wakeups);
  });
}

}  // namespace

/// Plain samples are written here, without a call and hence without saving CPU registers.
bool output_sample(RingBuffer& ring, Event& event, const SampleData& data, const InterruptFrame& frame,
                   const SampleEnvironment& environment) {
  const std::size_t bytes = event.layout.plain_bytes;
  if (!ring.fits_ahead(bytes)) return output_any_sample(ring, event, data, frame, environment);
  write<Form::plain>(ByteWriter(ring.reserve(bytes)), {event, data, frame, environment}, {.bytes = bytes});
  ring.publish_ahead();
  return true;
}

std::size_t sample_id_size(const Attr& attr) {
  return attr.sample_id_all ? word_bytes(attr.sample_type & sample_id_bits) : 0;
}

void write_sample_id(ByteWriter& out, const Event& event, const Moment& moment) {
  if (!event.attr.sample_id_all) return;
  for_each_sample_id_field(event.attr.sample_type,
                           [&](auto tag) { out.put(sample_id_word(tag, event, moment)); });
}

}  // namespace pmusim::perf
