// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_FILE_SINK_H
#define PMUSIM_SRC_SESSION_FILE_SINK_H

#include <set>
#include <string>

#include "perfdata/writer.h"
#include "pmusim/trace/trace.h"
#include "session/record_sink.h"

namespace pmusim {

/// The records as a perf.data file.
class FileSink final : public RecordSink {
 public:
  FileSink(perfdata::Writer& writer, const RecordOptions& options) : writer_(writer), options_(options) {}

  void add_group(u32 leader, u32 members) override { writer_.add_group("{anon_group}", leader, members); }
  Result<Done, Error> add_event(const perf::Attr& attr, const std::string& name,
                                std::span<const u64> ids) override {
    return writer_.add_event(attr, name, ids);
  }
  void add_mapping(const trace::Mapping& mapping) override {
    if (options_.build_ids && !mapping.build_id.empty() && identified_.insert(mapping.path).second)
      writer_.add_build_id(mapping.path, std::as_bytes(std::span(mapping.build_id)));
  }
  Result<Done, Error> write(std::span<const std::byte> records) override { return writer_.write(records); }
  Result<Done, Error> end_round() override { return writer_.end_round(); }
  u64 record_bytes() const override { return writer_.record_bytes(); }

 private:
  perfdata::Writer& writer_;
  const RecordOptions& options_;
  std::set<std::string> identified_;
};

}  // namespace pmusim

#endif
