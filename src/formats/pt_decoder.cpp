// SPDX-License-Identifier: MIT
#include "formats/pt_decoder.h"

#include <intel-pt.h>

#include <algorithm>
#include <optional>

namespace pmusim::formats {
namespace {

// Without a packet: a few hundred are much, since every loop has a conditional branch, and returns have
// packets.
constexpr u32 max_jumps_without_packet = 4096, max_instructions_without_packet = 1 << 16;

/// Where the code of a process is read.
struct ProcessCode {
  CodeSource& code;
  u32 pid = 0;
};

int read_code(std::uint8_t* buffer, std::size_t size, const pt_asid*, std::uint64_t ip, void* context) {
  auto& process = *static_cast<ProcessCode*>(context);
  const auto bytes = process.code.read(process.pid, ip, std::as_writable_bytes(std::span(buffer, size)));
  return bytes == 0 ? -pte_nomap : static_cast<int>(bytes);
}

// libipt reads the packets through a pointer that is not const, and does not write.
pt_config config_for(std::span<const std::byte> packets, const PtMachine& machine) {
  pt_config config;
  pt_config_init(&config);
  config.begin = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(packets.data()));
  config.end = config.begin + packets.size();
  config.mtc_freq = machine.mtc_frequency;
  config.cpuid_0x15_ebx = machine.tsc_ctc_numerator;
  config.cpuid_0x15_eax = machine.tsc_ctc_denominator;
  config.nom_freq = machine.nominal_ratio;
  if (machine.family == 0) return config;
  config.cpu = {pcv_intel, machine.family, machine.model, machine.stepping};
  pt_cpu_errata(&config.errata, &config.cpu);  // a CPU that it does not know has none
  return config;
}

struct FreeDecoder {
  void operator()(pt_insn_decoder* decoder) const { pt_insn_free_decoder(decoder); }
};

}  // namespace

struct PtDecoder::Impl {
  Impl(std::span<const std::byte> packets, const PtMachine& machine, CodeSource& code)
      : process{code},
        config(config_for(packets, machine)),
        clocked(machine.clocked),
        decoder(pt_insn_alloc_decoder(&config)) {
    if (decoder) pt_image_set_callback(pt_insn_get_image(decoder.get()), read_code, &process);
  }

  PtItem next() {
    for (;;) {
      if (std::exchange(found_begin, false)) return {.kind = PtItem::Kind::begin, .time = time()};
      if (status == -pte_eos) return {};
      if (status < 0) {
        if (!std::exchange(reported_loss, true)) return {.kind = PtItem::Kind::lost};
        reported_loss = false;
        if (!find_next_psb()) status = -pte_eos;
      } else if ((status & pts_event_pending) != 0) {
        if (const auto item = take_event()) return *item;
      } else if (const auto item = take_instruction()) {
        return *item;
      }
    }
  }

  ProcessCode process;
  pt_config config;
  bool clocked;
  std::unique_ptr<pt_insn_decoder, FreeDecoder> decoder;

 private:
  // A stream that cannot be gone into where a PSB stands is left at the next one.
  bool find_next_psb() {
    do {
      const u64 before = offset();
      status = pt_insn_sync_forward(decoder.get());
      if (status == -pte_eos || (status < 0 && offset() <= before && std::exchange(stuck, true)))
        return false;
    } while (status < 0);
    found_begin = true;
    stuck = false;
    without_packet = jumps = 0;
    return true;
  }

  std::optional<PtItem> take_event() {
    pt_event event{};
    status = pt_insn_event(decoder.get(), &event, sizeof event);
    if (status < 0) return std::nullopt;
    switch (event.type) {
      case ptev_enabled:
        return PtItem{.kind = PtItem::Kind::begin, .ip = event.variant.enabled.ip, .time = time_of(event)};
      case ptev_disabled:
        return PtItem{.kind = PtItem::Kind::paused, .time = time_of(event)};
      case ptev_async_disabled:
        return PtItem{
            .kind = PtItem::Kind::interrupted, .ip = event.variant.async_disabled.at, .time = time_of(event)};
      case ptev_async_branch:
        return PtItem{
            .kind = PtItem::Kind::interrupted, .ip = event.variant.async_branch.from, .time = time_of(event)};
      case ptev_overflow:
        return PtItem{.kind = PtItem::Kind::lost};
      default:
        return std::nullopt;
    }
  }

  std::optional<PtItem> take_instruction() {
    instruction = {};
    status = pt_insn_next(decoder.get(), &instruction, sizeof instruction);
    // It may be whole although what follows is not.
    if (instruction.iclass == ptic_error || instruction.size == 0) return std::nullopt;
    if (status >= 0 && leads_on_forever()) status = -pte_bad_query;
    return PtItem{.kind = PtItem::Kind::instruction,
                  .ip = instruction.ip,
                  .time = clocked ? time() : PtTime{},
                  .code = std::as_bytes(std::span(instruction.raw)).first(instruction.size)};
  }
  bool leads_on_forever() {
    if (const u64 now = offset(); now != last_offset) {
      last_offset = now;
      without_packet = jumps = 0;
    }
    if (instruction.iclass == ptic_jump || instruction.iclass == ptic_call) ++jumps;
    return ++without_packet > max_instructions_without_packet || jumps > max_jumps_without_packet;
  }

  u64 offset() const {
    u64 at = 0;
    pt_insn_get_offset(decoder.get(), &at);
    return at;
  }
  PtTime time() const {
    PtTime now;
    if (pt_insn_time(decoder.get(), &now.tsc, nullptr, nullptr) < 0) return {};
    pt_insn_core_bus_ratio(decoder.get(), &now.core_bus_ratio);
    return now;
  }
  PtTime time_of(const pt_event& event) const {
    return {event.has_tsc ? event.tsc : 0, time().core_bus_ratio};
  }

  pt_insn instruction{};
  int status = -pte_nosync;
  bool reported_loss = true;  // nothing is lost at the start
  bool found_begin = false, stuck = false;
  u64 last_offset = 0;
  u32 without_packet = 0, jumps = 0;
};

PtDecoder::PtDecoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PtDecoder::PtDecoder(PtDecoder&&) noexcept = default;
PtDecoder& PtDecoder::operator=(PtDecoder&&) noexcept = default;
PtDecoder::~PtDecoder() = default;

Result<PtDecoder, Error> PtDecoder::create(std::span<const std::byte> packets, const PtMachine& machine,
                                           CodeSource& code) {
  PtDecoder result(std::make_unique<Impl>(packets, machine, code));
  if (!result.impl_->decoder) return Failure(Error("no memory for a decoder of Intel PT"));
  return result;
}

void PtDecoder::set_process(u32 pid) { impl_->process.pid = pid; }
PtItem PtDecoder::next() { return impl_->next(); }

}  // namespace pmusim::formats
