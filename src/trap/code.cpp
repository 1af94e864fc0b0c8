// SPDX-License-Identifier: MIT
#include "trap/code.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "x86/decoded.h"

namespace pmusim::trap {

namespace {

constexpr std::size_t longest_instruction = 15, page_bytes = 4096;

struct Bytes {
  std::array<std::byte, longest_instruction> bytes{};
  std::size_t count = 0;
};

// The instruction has been fetched, so that its first page can be read. Nobody knows about the next one: the
// kernel is asked, which does not fault.
Bytes bytes_at(u64 ip) {
  Bytes code;
  code.count = std::min<std::size_t>(longest_instruction, page_bytes - ip % page_bytes);
  const auto* begin = reinterpret_cast<const std::byte*>(ip);
  std::memcpy(code.bytes.data(), begin, code.count);
  if (code.count == longest_instruction) return code;
  const std::size_t rest = longest_instruction - code.count;
  const iovec here{code.bytes.data() + code.count, rest},
      there{const_cast<std::byte*>(begin) + code.count, rest};
  if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(rest)) code.count += rest;
  return code;
}

Special special_of(const x86::Decoded& decoded) {
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_RDMSR:
      return Special::rdmsr;
    case ZYDIS_MNEMONIC_WRMSR:
      return Special::wrmsr;
    case ZYDIS_MNEMONIC_RDPMC:
      return Special::rdpmc;
    case ZYDIS_MNEMONIC_XSAVES:
    case ZYDIS_MNEMONIC_XSAVES64:
      return Special::xsaves;
    case ZYDIS_MNEMONIC_XRSTORS:
    case ZYDIS_MNEMONIC_XRSTORS64:
      return Special::xrstors;
    case ZYDIS_MNEMONIC_XSETBV:
      return Special::xsetbv;
    case ZYDIS_MNEMONIC_CLI:
      return Special::cli;
    case ZYDIS_MNEMONIC_STI:
      return Special::sti;
    case ZYDIS_MNEMONIC_CPUID:
      return Special::cpuid;
    case ZYDIS_MNEMONIC_XGETBV:
      return Special::xgetbv;
    case ZYDIS_MNEMONIC_RDTSC:
      return Special::rdtsc;
    case ZYDIS_MNEMONIC_RDTSCP:
      return Special::rdtscp;
    case ZYDIS_MNEMONIC_PUSHFQ:
      return Special::pushf;
    case ZYDIS_MNEMONIC_POPFQ:
      return Special::popf;
    case ZYDIS_MNEMONIC_XBEGIN:
      return Special::xbegin;
    case ZYDIS_MNEMONIC_XABORT:
      return Special::xabort;
    case ZYDIS_MNEMONIC_XTEST:
      return Special::xtest;
    case ZYDIS_MNEMONIC_XEND:
      return Special::xend;
    case ZYDIS_MNEMONIC_SYSCALL:
      return Special::syscall;
    default:
      break;
  }
  const bool loads_ss = decoded.mnemonic() == ZYDIS_MNEMONIC_MOV && decoded.instruction.operand_count != 0 &&
                        decoded.all_operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                        decoded.all_operands[0].reg.value == ZYDIS_REGISTER_SS;
  return loads_ss ? Special::load_stack_segment : Special::none;
}

}  // namespace

Code code_at(u64 ip) {
  const Bytes code = bytes_at(ip);
  const auto bytes = std::span(code.bytes).first(code.count);
  const auto decoded = x86::zydis_decode(bytes);
  if (!decoded) return {};
  return {x86::decode(bytes, ip), special_of(*decoded)};
}

}  // namespace pmusim::trap
