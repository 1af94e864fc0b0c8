// SPDX-License-Identifier: MIT
#include <algorithm>

#include "perf/callchain.h"
#include "perf/frequency.h"
#include "perf/linux_core.h"
#include "perf/sample_template.h"
#include "perf/scheduler.h"
#include "perf/throttle.h"

/// What the core does with a sample: periods, limits, throttling, and the record.
namespace pmusim::perf {

using Verdict = SampleSink::Verdict;

Verdict LinuxCore::account_interrupt(Event& event) {
  Verdict verdict = Verdict::keep;
  if (event.hw.interrupts_sequence != ticks_) {
    event.hw.interrupts_sequence = ticks_;
    event.hw.interrupts = 1;
  } else if (event.hw.interrupts != throttled) {
    ++event.hw.interrupts;
  }
  if (throttles(event) && event.hw.interrupts >= max_samples_per_tick()) {
    throttle(event);
    verdict = Verdict::stop;
  }
  if (event.attr.freq) adjust_on_overflow(event);
  return verdict;
}

/// A program that each overflow signals gets no further where its handler takes longer than the period.
bool LinuxCore::throttles(const Event& event) const {
  return options_.throttling == Throttling::on || signalling_.contains(&event.original());
}

ThrottleScope LinuxCore::throttle_scope() const {
  return has(options_.limits.kernel, change::group_throttling) ? ThrottleScope::group : ThrottleScope::event;
}

/// Of a group all are stopped here, in its order. An event alone is left to the driver, which stops it once
/// its sample is written.
void LinuxCore::throttle(Event& event) {
  throttled_since_tick_ = true;
  const ThrottleScope scope = throttle_scope();
  for_throttled(event, scope, [&](Event& member) {
    member.hw.interrupts = throttled;
    if (scope == ThrottleScope::group) member.pmu->stop(member, PmuDriver::StopMode::plain);
    log_throttle(member, RecordType::throttle);
  });
}

/// Of a group only the leader tells.
void LinuxCore::log_throttle(Event& event, RecordType type) {
  if (throttle_scope() == ThrottleScope::event || event.is_leader()) write_throttle(event, type);
}

u64 LinuxCore::max_samples_per_tick() const {
  const u64 ticks_per_second = std::max<u64>(1, 1'000'000'000 / options_.tick_ns);
  return (options_.limits.max_sample_rate + ticks_per_second - 1) / ticks_per_second;
}

/// Only intervals below two ticks say something about the present rate.
void LinuxCore::adjust_on_overflow(Event& event) {
  const u64 passed = now_ - event.hw.frequency_time_stamp;
  event.hw.frequency_time_stamp = now_;
  if (passed > 0 && passed < 2 * options_.tick_ns) adjust_period(event, passed, event.hw.last_period);
}

Verdict LinuxCore::overflow(Event& event, const SampleData& data, const InterruptFrame& frame) {
  Verdict verdict = account_interrupt(event);
  if (event.event_limit > 0 && --event.event_limit == 0) {
    event.hung_up = true;
    to_disable_.push_back(&event);
    verdict = Verdict::stop;
  }
  if (event.attr.sigtrap && sigtrap_) sigtrap_(event, data.address.value_or(0));
  write_sample(event, data, frame);
  if (overflowed_) overflowed_(event.original());
  return verdict;
}

void LinuxCore::output(Event& event, const SampleData& data, const InterruptFrame& frame) {
  write_sample(event, data, frame);
}

/// The registers of the task in user mode: those that were sampled, or where the kernel was, those it saved.
const Registers* LinuxCore::user_registers(const Attr& attr, const SampleData& data,
                                           const InterruptFrame& frame) const {
  constexpr u64 instruction_pointer = bit(8);  // is known even where no other register is
  if (sampled_level(data, frame) == Cpl::kernel) return target_->user_registers();
  if (data.registers) return data.registers;
  const u64 general = attr.sample_regs_user & register_mask::GENERAL;
  const bool enough = frame.registers_known || (general & ~instruction_pointer) == 0;
  return enough ? &frame.registers : nullptr;
}

void LinuxCore::write_sample(Event& event, const SampleData& data, const InterruptFrame& frame) {
  RingBuffer* ring = ring_of(event);
  if (!ring) return;
  const u64 type = event.attr.sample_type;
  SampleEnvironment environment;
  environment.moment = moment_of(current_);
  environment.cgroup = current_ ? current_->cgroup : 0;
  if (type & sample::READ) {
    sample_read_values(event, data.counts, sample_read_);
    environment.read_values = sample_read_;
  }
  environment.user_registers = user_registers(event.attr, data, frame);
  environment.user_extended = data.user_extended;
  if ((type & sample::CALLCHAIN) && !data.callchain) {
    unwind(callchain_, event.attr, frame, *target_);
    environment.callchain = callchain_;
  }
  std::vector<std::byte> stack;
  if ((type & sample::STACK_USER) && environment.user_registers) {
    const u64 stack_pointer = (*environment.user_registers)[Gpr::rsp];
    stack = target_->read_memory(stack_pointer, event.attr.sample_stack_user);
    environment.user_stack = stack;
  }
  if ((type & sample::DATA_PAGE_SIZE) && data.address)
    environment.data_page_size = target_->page_size(*data.address);
  if ((type & sample::PHYS_ADDR) && data.address && target_->has_page_tables())
    environment.physical_address = target_->physical_address(*data.address).value_or(0);
  if (type & sample::CODE_PAGE_SIZE)
    environment.code_page_size = target_->page_size(data.ip.value_or(frame.registers.rip));
  output_sample(*ring, event, data, frame, environment);
}

std::optional<SampleTemplate> LinuxCore::sample_template(const Event& event,
                                                         const InterruptFrame& frame) const {
  RingBuffer* ring = ring_of(event);
  if (ring == nullptr || !has_sample_template(event)) return std::nullopt;
  if ((event.attr.sample_type & sample::PHYS_ADDR) && target_->has_page_tables()) return std::nullopt;
  SampleTemplate made = make_sample_template(event, moment_of(current_), frame);
  made.ring = ring;
  made.clock = options_.clock;
  return made;
}

void LinuxCore::lost_samples(Event& event, u64 count) {
  if (RingBuffer* ring = ring_of(event))
    output_record(*ring, event, moment_of(current_), LostSamplesRecord{count});
}

void LinuxCore::write_throttle(Event& event, RecordType type) {
  if (RingBuffer* ring = ring_of(event))
    output_record(*ring, event, moment_of(current_),
                  ThrottleRecord{type, now_, event.original().id, event.id});
}

}  // namespace pmusim::perf
