// SPDX-License-Identifier: MIT
#include "script_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/suggest.h"
#include "command.h"
#include "quantity.h"

namespace pmusim::tools {

namespace {

namespace sample = perf::sample;

constexpr FieldRow rows[] = {
    {Field::comm, "comm", 0, "name of the thread"},
    {Field::pid, "pid", sample::TID, "process"},
    {Field::tid, "tid", sample::TID, "thread"},
    {Field::cpu, "cpu", sample::CPU, "CPU"},
    {Field::time, "time", sample::TIME, "s"},
    {Field::period, "period", 0, "occurrences since the sample before"},
    {Field::event, "event", 0, "event"},
    {Field::id, "id", sample::ID | sample::IDENTIFIER, "id of the event (not in perf)"},
    {Field::addr, "addr", sample::ADDR, "data address"},
    {Field::data_src, "data_src", sample::DATA_SRC, "where the data was"},
    {Field::weight, "weight", sample::WEIGHT | sample::WEIGHT_STRUCT, "cycles to the data"},
    {Field::ins_lat, "ins_lat", sample::WEIGHT_STRUCT, "cycles of the instruction"},
    {Field::retire_lat, "retire_lat", sample::WEIGHT_STRUCT, "cycles from retirement to retirement"},
    {Field::transaction, "transaction", sample::TRANSACTION, "transaction flags (not in perf)"},
    {Field::ip, "ip", sample::IP, "instruction address, and the call chain if there is one"},
    {Field::dso, "dso", sample::IP, "file that the address is in"},
    {Field::iregs, "iregs", sample::REGS_INTR, "registers at the instruction"},
    {Field::isimd, "isimd", sample::REGS_INTR, "vector registers and opmasks at it (not in perf)"},
    {Field::uregs, "uregs", sample::REGS_USER, "registers of user mode"},
    {Field::usimd, "usimd", sample::REGS_USER, "vector registers and opmasks of user mode (not in perf)"},
    {Field::brstack, "brstack", sample::BRANCH_STACK, "branches, newest first"},
    {Field::brspec, "brspec", sample::BRANCH_STACK,
     "speculation of each branch, of AMD's records (not in perf 6.1)"},
    {Field::brcntr, "brcntr", sample::BRANCH_STACK, "events counted with each branch"},
    {Field::phys_addr, "phys_addr", sample::PHYS_ADDR, "physical data address"},
    {Field::data_page_size, "data_page_size", sample::DATA_PAGE_SIZE, "page size of the data address"},
    {Field::code_page_size, "code_page_size", sample::CODE_PAGE_SIZE, "page size of the instruction"},
};
static_assert(std::size(rows) == static_cast<std::size_t>(Field::count_));

constexpr Field usual[] = {Field::comm,   Field::tid,   Field::cpu, Field::time,
                           Field::period, Field::event, Field::ip,  Field::dso};

const FieldRow& row_of(Field field) { return rows[static_cast<std::size_t>(field)]; }

Field field_named(std::string_view name) {
  const auto* const found = std::ranges::find(rows, name, &FieldRow::name);
  if (found != std::end(rows)) return found->field;
  std::vector<std::string_view> names;
  for (const FieldRow& row : rows) names.push_back(row.name);
  throw CommandError(fmt::format("-F {}: no field of samples{}", name, did_you_mean(name, names)));
}

FieldSet usual_fields(const perf::Attr& attr) {
  FieldSet set;
  for (const Field field : usual)
    if (has_field(attr, field)) set.add(field);
  return set;
}

bool changes_usual(std::string_view list) { return list.front() == '+' || list.front() == '-'; }

/// One name of -F.
struct Choice {
  Field field;
  bool removes;
};

std::vector<Choice> choices_of(std::string_view list) {
  const bool changes = changes_usual(list);
  std::vector<Choice> choices;
  for (std::string_view name : parts_of(list)) {
    const bool removes = changes && name.starts_with('-');
    if (removes || (changes && name.starts_with('+'))) name.remove_prefix(1);
    choices.push_back({field_named(name), removes});
  }
  return choices;
}

}  // namespace

std::span<const FieldRow> field_rows() { return rows; }

bool has_field(const perf::Attr& attr, Field field) {
  const u64 needed = row_of(field).sample_type;
  return needed == 0 || (attr.sample_type & needed) != 0;
}

FieldSet fields_of(const std::string& list, const perf::Attr& attr) {
  if (list.empty()) return usual_fields(attr);
  const bool changes = changes_usual(list);
  FieldSet set = changes ? usual_fields(attr) : FieldSet();
  for (const Choice& choice : choices_of(list)) {
    if (choice.removes)
      set.remove(choice.field);
    else if (has_field(attr, choice.field))
      set.add(choice.field);
  }
  return set;
}

void check_fields(const std::string& list, const std::string& file,
                  std::span<const perfdata::EventDescription> events) {
  for (const Choice& choice : list.empty() ? std::vector<Choice>{} : choices_of(list)) {
    const auto has_it = [&](const perfdata::EventDescription& e) { return has_field(e.attr, choice.field); };
    if (!choice.removes && !events.empty() && std::ranges::none_of(events, has_it))
      throw CommandError(
          fmt::format("{}: -F {}: no event of the file samples it", file, row_of(choice.field).name));
  }
}

}  // namespace pmusim::tools
