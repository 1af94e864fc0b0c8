// SPDX-License-Identifier: MIT
#include "perf/callchain.h"

#include <algorithm>
#include <cstring>

namespace pmusim::perf {

namespace {

/// A frame: the caller's frame pointer, then the return address.
struct StackFrame {
  u64 caller, return_address;
};

void follow_frames(std::vector<u64>& chain, u64 frame_pointer, std::size_t limit, const Target& target) {
  while (chain.size() < limit && frame_pointer != 0 && frame_pointer % 8 == 0) {
    const auto bytes = target.read_memory(frame_pointer, sizeof(StackFrame));
    if (bytes.size() < sizeof(StackFrame)) return;
    StackFrame frame;
    std::memcpy(&frame, bytes.data(), sizeof frame);
    if (frame.return_address == 0) return;
    chain.push_back(frame.return_address);
    if (frame.caller <= frame_pointer) return;  // stacks grow down: a caller's frame lies above
    frame_pointer = frame.caller;
  }
}

/// Of a sample in the kernel: where it was entered.
SampledPlace place_of(const SampleData& data, u64 user_ip, bool in_kernel) {
  SampledPlace place{.interrupted_ip = user_ip};
  if (in_kernel || data.cpl == Cpl::kernel) return place;
  place.ip = data.ip;
  place.time = data.time;
  return place;
}

}  // namespace

void unwind(std::vector<u64>& chain, const Attr& attr, const SampleData& data, const InterruptFrame& frame,
            const Target& target) {
  chain.clear();
  if (target.guest()) {  // whose stacks the host does not read
    if (!attr.exclude_callchain_kernel) chain.push_back(callchain_context::KERNEL);
    if (!attr.exclude_callchain_user) chain.push_back(callchain_context::USER);
    return;
  }
  const bool in_kernel = frame.cpl == Cpl::kernel;
  if (in_kernel && !attr.exclude_callchain_kernel) chain = {callchain_context::KERNEL, frame.registers.rip};
  const std::optional<u64> user_ip = in_kernel ? target.user_ip() : frame.registers.rip;
  if (attr.exclude_callchain_user || !user_ip) return;
  const std::size_t parts = chain.empty() ? 1 : 2;  // each begins with a mark and an address
  const SampledPlace place = place_of(data, *user_ip, in_kernel);
  const auto callers = target.callers(place, std::max<std::size_t>(attr.sample_max_stack, parts) - parts);
  chain.push_back(callchain_context::USER);
  if (callers) {
    chain.push_back(place.ip.value_or(place.interrupted_ip));
    chain.insert(chain.end(), callers->begin(), callers->end());
    return;
  }
  chain.push_back(*user_ip);
  const Registers* const known = frame.registers_known ? &frame.registers : nullptr;
  if (const Registers* const user = in_kernel ? target.user_registers() : known)
    follow_frames(chain, (*user)[Gpr::rbp], attr.sample_max_stack + parts, target);
}

}  // namespace pmusim::perf
