// SPDX-License-Identifier: MIT
// The driver's tests with GoogleTest, on every model that has what it needs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pmusim/pmusim.h"
#include "sampler.h"

namespace {

constexpr uint32_t instructions = 0xC0, user_instructions = 0x100C0;

/// A machine on which the driver works: x2APIC, and counters that GLOBAL_CTRL enables.
bool has_what_it_needs(pmusim_cpu* cpu) {
  uint64_t value = 0;
  return pmusim_rdmsr(cpu, 0x834, &value) == PMUSIM_OK && pmusim_rdmsr(cpu, 0x38F, &value) == PMUSIM_OK;
}

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (size_t n = 0; pmusim_model_name(n) != nullptr; ++n) {
    pmusim_cpu* cpu = pmusim_create(pmusim_model_name(n), nullptr);
    if (has_what_it_needs(cpu)) names.emplace_back(pmusim_model_name(n));
    pmusim_destroy(cpu);
  }
  return names;
}

class Sampler : public testing::TestWithParam<std::string> {
 protected:
  Sampler() {
    sampler.machine = {[](void* of, uint32_t address, uint64_t value) {
                         return pmusim_wrmsr(static_cast<pmusim_cpu*>(of), address, value);
                       },
                       [](void* of, uint32_t address, uint64_t* value) {
                         return pmusim_rdmsr(static_cast<pmusim_cpu*>(of), address, value);
                       },
                       cpu};
    pmusim_set_pmi_handler(
        cpu,
        [](pmusim_cpu*, const pmusim_interrupt*, void* context) {
          EXPECT_TRUE(sampler_interrupt(static_cast<struct sampler*>(context)));
        },
        &sampler);
  }
  ~Sampler() override { pmusim_destroy(cpu); }

  pmusim_cpu* cpu = pmusim_create(GetParam().c_str(), nullptr);
  struct sampler sampler {};
};

TEST_P(Sampler, SamplesOnceAPeriod) {
  ASSERT_EQ(sampler_start(&sampler, instructions, 1000), 0);
  EXPECT_EQ(pmusim_run_instructions(cpu, 20000, PMUSIM_USER), PMUSIM_OK);
  EXPECT_GE(sampler.samples, 19u);
  EXPECT_LE(sampler.samples, 20u);
}

TEST_P(Sampler, CountsWhatHappened) {
  uint32_t exact = 0;
  uint64_t happened = 0;
  ASSERT_EQ(pmusim_truth_begin(cpu, user_instructions, 0, 0, &exact), PMUSIM_OK);
  ASSERT_EQ(sampler_start(&sampler, instructions, 777), 0);
  EXPECT_EQ(pmusim_run_instructions(cpu, 12345, PMUSIM_USER), PMUSIM_OK);
  EXPECT_EQ(pmusim_truth(cpu, exact, &happened), PMUSIM_OK);
  EXPECT_EQ(sampler_count(&sampler), happened);
}

INSTANTIATE_TEST_SUITE_P(Models, Sampler, testing::ValuesIn(models()), [](const auto& entry) {
  std::string name = entry.param;
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
});

}  // namespace
