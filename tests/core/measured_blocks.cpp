// SPDX-License-Identifier: MIT
// Cycles of unrolled blocks as the timing model has them, for scripts/compare_measured_blocks.py. Reads lines
//
//     MODEL decoded|cached HEX [NAME=VALUE ...]
//
// (NAME a number of the core, such as reorder_buffer_uops) and writes for each the cycles per copy. The code
// stands many times in a row, as the harness of BHive (C. Chen and others, IISWC 2019) has it: it is too long
// for the uop cache, all pages that it accesses are one physical page, and nothing misses. Where accesses go
// is found by executing the copies here, step by step, and kept in the file that is the argument, if there is
// one. Registers and memory begin as that harness has them.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/core.h"

namespace {

using namespace pmusim;

constexpr u64 code_begin = 0x4000'0000, page_bytes = 4096;
constexpr u64 register_value = 0x232'4000, stack_pointer = 0x232'4800, frame_pointer = 0x232'47f0;
constexpr std::size_t copies = 32, most_steps = 1u << 14;

/// What the stepping process shows: general registers before each instruction.
struct Steps {
  volatile u64 count, wanted;
  u64 gpr[most_steps][16];
};
Steps* steps = nullptr;
int page_file = -1;

// In the order of Gpr.
constexpr int context_registers[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                       REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                       REG_R12, REG_R13, REG_R14, REG_R15};
constexpr u64 trap_flag = 0x100;

void write_down(const greg_t* from) {
  for (unsigned n = 0; n < 16; ++n)
    steps->gpr[steps->count][n] = static_cast<u64>(from[context_registers[n]]);
}

void begin_stepping(int, siginfo_t*, void* context) {
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  for (const int each : context_registers) registers[each] = register_value;
  registers[REG_RSP] = stack_pointer;
  registers[REG_RBP] = frame_pointer;
  registers[REG_RIP] = code_begin;
  registers[REG_EFL] = 0x202 | trap_flag;
  write_down(registers);
}

void stepped(int, siginfo_t*, void* context) {
  const ucontext_t* now = static_cast<const ucontext_t*>(context);
  steps->count = steps->count + 1;
  if (steps->count >= steps->wanted) _exit(0);
  write_down(now->uc_mcontext.gregs);
}

void map_page(int, siginfo_t* info, void*) {
  const u64 page = reinterpret_cast<u64>(info->si_addr) & ~(page_bytes - 1);
  if (page < page_bytes * 16 || page == code_begin) _exit(1);
  void* made = mmap(reinterpret_cast<void*>(page), page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                    page_file, 0);
  if (made == MAP_FAILED) _exit(1);
}

void give_up(int, siginfo_t*, void*) { _exit(1); }

void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(signal, &action, nullptr);
}

[[noreturn]] void step_through(const std::vector<std::byte>& code) {
  const std::size_t bytes = (code.size() + 2 * page_bytes) & ~(page_bytes - 1);
  void* at = mmap(reinterpret_cast<void*>(code_begin), bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  stack_t stack{};
  stack.ss_size = 1u << 16;
  stack.ss_sp = mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED || stack.ss_sp == MAP_FAILED || sigaltstack(&stack, nullptr) != 0) _exit(1);
  std::memcpy(at, code.data(), code.size());
  handle(SIGTRAP, stepped);
  handle(SIGSEGV, map_page);
  handle(SIGBUS, give_up);
  handle(SIGFPE, give_up);
  handle(SIGILL, give_up);
  handle(SIGUSR1, begin_stepping);
  alarm(5);
  raise(SIGUSR1);
  _exit(1);
}

/// Executes the code in another process; whether it came to its end.
bool record(const std::vector<std::byte>& code, std::size_t instructions) {
  if (instructions > most_steps) return false;
  steps->count = 0;
  steps->wanted = instructions;
  std::vector<u64> values(page_bytes / sizeof(u64), register_value);
  if (pwrite(page_file, values.data(), page_bytes, 0) != page_bytes) return false;
  const pid_t child = fork();
  if (child == 0) step_through(code);
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 && steps->count >= instructions;
}

std::vector<std::byte> bytes_of(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(hex.substr(at, 2), nullptr, 16)));
  return bytes;
}

std::vector<trace::Block> copies_of(const std::vector<std::byte>& code) {
  std::vector<trace::Block> blocks(copies);
  for (std::size_t n = 0; n < copies; ++n) {
    blocks[n].id = static_cast<u32>(n);
    blocks[n].code = code;
    for (std::size_t at = 0; at < code.size();) {
      const auto made = x86::decode(std::span(code).subspan(at), code_begin + n * code.size() + at);
      if (made.length == 0) return {};
      blocks[n].instructions.push_back(made);
      blocks[n].operands += made.memory_operands;
      at += made.length;
    }
  }
  return blocks;
}

