// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_FUNCTION_BUILDER_H
#define PMUSIM_SRC_ANNOTATE_FUNCTION_BUILDER_H

#include <map>
#include <vector>

#include "code_counts.h"
#include "source_files.h"

namespace pmusim::annotate {

/// Taken branches within one symbol, by number of the resolver.
using Jumps = std::map<u32, std::vector<EdgeCount>>;
Jumps jumps_by_symbol(const CodeCounts& code, Resolver& resolver);

/// Code, lines and counts of one function.
class FunctionBuilder {
 public:
  /// `module` is the resolver's number.
  FunctionBuilder(const Report& report, SourceFiles& files, Resolver& resolver, const ModuleCounts& counts,
                  u32 module, const Options& options)
      : report_(report),
        files_(files),
        resolver_(resolver),
        counts_(counts),
        module_(module),
        options_(options) {}

  AnnotatedFunction build(u32 symbol, const std::vector<EdgeCount>& jumps);

 private:
  const Symbol& symbol() const { return report_.symbols[function_.symbol]; }
  symbols::Module& content() { return resolver_.modules()[module_].content; }
  u32 instruction_at(u64 address) const;
  void add_instructions();
  void add_inlined_frames();
  void add_weights();
  void add_coverage();
  void add_marks(Instruction& instruction, const BlockRange& range);
  void add_blocks();
  void time_blocks();
  void time_block(Block& block, const LineCount& line);
  void add_averages();
  void add_jumps(const std::vector<EdgeCount>& jumps);
  void say_what_is_missing();

  const Report& report_;
  SourceFiles& files_;
  Resolver& resolver_;
  const ModuleCounts& counts_;
  u32 module_;
  const Options& options_;
  AnnotatedFunction function_;
  u64 timed_instructions_ = 0;  // executed in the lines that blocks have their cycles from
};

}  // namespace pmusim::annotate

#endif
