// SPDX-License-Identifier: MIT
// Calls of the C interface in any order with any numbers: each answers, and the processor goes on.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <random>

#include "pmusim/pmusim.h"

namespace pmusim::test {
namespace {

/// What software can do, drawn from a generator whose numbers are the same everywhere.
class RandomCaller {
 public:
  explicit RandomCaller(unsigned seed)
      : random_(seed), cpu_(pmusim_create(pmusim_model_name(seed % model_count()), nullptr)) {
    EXPECT_EQ(pmusim_set_pmi_handler(cpu_, handle, this), PMUSIM_OK);
    EXPECT_EQ(pmusim_map(cpu_, area, area_bytes), PMUSIM_OK);
    restart();
  }
  RandomCaller(const RandomCaller&) = delete;
  RandomCaller& operator=(const RandomCaller&) = delete;
  ~RandomCaller() {
    pmusim_snapshot_destroy(snapshot_);
    pmusim_program_destroy(program_);
    pmusim_destroy(cpu_);
  }

  void call() {
    const int status = one_of(random_() % 20);
    EXPECT_TRUE(status == PMUSIM_OK || status == PMUSIM_UD || status == PMUSIM_NM || status == PMUSIM_GP ||
                status == PMUSIM_PF || (status == PMUSIM_ERROR && pmusim_last_error()[0] != '\0'))
        << status;
  }
  /// Whether instructions still retire in it.
  bool goes_on() {
    uint64_t before = 0, after = 0;
    EXPECT_EQ(pmusim_now(cpu_, &before), PMUSIM_OK);
    EXPECT_EQ(pmusim_run_instructions(cpu_, 10, PMUSIM_USER), PMUSIM_OK);
    EXPECT_EQ(pmusim_now(cpu_, &after), PMUSIM_OK);
    return after >= before + 10;
  }

 private:
  static constexpr uint64_t area = 0x10000, area_bytes = 0x4000;

  static std::size_t model_count() {
    std::size_t count = 0;
    while (pmusim_model_name(count) != nullptr) ++count;
    return count;
  }

  /// Makes the DS area one that hardware can use, and counters those that soon overflow.
  void restart() {
    const std::array<uint64_t, 4> pebs{area + 0x1000, area + 0x1000, area + 0x2000, area + 0x1800};
    // What it has unmapped stays unmapped.
    static_cast<void>(pmusim_write(cpu_, area + 0x20, pebs.data(), sizeof pebs));
    for (const auto& [address, value] :
         std::initializer_list<std::pair<uint32_t, uint64_t>>{{0x834, 0x400},
                                                              {0x600, area},
                                                              {0xC1, 0xFFFFFF00},
                                                              {0x186, 0x5300C0},
                                                              {0x187, 0x5300C4},
                                                              {0x38F, 3}})
      static_cast<void>(pmusim_wrmsr(cpu_, address, value));
  }