std::vector<u64> addresses_of(const trace::Block& block, std::size_t first_step) {
  std::vector<u64> addresses;
  for (std::size_t n = 0; n < block.instructions.size(); ++n) {
    Registers before{};
    std::ranges::copy(steps->gpr[first_step + n], before.gpr.begin());
    for (const x86::MemoryOperand& each : block.instructions[n].accesses()) {
      const u64 address = x86::effective_address(block.instructions[n], each, before, 0, 0);
      addresses.push_back(address);
    }
  }
  return addresses;
}

/// Where the accesses of all copies go, by code; empty where that could not be found.
class Addresses {
 public:
  explicit Addresses(const char* path) {
    if (path == nullptr) return;
    std::ifstream kept(path);
    for (std::string line; std::getline(kept, line);) {
      std::istringstream words(line);
      std::string hex;
      words >> hex;
      for (u64 address; words >> address;) by_code_[hex].push_back(address);
      by_code_[hex];
    }
    file_.open(path, std::ios::app);
  }
  const std::vector<u64>& of(const std::string& hex, const std::vector<trace::Block>& blocks) {
    const auto [found, missing] = by_code_.try_emplace(hex);
    if (missing) {
      found->second = find(blocks);
      file_ << hex;
      for (const u64 each : found->second) file_ << " " << each;
      file_ << std::endl;
    }
    return found->second;
  }

 private:
  static std::vector<u64> find(const std::vector<trace::Block>& blocks) {
    std::vector<std::byte> whole;
    for (const trace::Block& each : blocks) whole.insert(whole.end(), each.code.begin(), each.code.end());
    const std::size_t length = blocks[0].instructions.size();
    const bool repeats = std::ranges::any_of(blocks[0].instructions, &x86::Instruction::rep);
    if (blocks[0].operands == 0 || repeats || !record(whole, blocks.size() * length)) return {};
    std::vector<u64> all;
    for (std::size_t n = 0; n < blocks.size(); ++n)
      std::ranges::copy(addresses_of(blocks[n], n * length), std::back_inserter(all));
    return all;
  }

  std::map<std::string, std::vector<u64>> by_code_;
  std::ofstream file_;
};

double cycles_per_copy(const CpuModel& model, const std::string& hex, Addresses& known) {
  const std::vector<std::byte> code = bytes_of(hex);
  auto core = Core::create(model);
  const std::vector<trace::Block> blocks = copies_of(code);
  if (!core.ok() || blocks.empty() || code.empty()) return 0;
  const std::vector<u64>& addresses = known.of(hex, blocks);
  constexpr unsigned warm = 40, counted = 8;  // disambiguation learns in 15
  u64 before = 0;
  for (unsigned pass = 0; pass < warm + counted; ++pass) {
    if (pass == warm) before = core->cycle();
    for (std::size_t n = 0; n < copies; ++n) {
      trace::BlockRun run;
      run.block = &blocks[n];
      run.next_ip = blocks[n].end();
      if (!addresses.empty())
        run.addresses = std::span(addresses).subspan(n * blocks[n].operands, blocks[n].operands);
      core->run(run, [](const Retirement&) {});
    }
  }
  return static_cast<double>(core->cycle() - before) / (counted * copies);
}

// Whatever page an access goes to, it is in the cache, and so is its translation.
void one_physical_page(CoreParameters& core) {
  constexpr unsigned pages = 64;
  core.l1d.ways = pages;
  core.l1d.bytes = pages * u32{page_bytes};
  core.dtlb_entries = core.dtlb_ways = pages;
  core.one_physical_page = 1;
}

/// Whether the core has such a number.
bool set_number(CoreParameters& core, std::string_view setting) {
  const std::size_t is = setting.find('=');
  if (is == std::string_view::npos) return false;
  const auto parameter = find_core_parameter(setting.substr(0, is));
  if (!parameter.ok()) return false;
  u64 value = 0;
  const std::string_view digits = setting.substr(is + 1);
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{}) return false;
  (*parameter)->set(core, value);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  page_file = memfd_create("page", 0);
  void* shared = mmap(nullptr, sizeof(Steps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page_file < 0 || shared == MAP_FAILED || ftruncate(page_file, page_bytes) != 0) {
    std::cerr << "no memory for the blocks: " << std::strerror(errno) << "\n";
    return 1;
  }
  steps = static_cast<Steps*>(shared);
  Addresses addresses(argc > 1 ? argv[1] : nullptr);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string name, code, hex, setting;
    words >> name >> code >> hex;
    auto model = find_cpu_model(name);
    if (!model.ok()) {
      std::cerr << model.error().message << "\n";
      return 2;
    }
    one_physical_page(model->core);
    while (words >> setting) {
      if (set_number(model->core, setting)) continue;
      std::cerr << "core " << name << " has no number to set by " << setting << "\n";
      return 2;
    }
    model->core.loop_buffer_uops = 0;
    if (code == "decoded") model->core.uop_cache_lines = 0;
    std::cout << fmt::format("{:.3f}\n", cycles_per_copy(*model, hex, addresses)) << std::flush;
  }
}
