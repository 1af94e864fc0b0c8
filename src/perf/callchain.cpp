#include "perf/callchain.h"

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

}  // namespace

void unwind(std::vector<u64>& chain, const Attr& attr, const SampleData& data, const InterruptFrame& frame,
            const Target& target) {
  chain.clear();
  const u64 ip = data.ip.value_or(frame.registers.rip);
  if (frame.cpl == Cpl::kernel) {
    if (!attr.exclude_callchain_kernel) chain = {callchain_context::KERNEL, ip};
    return;
  }
  if (attr.exclude_callchain_user) return;
  chain = {callchain_context::USER, ip};
  const std::size_t limit = std::size_t{attr.sample_max_stack} + 1;  // the marker is none of the addresses
  if (frame.registers_known) follow_frames(chain, frame.registers[Gpr::rbp], limit, target);
}

}  // namespace pmusim::perf
