// SPDX-License-Identifier: MIT
#include "sqlite_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>

#include "command_error.h"

namespace pmusim::tools {

namespace {

/// Binds a value to the parameter with this number.
struct Bind {
  sqlite3_stmt* statement;
  int number;

  int operator()(u64 value) const {
    return sqlite3_bind_int64(statement, number, static_cast<sqlite3_int64>(value));
  }
  int operator()(double value) const { return sqlite3_bind_double(statement, number, value); }
  int operator()(std::string_view text) const {
    return sqlite3_bind_text64(statement, number, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  template <class T>
  int operator()(const std::optional<T>& value) const {
    return value ? (*this)(*value) : sqlite3_bind_null(statement, number);
  }
};

}  // namespace

void SqliteDatabase::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void SqliteRows::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqliteDatabase::SqliteDatabase() {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open(":memory:", &opened);
  database_.reset(opened);
  if (status != SQLITE_OK) fail();
}

void SqliteDatabase::fail() const {
  throw CommandError(fmt::format("SQLite: {}", sqlite3_errmsg(database_.get())));
}

void SqliteDatabase::execute(const char* statements) {
  if (sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::vector<std::byte> SqliteDatabase::bytes() const {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> image(
      sqlite3_serialize(database_.get(), "main", &size, 0), sqlite3_free);
  if (!image) throw CommandError("SQLite: there is not enough memory for the database");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  std::memcpy(bytes.data(), image.get(), bytes.size());
  return bytes;
}

SqliteRows::SqliteRows(SqliteDatabase& database, std::string_view insert) : database_(database) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(database.database_.get(), insert.data(), static_cast<int>(insert.size()), &prepared,
                         nullptr) != SQLITE_OK)
    database.fail();
  statement_.reset(prepared);
}

void SqliteRows::add(std::initializer_list<Value> values) {
  int number = 0;
  for (const Value& value : values)
    if (std::visit(Bind{statement_.get(), ++number}, value) != SQLITE_OK) database_.fail();
  if (sqlite3_step(statement_.get()) != SQLITE_DONE || sqlite3_reset(statement_.get()) != SQLITE_OK)
    database_.fail();
}

}  // namespace pmusim::tools