  uint64_t number() {
    const std::array<uint64_t, 8> favourites{
        0, 1, 3, area, area + 64, 0xFFFFFFFF, 0x8000000000000000, ~uint64_t{0}};
    const uint64_t drawn = random_();
    return drawn % 3 == 0 ? drawn >> random_() % 64 : favourites[drawn / 3 % favourites.size()];
  }
  uint32_t small(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  uint32_t address() {
    pmusim_register known{};
    const std::size_t count = pmusim_register_count(cpu_);
    if (random_() % 8 == 0) return static_cast<uint32_t>(random_());
    EXPECT_EQ(pmusim_get_register(cpu_, small(static_cast<uint32_t>(count)), &known), PMUSIM_OK);
    return known.address;
  }

  int one_of(uint64_t which) {
    uint64_t value = 0;
    switch (which) {
      case 0:
      case 1:
      case 2:
        return pmusim_wrmsr(cpu_, address(), number());
      case 3:
        return pmusim_rdmsr(cpu_, address(), random_() % 8 != 0 ? &value : nullptr);
      case 4:
        return pmusim_rdpmc(cpu_, static_cast<uint32_t>(number()), static_cast<int>(small(3)), &value);
      case 5:
        return pmusim_xsave(cpu_, static_cast<int>(small(8)), number(), number(), static_cast<int>(small(3)));
      case 6:
        return pmusim_xsetbv(cpu_, small(2), number());
      case 7:
        return pmusim_map(cpu_, number(), small(4096));
      case 8:
        return number() % 16 == 0 ? pmusim_unmap(cpu_, number()) : pmusim_set_control(cpu_, small(9));
      case 9:
        return pmusim_read(cpu_, number(), bytes_.data(), small(sizeof bytes_));
      case 10:
        return pmusim_write(cpu_, number(), bytes_.data(), small(sizeof bytes_));
      case 11:
        return pmusim_wait(cpu_, number() % 100000, static_cast<int>(small(3)));
      case 12:
        return pmusim_run_instructions(cpu_, small(500), static_cast<int>(small(3)));
      case 13:
      case 14:
        return retire();
      case 15:
        return build();
      case 16:
        return program_ != nullptr ? pmusim_run_program(cpu_, program_, static_cast<int>(small(3))) : build();
      case 17:
        return run_code();
      case 18:
        return keep_or_go_back();
      default:
        restart();
        return random_() % 16 == 0 ? pmusim_reset(cpu_) : PMUSIM_OK;
    }
  }

  int retire() {
    pmusim_access access{.address = number(), .bytes = small(65), .latency_cycles = small(300)};
    access.kind = static_cast<uint8_t>(small(3));
    access.level = static_cast<uint8_t>(small(7));
    pmusim_instruction one{};
    one.ip = number();
    one.next_ip = number();
    one.branch = static_cast<uint8_t>(small(18));
    one.taken = static_cast<uint8_t>(small(2));
    one.mispredicted = static_cast<uint8_t>(small(2));
    one.privilege = static_cast<uint8_t>(small(2));
    one.privilege_after = static_cast<uint8_t>(small(2));
    one.transaction = static_cast<uint8_t>(small(4));
    one.accesses = random_() % 8 != 0 ? &access : nullptr;
    one.access_count = small(2);
    for (uint64_t& word : one.signals) word = random_();
    return pmusim_retire(cpu_, &one, 1);
  }

  int build() {
    if (program_ == nullptr || small(32) == 0) {
      pmusim_program_destroy(program_);
      program_ = pmusim_program_create(number());
    }
    switch (small(8)) {
      case 0:
        return pmusim_program_load(program_, number(), small(100), static_cast<int64_t>(number()),
                                   static_cast<int>(small(8)));
      case 1:
        return pmusim_program_begin_loop(program_, small(4), 1);
      case 2:
        return pmusim_program_begin_around(program_, "TnNt");
      case 3:
        return pmusim_program_begin_system_call(program_);
      case 4:
        return pmusim_program_instructions(program_, small(20));
      case 5:
        return pmusim_program_flush(program_, number());
      default:
        return pmusim_program_end(program_);
    }
  }

  int run_code() {
    for (std::byte& byte : bytes_) byte = static_cast<std::byte>(small(16) == 0 ? random_() : 0x90);
    const pmusim_code code{.ip = number(),
                           .bytes = bytes_.data(),
                           .size = small(sizeof bytes_),
                           .next_ip = number(),
                           .addresses = nullptr,
                           .address_count = small(2),
                           .privilege = 0};
    return pmusim_run_code(cpu_, &code, nullptr);
  }

  int keep_or_go_back() {
    if (snapshot_ != nullptr) return pmusim_restore(cpu_, snapshot_);
    snapshot_ = pmusim_snapshot_take(cpu_);
    return PMUSIM_OK;
  }

  /// Handlers do anything, too, to a depth.
  static void handle(pmusim_cpu*, const pmusim_interrupt*, void* context) {
    auto& caller = *static_cast<RandomCaller*>(context);
    if (caller.handlers_ < 2) {
      ++caller.handlers_;
      caller.call();
      --caller.handlers_;
    }
    caller.restart();
  }

  std::mt19937_64 random_;
  pmusim_cpu* cpu_;
  pmusim_program* program_ = nullptr;
  pmusim_snapshot* snapshot_ = nullptr;
  std::array<std::byte, 64> bytes_{};
  int handlers_ = 0;
};

TEST(RandomCalls, AreAllAnswered) {
  for (unsigned seed = 0; seed < 82; ++seed) {
    RandomCaller caller(seed);
    for (int n = 0; n < 300; ++n) caller.call();
    EXPECT_TRUE(caller.goes_on()) << seed;
  }
}

}  // namespace
}  // namespace pmusim::test
