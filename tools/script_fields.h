// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_SCRIPT_FIELDS_H
#define PMUSIM_TOOLS_SCRIPT_FIELDS_H

#include <span>
#include <string>
#include <string_view>

#include "pmusim/base/types.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::tools {

/// What `pmusim script` can show of a sample, in the order in which it does. Names that perf script has mean
/// the same here.
enum class Field : u8 {
  comm,
  pid,
  tid,
  cpu,
  time,
  period,
  event,
  id,
  addr,
  data_src,
  weight,
  ins_lat,
  retire_lat,
  transaction,
  ip,
  dso,
  iregs,
  isimd,
  uregs,
  usimd,
  brstack,
  brspec,
  brcntr,
  phys_addr,
  data_page_size,
  code_page_size,
  count_,
};

struct FieldRow {
  Field field;
  std::string_view name;
  u64 sample_type;  ///< one of these bits is needed; 0: none
  std::string_view text;
};
/// Every field, in their order.
std::span<const FieldRow> field_rows();

/// Fields to show.
class FieldSet {
 public:
  bool has(Field field) const { return (fields_ & bit(static_cast<unsigned>(field))) != 0; }
  void add(Field field) { fields_ |= bit(static_cast<unsigned>(field)); }
  void remove(Field field) { fields_ &= ~bit(static_cast<unsigned>(field)); }

 private:
  u64 fields_ = 0;
};

/// Whether samples of an event have what the field shows.
bool has_field(const perf::Attr& attr, Field field);

/// What is shown of samples of `attr`. `list` is what -F names: "ip,iregs", or changes to the usual fields:
/// "+isimd,-time"; empty are the usual fields. What the samples do not have is left out. Ends the command
/// where a name is unknown.
FieldSet fields_of(const std::string& list, const perf::Attr& attr);

/// Ends the command where `list` names what none of the events of `file` samples.
void check_fields(const std::string& list, const std::string& file,
                  std::span<const perfdata::EventDescription> events);

}  // namespace pmusim::tools

#endif
