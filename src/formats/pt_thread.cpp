// SPDX-License-Identifier: MIT
#include "formats/pt_thread.h"

#include "formats/pt_file.h"

namespace pmusim::formats {
namespace {

// Some decoders begin at any PSB, and resume there after an error. Hardware can have them every 2 KiB to 128
// MiB.
constexpr u64 bytes_between_psbs = 64 << 10;

}  // namespace

void PtThread::run(const trace::BlockRun& run, u64 tsc, Before before) {
  const u64 start = run.block->start();
  if (on_ && (start != ip_ || before == Before::another)) interrupt();
  now_ = tsc;
  if (taken_bytes_ + size() >= next_psb_)
    synchronize();
  else if (!on_)
    resume_time();
  if (!on_) packets_.address(PtAddressPacket::pge, start);
  on_ = true;
  now_ += run.cycles.value_or(0);
  for (const x86::Instruction& i : run.block->instructions) {
    const bool last = &i == &run.block->instructions.back();
    if (last || i.branch != BranchKind::none) execute(i, last ? run.next_ip : i.end());
  }
}

void PtThread::stop() {
  if (on_) interrupt();
  packets_.pad();
}

void PtThread::tell_time() {
  if (clock_ == Clock::stamps || now_ == stamped_) return;
  packets_.cycles(now_ - stamped_);
  stamped_ = now_;
}

// Cycles are counted while nothing is traced, too.
void PtThread::resume_time() {
  if (clock_ == Clock::cycles) return tell_time();
  packets_.time(now_);
}

std::vector<std::byte> PtThread::take_words() {
  auto words = packets_.take_words();
  taken_bytes_ += words.size();
  return words;
}

// An exception or interrupt: it cannot be seen in the code, so its address is written.
void PtThread::interrupt() {
  tell_time();
  packets_.address(PtAddressPacket::fup, ip_);
  packets_.no_address(PtAddressPacket::pgd);
  on_ = false;
}

void PtThread::synchronize() {
  if (next_psb_ != 0) tell_time();
  packets_.psb();
  packets_.time(now_);
  if (clock_ == Clock::cycles) packets_.core_bus_ratio(nominal_core_bus_ratio);
  stamped_ = now_;
  packets_.long_mode();
  if (on_) packets_.address(PtAddressPacket::fup, ip_);
  packets_.end_psb();
  next_psb_ = taken_bytes_ + size() + bytes_between_psbs;
}

void PtThread::execute(const x86::Instruction& i, u64 next_ip) {
  switch (i.branch) {
    case BranchKind::none:
      ip_ = i.end();
      break;
    case BranchKind::direct_jump:
    case BranchKind::direct_call:
      ip_ = i.target;
      break;
    case BranchKind::conditional: {
      const bool taken = next_ip == i.target && next_ip != i.end();
      tell_time();
      packets_.branch(taken);
      ip_ = taken ? i.target : i.end();
      break;
    }
    case BranchKind::syscall:
    case BranchKind::software_interrupt:
      tell_time();
      packets_.no_address(PtAddressPacket::pgd);
      on_ = false;
      break;
    default:
      tell_time();
      packets_.address(PtAddressPacket::tip, next_ip);
      ip_ = next_ip;
  }
}

}  // namespace pmusim::formats
