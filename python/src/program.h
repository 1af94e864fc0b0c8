// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PYTHON_PROGRAM_H
#define PMUSIM_PYTHON_PROGRAM_H

#include "module.h"

namespace pmusim::python {

/// A synthetic program, which does not change while it runs.
class Program {
 public:
  explicit Program(uint64_t ip) : program_(check(pmusim_program_create(ip))), ip_(ip) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { pmusim_program_destroy(program_); }

  /// To run it.
  const pmusim_program* handle() const { return program_; }
  /// To change it. Throws Misuse while it runs.
  pmusim_program* building() const;
  uint64_t ip() const { return ip_; }

  /// A run of it.
  class Run {
   public:
    explicit Run(Program& program) : program_(program) { ++program_.runs_; }
    ~Run() { --program_.runs_; }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    Program& program_;
  };

 private:
  pmusim_program* program_;
  uint64_t ip_;
  int runs_ = 0;
};

}  // namespace pmusim::python

#endif
