// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_LIVE_LIVE_H
#define PMUSIM_TESTS_LIVE_LIVE_H

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "pmusim/base/types.h"
#include "tests/end_to_end/command.h"

/// What tests of `pmusim run` have in common.
namespace pmusim::test {

inline const std::string events_program = std::string(TEST_PROGRAMS) + "/events";
inline const std::string bare_program = std::string(TEST_PROGRAMS) + "/bare";
/// The same, and a tenth of its work.
inline const std::string brief_program = std::string(TEST_PROGRAMS) + "/brief";

enum class Addresses : u8 { random, fixed };

/// Under a watchdog: a supervisor and its program that wait for each other would do so for ever. The
/// environment is small.
Output run_live(const std::vector<std::string>& program, const std::vector<std::string>& options = {},
                Addresses addresses = Addresses::random);

/// perf stat's -x, output: counts by the event's name.
std::map<std::string, std::string> counts_in(const std::string& text);

/// What a run says of this system.
const std::string& remarks();
bool shows_pmu();

/// Processes that run the program whose name is unlike any other's.
std::size_t still_running(const std::string& program);
/// Waits, not for ever, until there is none.
std::size_t left_running(const std::string& program);

/// perf as it is, where it does not know the machine for AMD's, whose memory events are others: it asks the
/// CPUID instruction. Elsewhere a copy that knows no such vendor.
std::string perf_of_intel(const std::string& copy);

/// Skipped where programs cannot be run live at all.
class Live : public testing::Test {
 protected:
  void SetUp() override;
  std::string file(const std::string& name) const { return scratch_.file(name); }

 private:
  ScratchDirectory scratch_;
};

class LiveWithPerf : public Live {
 protected:
  void SetUp() override;
  /// What `perf record OPTIONS -- bare` leaves, as perf script prints it.
  std::string recorded_samples(std::vector<std::string> options, std::vector<std::string> script) const;
};

}  // namespace pmusim::test

#endif
