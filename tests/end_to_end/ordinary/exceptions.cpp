// SPDX-License-Identifier: MIT
// Throws through frames with destructors, out of handlers and of threads; dies of what nobody catches.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

namespace {

struct Announced {
  explicit Announced(int number) : number_(number) {}
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;
  ~Announced() { std::printf("left %d\n", number_); }

 private:
  int number_;
};

struct Shape {
  virtual ~Shape() = default;
};
struct Circle : Shape {};
struct Square : Shape {};

[[noreturn]] void descend(int depth) {
  const Announced announced(depth);
  if (depth == 0) throw std::runtime_error("bottom");
  descend(depth - 1);
}

void rethrow_wrapped() {
  try {
    descend(3);
  } catch (const std::runtime_error&) {
    std::throw_with_nested(std::logic_error("wrapped"));
  }
}

void print_nested(const std::exception& error) {
  std::printf("%s\n", error.what());
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& inner) {
    print_nested(inner);
  }
}

void cast(Shape& shape) {
  try {
    (void)dynamic_cast<Square&>(shape);
  } catch (const std::bad_cast&) {
    std::printf("no square\n");
  }
}

int status_of_uncaught() {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(2);  // the reason is printed with it
    throw 1;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status & 0x7F;
}

}  // namespace

int main() {
  try {
    rethrow_wrapped();
  } catch (const std::exception& error) {
    print_nested(error);
  }
  Circle circle;
  cast(circle);
  try {
    (void)std::vector<int>().at(1);
  } catch (const std::out_of_range&) {
    std::printf("out of range\n");
  }
  std::printf("uncaught: ended by %d\n", status_of_uncaught());
  return 4;
}
