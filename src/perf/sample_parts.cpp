// SPDX-License-Identifier: MIT
#include "perf/sample_parts.h"

#include <algorithm>

namespace pmusim::perf {

ByteWriter write_bytes(ByteWriter out, std::span<const std::byte> bytes) {
  out.put_all(bytes);
  return out;
}

// --- RAW

std::size_t raw_size(std::span<const std::byte> raw) {
  return padded(sizeof(u32) + std::max<std::size_t>(raw.size(), 4));
}

ByteWriter write_raw(ByteWriter out, std::span<const std::byte> raw) {
  const std::size_t payload = raw_size(raw) - sizeof(u32);
  out.put(static_cast<u32>(payload));
  out.put_all(raw);
  out.put_zeros(payload - raw.size());
  return out;
}

// --- BRANCH_STACK

namespace {

bool wants(const Event& event, u64 branch_bit) { return (event.attr.branch_sample_type & branch_bit) != 0; }

}  // namespace

bool group_has_branch_counters(const Event& event) {
  const Event& leader = event.leader ? *event.leader : event;
  return wants(event, branch::COUNTERS) || wants(leader, branch::COUNTERS) ||
         std::ranges::any_of(leader.siblings, [](const Event* e) { return wants(*e, branch::COUNTERS); });
}

namespace {

std::span<const BranchEntry> written_entries(const Event& event, const BranchStack* stack) {
  if (stack == nullptr) return {};
  const std::size_t limit = event.layout.branch_entries_limit;
  return limit == 0 || stack->entries.size() <= limit ? stack->entries : stack->entries.first(limit);
}

}  // namespace

std::size_t branch_stack_size(const Event& event, const BranchStack* stack) {
  const std::size_t n = written_entries(event, stack).size();
  const std::size_t entry =
      sizeof(BranchEntry) + (n != 0 && group_has_branch_counters(event) ? sizeof(u64) : 0);
  return sizeof(u64) + (wants(event, branch::HW_INDEX) ? sizeof(u64) : 0) + n * entry;
}

/// hw_index is written for an empty stack too. The kernel leaves it out when no stack is attached, and then
/// the perf tool, which always expects it, misreads the fields that follow.
ByteWriter write_branch_stack(ByteWriter out, const Event& event, const BranchStack* stack) {
  const auto entries = written_entries(event, stack);
  out.put(u64{entries.size()});
  if (wants(event, branch::HW_INDEX)) out.put(stack ? stack->hw_index : ~u64{0});
  out.put_all(entries);
  if (entries.empty() || !group_has_branch_counters(event)) return out;
  const std::size_t known = std::min(stack->counters.size(), entries.size());
  out.put_all(stack->counters.first(known));
  out.put_zeros((entries.size() - known) * sizeof(u64));
  return out;
}

// --- STACK_USER

std::size_t user_stack_bytes(const Attr& attr, const SampleEnvironment& environment, std::size_t others) {
  if (!environment.user_registers || others + 16 >= max_record_bytes) return 0;
  const u64 sp = (*environment.user_registers)[Gpr::rsp];
  const u64 above_sp = sp < environment.address_space_end ? environment.address_space_end - sp : 0;
  const u64 wanted = std::min<u64>(attr.sample_stack_user, above_sp);
  return static_cast<std::size_t>(std::min<u64>(wanted, max_record_bytes - others - 16)) & ~std::size_t{7};
}

ByteWriter write_user_stack(ByteWriter out, std::span<const std::byte> stack, std::size_t bytes) {
  out.put(u64{bytes});
  if (bytes == 0) return out;
  const auto readable = stack.first(std::min(bytes, stack.size()));
  out.put_all(readable);
  out.put_zeros(bytes - readable.size());
  out.put(u64{readable.size()});
  return out;
}

}  // namespace pmusim::perf
