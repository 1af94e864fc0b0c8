// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_SQLITE_DATABASE_H
#define PMUSIM_TOOLS_SQLITE_DATABASE_H

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pmusim/base/types.h"

struct sqlite3;
struct sqlite3_stmt;

namespace pmusim::tools {

/// A new SQLite database in memory. Whatever fails ends the command with SQLite's sentence.
class SqliteDatabase {
 public:
  SqliteDatabase();
  void execute(const char* statements);
  /// As a file would hold them.
  std::vector<std::byte> bytes() const;

 private:
  friend class SqliteRows;
  [[noreturn]] void fail() const;

  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

/// Rows for one INSERT with as many '?' as a row has values.
class SqliteRows {
 public:
  using Value = std::variant<u64, std::string_view, std::optional<u64>, std::optional<double>>;
  SqliteRows(SqliteDatabase& database, std::string_view insert);
  void add(std::initializer_list<Value> values);

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteDatabase& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace pmusim::tools

#endif
