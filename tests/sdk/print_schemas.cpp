// Prints the schema of each type, so that the outputs of two compilers can be compared.

#include <errand/errand.hpp>

#include <iostream>

#include "sdk/api/test_types.hpp"

namespace {

// Nobody else can name these.
enum class Mood { calm, wild };
struct Hidden {
  Mood mood = Mood::wild;
  std::string name;
};

struct Print {
  template <class T>
  void operator()(const char* name) const {
    std::cout << name << " " << errand::schema_of<T>().dump() << "\n";
  }
};

}  // namespace

int main() {
  struct Local {
    int number;
    Hidden hidden;
  };
  shop::for_each_type(Print{});
  Print{}.operator()<Hidden>("Hidden");
  Print{}.operator()<Local>("Local");
}
