// The schemas of all types of test_types.hpp, as a whole. `./dev test --update sdk_api` rewrites
// the expected ones.

#include <errand/schema.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "sdk/api/test_metaschema.hpp"
#include "sdk/api/test_types.hpp"

namespace schema_test {
namespace {

const std::string kExpectedFile = ERRAND_SOURCE_DIR "/src/sdk/api/test_schemas.txt";

// The schema of each type by its name.
std::map<std::string, std::string> expected_schemas() {
  std::map<std::string, std::string> out;
  std::ifstream file(kExpectedFile);
  for (std::string line; std::getline(file, line);) {
    std::size_t space = line.find(' ');
    out[line.substr(0, space)] = line.substr(space + 1);
  }
  return out;
}

struct Collect {
  template <class T>
  void operator()(const char* name) {
    schemas->push_back({name, errand::schema_of<T>().dump()});
  }
  std::vector<std::pair<std::string, std::string>>* schemas;
};

std::vector<std::pair<std::string, std::string>> actual_schemas() {
  std::vector<std::pair<std::string, std::string>> out;
  shop::for_each_type(Collect{&out});
  return out;
}

TEST(Schema, OfEveryTypeIsTheExpectedOne) {
  auto actual = actual_schemas();
  if (std::getenv("ERRAND_UPDATE")) {
    std::ofstream file(kExpectedFile);
    for (const auto& [name, schema] : actual) file << name << " " << schema << "\n";
  }
  auto expected = expected_schemas();
  EXPECT_GE(actual.size(), 60u);
  EXPECT_EQ(actual.size(), expected.size());
  for (const auto& [name, schema] : actual) EXPECT_EQ(schema, expected[name]) << name;
}

TEST(Schema, OfEveryTypeFitsTheMetaschema) {
  for (const auto& [name, schema] : actual_schemas()) {
    EXPECT_EQ(shop::metaschema_errors(schema), "") << name;
  }
}

// Only this file can name these.
enum class Mood { calm, wild };
struct Hidden {
  Mood mood = Mood::wild;
};

TEST(Schema, OfTypesWithoutLinkageIsFoundToo) {
  struct Local {
    Hidden hidden;
    int number = 3;
  };
  EXPECT_EQ(errand::schema_of<Local>(), *errand::Json::parse(R"({"type":"object","properties":{
                "hidden":{"type":"object","properties":{
                  "mood":{"type":"string","enum":["calm","wild"],"default":"wild"}},
                  "additionalProperties":false},
                "number":{"type":"integer","minimum":-2147483648,"maximum":2147483647,"default":3}},
              "required":["hidden"],"additionalProperties":false})"));
}

enum class Far { away = 100'000 };
struct HasFar {
  Far far;
};

TEST(Schema, OfAnEnumWithoutFoundNamesSaysWhatToDo) {
  try {
    errand::schema_of<HasFar>();
    FAIL();
  } catch (const errand::Error& error) {
    EXPECT_EQ(error.message(),
              "Far has no names for the values -16 to 1023; list its names with ERRAND_DESCRIBE");
  }
}

struct Unset {
  std::string level;
};
ERRAND_DESCRIBE(Unset, (level, errand::one_of({"low", "high"}), errand::defaulted()))

TEST(Schema, DoesNotTellADefaultThatItRefuses) {
  EXPECT_EQ(errand::schema_of<Unset>(), *errand::Json::parse(R"({"type":"object","properties":{
                "level":{"type":"string","enum":["low","high"]}},"additionalProperties":false})"));
}

struct Twice {
  int a;
  int b;
};
ERRAND_DESCRIBE(Twice, (a, errand::name("b")))

TEST(Schema, RefusesTwoMembersOfAName) {
  EXPECT_THROW(errand::schema_of<Twice>(), errand::Error);
}

}  // namespace
}  // namespace schema_test
