// SPDX-License-Identifier: MIT
#include "capi/watcher.h"

#include <fmt/format.h>

#include "capi/cpu.h"

namespace pmusim::capi {

namespace {

u32 flags(std::initializer_list<bool> set) {
  u32 sum = 0, value = 1;
  for (const bool one : set) {
    sum |= one ? value : 0;
    value *= 2;
  }
  return sum;
}

}  // namespace

// A function that asks for something that faults is not called for that.
void Watcher::tell(pmusim_event_kind kind, pmusim_event event) noexcept {
  if (!wants(kind) || calling_) return;
  event.kind = kind;
  calling_ = true;
  callback_.function(callback_.cpu, &event, callback_.context);
  calling_ = false;
}

void Watcher::on_register_write(const observed::RegisterWrite& what) {
  tell(PMUSIM_REGISTER_WRITE, {.cycle = what.cycle, .address = what.address, .value = what.value});
}
void Watcher::on_access_fault(const observed::AccessFault& what) {
  callback_.cpu->explain(what);
  tell(PMUSIM_ACCESS_FAULT, {.cycle = what.cycle,
                             .address = what.address,
                             .value = what.value,
                             .detail = static_cast<u32>(what.access),
                             .vector = vector_of(what.fault)});
}
void Watcher::on_overflow(const observed::Overflow& what) {
  tell(PMUSIM_OVERFLOW, {.cycle = what.cycle,
                         .counter = what.counter,
                         .flags = flags({what.sets_status, what.asks_for_pmi, what.writes_record})});
}
void Watcher::on_reload(const observed::Reload& what) {
  tell(PMUSIM_RELOAD, {.cycle = what.cycle,
                       .value = what.value,
                       .counter = what.counter,
                       .detail = static_cast<u32>(what.cause)});
}
void Watcher::on_freeze(const observed::Freeze& what) {
  tell(PMUSIM_FREEZE, {.cycle = what.cycle, .detail = static_cast<u32>(what.unit)});
}
void Watcher::on_pmi_request(const observed::PmiRequest& what) {
  tell(PMUSIM_PMI_REQUEST, {.cycle = what.cycle,
                            .value = what.due_cycle,
                            .detail = static_cast<u32>(what.cause),
                            .flags = static_cast<u32>(what.fate)});
}
void Watcher::on_pmi_delivery(const observed::PmiDelivery& what) {
  tell(PMUSIM_PMI_DELIVERY, {.cycle = what.cycle, .address = what.ip, .detail = privilege_of(what.cpl)});
}
void Watcher::on_pmi_return(const observed::PmiReturn& what) {
  tell(PMUSIM_PMI_RETURN, {.cycle = what.cycle});
}
void Watcher::on_assist_armed(const observed::AssistArmed& what) {
  tell(PMUSIM_ASSIST_ARMED, {.cycle = what.cycle, .counter = what.counter});
}
void Watcher::on_pebs_record(const observed::PebsRecord& what) {
  tell(PMUSIM_PEBS_RECORD, {.cycle = what.cycle,
                            .address = what.address,
                            .value = what.ip,
                            .counters = what.counters,
                            .detail = what.bytes,
                            .flags = static_cast<u32>(what.outcome)});
}
void Watcher::on_bts_record(const observed::BtsRecord& what) {
  tell(PMUSIM_BTS_RECORD,
       {.cycle = what.cycle, .address = what.from, .value = what.to, .flags = flags({what.written})});
}
void Watcher::on_lbr_record(const observed::LbrRecord& what) {
  tell(PMUSIM_LBR_RECORD, {.cycle = what.cycle,
                           .address = what.from,
                           .value = what.to,
                           .detail = static_cast<u32>(what.kind),
                           .flags = flags({what.mispredicted})});
}
void Watcher::tell_retirement(const Retirement& retirement) {
  tell(PMUSIM_RETIREMENT, {.cycle = retirement.cycle,
                           .address = retirement.ip,
                           .value = retirement.next_ip,
                           .detail = static_cast<u32>(retirement.branch)});
}

}  // namespace pmusim::capi

using namespace pmusim;

int pmusim_set_observer(pmusim_cpu* cpu, pmusim_observer observer, uint64_t kinds, void* context) {
  return capi::guarded("pmusim_set_observer", [&] {
    constexpr u64 known = (u64{1} << (PMUSIM_RETIREMENT + 1)) - 1;
    if ((kinds & ~known) != 0)
      throw capi::Misuse(fmt::format("kinds is {:#x}: expected bits of {:#x}", kinds, known));
    capi::changeable(cpu).set_observer(observer, kinds, context);
    return PMUSIM_OK;
  });
}
