// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_FAKE_CODE_H
#define PMUSIM_TESTS_DRIVER_FAKE_CODE_H

#include <initializer_list>
#include <map>

#include "tests/support/quiet_sink.h"

namespace pmusim::driver {

/// Code of the current task at a few addresses; counts how often it is read.
class FakeCode : public QuietSink {
 public:
  std::map<u64, std::vector<std::byte>> at;
  mutable unsigned reads = 0;

  void put(u64 address, std::initializer_list<int> bytes) {
    std::vector<std::byte>& code = at[address];
    code.clear();
    for (int b : bytes) code.push_back(static_cast<std::byte>(b));
  }
  std::vector<std::byte> read_code(u64 address, std::size_t bytes) const override {
    ++reads;
    const auto found = at.find(address);
    if (found == at.end()) return {};
    std::vector<std::byte> code = found->second;
    if (code.size() > bytes) code.resize(bytes);
    return code;
  }
};

}  // namespace pmusim::driver

#endif
