// JSON into C++ values and back: generated values, hostile values, and what errors say.

#include <errand/schema.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "sdk/api/test_metaschema.hpp"
#include "sdk/api/test_types.hpp"

namespace convert_test {
namespace {

using errand::Json;
using errand::JsonArray;
using errand::JsonMember;
using errand::JsonObject;

Json parse(std::string_view text) {
  return errand::Json::parse(text).value();
}

// Makes values that fit a schema, and others.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Json value(const Json& schema, const Json& root, int depth = 0);
  static constexpr std::size_t kShallow = 15;  // kinds that are not deeper than a text may be
  Json hostile(std::size_t kinds = kShallow + 1);
  // Puts something else in the place of one of the values within.
  void spoil(Json& value);
  std::size_t below(std::size_t end) { return random_() % end; }

 private:
  Json of_type(const std::string& type, const Json& schema, const Json& root, int depth);
  Json object(const Json& schema, const Json& root, int depth);
  Json array(const Json& schema, const Json& root, int depth);
  Json text(const Json& schema);
  Json integer(const Json& schema);

  std::mt19937 random_;
};

Json Generator::value(const Json& schema, const Json& root, int depth) {
  if (const Json* constant = schema.find("const")) return *constant;
  if (const Json* values = schema.find("enum"))
    return values->at(below(values->if_array()->size()));
  if (const Json* any = schema.find("anyOf")) {
    // The last alternative is the one that ends a recursion.
    std::size_t count = any->if_array()->size();
    return value(any->at(depth > 6 ? count - 1 : below(count)), root, depth + 1);
  }
  if (const Json* reference = schema.find("$ref"); reference && reference->if_string()) {
    const std::string& name = *reference->if_string();
    return value(name == "#" ? root : root.at("$defs").at(name.substr(8)), root, depth + 1);
  }
  const Json* type = schema.find("type");
  if (!type) return hostile(kShallow);
  if (const std::string* one = type->if_string()) return of_type(*one, schema, root, depth);
  return of_type(*type->at(below(type->if_array()->size())).if_string(), schema, root, depth);
}

Json Generator::of_type(const std::string& type, const Json& schema, const Json& root, int depth) {
  if (type == "null") return nullptr;
  if (type == "boolean") return below(2) == 0;
  if (type == "number") {
    double low = schema.find("minimum") ? 0 : -1000;
    return low + static_cast<double>(below(100'000)) / 64;
  }
  if (type == "integer") return integer(schema);
  if (type == "string") return text(schema);
  return type == "array" ? array(schema, root, depth) : object(schema, root, depth);
}

Json Generator::integer(const Json& schema) {
  std::int64_t low = schema.find("minimum") ? *schema.at("minimum").to_int64() : -5'000'000'000;
  std::int64_t high = schema.find("maximum") ? *schema.at("maximum").to_int64() : 5'000'000'000;
  std::int64_t number =
      low + static_cast<std::int64_t>((std::uint64_t{random_()} << 32 | random_()) %
                                      static_cast<std::uint64_t>(high - low + 1));
  std::int64_t step = schema.find("multipleOf") ? *schema.at("multipleOf").to_int64() : 1;
  return number - number % step;
}

Json Generator::text(const Json& schema) {
  if (const Json* format = schema.find("format")) {
    std::string day = "20" + std::to_string(10 + below(80)) + "-0" + std::to_string(1 + below(9)) +
                      "-" + std::to_string(10 + below(19));
    if (*format == Json("date")) return day;
    if (*format == Json("date-time")) return day + "T0" + std::to_string(below(10)) + ":30:59Z";
  }
  if (schema.find("pattern")) return "LOS";
  std::string out(1, static_cast<char>('a' + below(26)));
  constexpr std::string_view kParts[] = {"x", "é", "\n", "\"", "漢", "~/", "0", " "};
  for (std::size_t i = below(6); i > 0; --i) out += kParts[below(std::size(kParts))];
  return out;
}

Json Generator::array(const Json& schema, const Json& root, int depth) {
  JsonArray out;
  if (const Json* prefix = schema.find("prefixItems")) {
    for (const Json& one : *prefix->if_array()) out.push_back(value(one, root, depth + 1));
    return out;
  }
  if (schema.find("items") && schema.at("items") == Json(false)) return out;
  std::size_t low = schema.find("minItems") ? *schema.at("minItems").to_uint64() : 0;
  std::size_t high = schema.find("maxItems") ? *schema.at("maxItems").to_uint64() : 3;
  std::size_t count = depth > 6 ? low : low + below(high - low + 1);
  for (std::size_t i = 0; i < count; ++i) {
    Json item = value(schema.at("items"), root, depth + 2);
    bool is_new = std::find(out.begin(), out.end(), item) == out.end();
    if (is_new || !schema.find("uniqueItems")) out.push_back(std::move(item));
  }
  return out;
}

Json Generator::object(const Json& schema, const Json& root, int depth) {
  JsonObject out;
  if (const Json* properties = schema.find("properties")) {
    const Json* required = schema.find("required");
    for (const JsonMember& property : *properties->if_object()) {
      bool is_required = false;
      for (const Json& name : required ? *required->if_array() : JsonArray()) {
        is_required |= name == Json(property.name);
      }
      if (!is_required && below(3) == 0) continue;
      out.set(property.name, value(property.value, root, depth + 1));
    }
    return out;
  }
  const Json* values = schema.find("additionalProperties");
  const Json* names = schema.find("propertyNames");
  for (std::size_t i = below(4); i > 0; --i) {
    std::string name = std::to_string(below(2'000));
    if (names && names->find("enum")) name = *value(*names, root).if_string();
    out.set(name, values ? value(*values, root, depth + 1) : hostile(kShallow));
  }
  return out;
}

Json Generator::hostile(std::size_t kinds) {
  switch (below(kinds)) {
    case 0: return nullptr;
    case 1: return true;
    case 2: return -1;
    case 3: return 1e308;
    case 4: return std::uint64_t{18446744073709551615u};
    case 5: return std::int64_t{-9223372036854775807} - 1;
    case 6: return 0.5;
    case 7: return "";
    case 8: return std::string("a\0b", 3);
    case 9: return std::string(10'000, 'x');
    case 10: return "\xff\xfe";
    case 11: return JsonArray();
    case 12: return JsonObject();
    case 13: return JsonObject{{"", 1}, {"~/", JsonArray{1, JsonObject{{"a", "b"}}}}};
    case 14: return JsonArray(50, JsonArray{JsonObject{{"kind", "circle"}}});
    default: {
      Json deep = 1;
      for (int i = 0; i < 300; ++i) deep = JsonArray{std::move(deep)};
      return deep;
    }
  }
}

void Generator::spoil(Json& value) {
  if (JsonObject* members = value.if_object(); members && !members->empty() && below(4) > 0) {
    const JsonMember& member = members->begin()[below(members->size())];
    if (below(6) == 0) {
      members->erase(std::string(member.name));
    } else if (below(6) == 0) {
      members->set(member.name + "x", hostile());
    } else {
      spoil((*members)[member.name]);
    }
  } else if (JsonArray* items = value.if_array(); items && !items->empty() && below(4) > 0) {
    spoil((*items)[below(items->size())]);
  } else {
    value = hostile();
  }
}

// What a pointer leads to; null if it leads nowhere.
const Json* resolve(const Json& root, std::string_view pointer) {
  const Json* at = &root;
  while (at && !pointer.empty()) {
    pointer.remove_prefix(1);
    std::string token(pointer.substr(0, pointer.find('/')));
    pointer.remove_prefix(token.size());
    for (std::size_t i = 0; (i = token.find('~', i)) != std::string::npos; ++i) {
      token.replace(i, 2, token[i + 1] == '1' ? "/" : "~");
    }
    at = at->if_array() ? at->find(std::stoul(token)) : at->find(token);
  }
  return at;
}

unsigned rounds() {
  const char* torture = std::getenv("ERRAND_TORTURE");
  return 20 * (torture ? static_cast<unsigned>(std::stoul(torture)) : 1);
}

// Whether a value that was read and written again still says what it said. What was missing may
// have its default, and an item of a set may have another place.
enum class Order { counts, is_free };
bool keeps(const Json& given, const Json& written, Order order);

bool keeps_members(const JsonObject& given, const Json& written, Order order) {
  return std::ranges::all_of(given, [&](const JsonMember& member) {
    const Json* now = written.find(member.name);
    return now ? keeps(member.value, *now, order) : member.value.is_null();
  });
}

bool keeps_items(const JsonArray& given, const JsonArray& written, Order order) {
  if (given.size() != written.size()) return false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    auto is_given = [&](const Json& now) { return keeps(given[i], now, order); };
    bool is_elsewhere = order == Order::is_free && std::ranges::any_of(written, is_given);
    if (!is_given(written[i]) && !is_elsewhere) return false;
  }
  return true;
}

bool keeps(const Json& given, const Json& written, Order order) {
  if (const JsonObject* members = given.if_object()) {
    return written.if_object() && keeps_members(*members, written, order);
  }
  if (const JsonArray* items = given.if_array()) {
    return written.if_array() && keeps_items(*items, *written.if_array(), order);
  }
  return given == written || (given.to_double() && given.to_double() == written.to_double());
}

struct RoundTrip {
  template <class T>
  void operator()(const char* name) {
    const Json& schema = errand::schema_of<T>();
    bool has_sets = schema.dump().find("uniqueItems") != std::string::npos;
    Generator generator(7);
    for (unsigned round = 0; round < rounds(); ++round) {
      Json json = generator.value(schema, schema);
      auto value = errand::from_json<T>(json);
      ASSERT_TRUE(value) << name << " " << json.dump() << " " << value.error().describe();
      Json written = errand::to_json(*value);
      EXPECT_TRUE(keeps(json, written, has_sets ? Order::is_free : Order::counts))
          << name << " was " << json.dump() << " and is " << written.dump();
      EXPECT_EQ(shop::schema_errors(schema.dump(), written.dump()), "") << name;
      auto again = errand::from_json<T>(Json::parse(written.dump()).value());
      ASSERT_TRUE(again) << name << " " << written.dump() << " " << again.error().describe();
      EXPECT_EQ(errand::to_json(*again).dump(), written.dump()) << name;
    }
  }
};

TEST(Convert, GeneratedValuesOfEveryTypeSurviveTheRoundTrip) {
  shop::for_each_type(RoundTrip{});
}

struct Hostile {
  template <class T>
  void operator()(const char* name) {
    const Json& schema = errand::schema_of<T>();
    Generator generator(11);
    for (unsigned round = 0; round < 2 * rounds(); ++round) {
      Json json = round % 4 == 0 ? generator.hostile() : generator.value(schema, schema);
      if (round % 4 != 0) generator.spoil(json);
      for (bool coerce : {false, true}) {
        auto value = errand::from_json<T>(json, {.coerce = coerce});
        if (value) continue;
        ++*refused;
        EXPECT_NE(value.error().message(), "") << name;
        // Coercion may look into a text, where the pointer then leads.
        if (coerce) continue;
        EXPECT_TRUE(resolve(json, value.error().pointer()))
            << name << " " << value.error().describe() << " " << json.dump();
      }
    }
  }
  int* refused;
};

TEST(Convert, HostileValuesOfEveryTypeAreRefusedWithAPointer) {
  int refused = 0;
  shop::for_each_type(Hostile{&refused});
  EXPECT_GT(refused, 2'000);
}

template <class T>
std::string error_of(std::string_view text, errand::ReadOptions options = {}) {
  auto value = errand::from_json<T>(parse(text), options);
  return value ? "none" : value.error().describe();
}

TEST(Convert, ErrorsNameThePlaceAndWhatIsExpected) {
  EXPECT_EQ(error_of<shop::Weather>("[]"), "expected an object, got an array");
  EXPECT_EQ(error_of<shop::Weather>("{}"), "missing required property \"city\"");
  EXPECT_EQ(error_of<shop::Weather>(R"({"city":"x","dayz":1})"),
            "/dayz: unexpected property; did you mean days?");
  EXPECT_EQ(error_of<shop::Weather>(R"({"city":"x","days":"3"})"),
            "/days: expected an integer, got \"3\"");
  EXPECT_EQ(error_of<shop::Weather>(R"({"city":"x","days":3000000000})"),
            "/days: expected an integer from -2147483648 to 2147483647, got 3000000000");
  EXPECT_EQ(error_of<shop::Weather>(R"({"city":"x","days":1.5})"),
            "/days: expected an integer from -2147483648 to 2147483647, got 1.5");
  EXPECT_EQ(error_of<shop::Person>(R"({"name":"x","home":{"street":7}})"),
            "/home/street: expected a string, got 7");
  EXPECT_EQ(error_of<shop::Enums>(R"({"color":"gren"})"),
            "/color: expected one of red, green, blue, got \"gren\"; did you mean green?");
  EXPECT_EQ(error_of<shop::Arrays>(R"({"three":[1,2],"two":[true,false]})"),
            "/three: expected an array of 3 items, got 2");
  EXPECT_EQ(error_of<shop::Sets>(R"({"words":["a","a"],"numbers":[]})"),
            "/words/1: the item is there twice; items must be different");
  EXPECT_EQ(error_of<shop::IntegerMap>(R"({"names":{"007":"x"}})"),
            "/names/007: expected an integer from -32768 to 32767 as the name");
  EXPECT_EQ(error_of<shop::Literals>(R"({"unit":"kelvin"})"),
            "/unit: expected \"celsius\" or \"fahrenheit\", got \"kelvin\"");
  EXPECT_EQ(error_of<shop::Path>(R"({"file":"a\u0000b"})"), "/file: a path has no NUL byte");
}

TEST(Convert, AVariantReportsTheAlternativeThatWasMeant) {
  EXPECT_EQ(error_of<shop::Tagged>(R"({"shape":{"kind":"square","side":"x"}})"),
            "/shape/side: expected a number, got \"x\"");
  EXPECT_EQ(error_of<shop::Tagged>(R"({"shape":{"kind":"cube"}})"),
            "/shape/kind: expected \"circle\" or \"square\", got \"cube\"");
  EXPECT_EQ(error_of<shop::Tagged>(R"({"shape":{}})"),
            "/shape: missing required property \"kind\"");
  EXPECT_EQ(error_of<shop::Untagged>(R"({"value":{"street":1}})"),
            "/value/street: expected a string, got 1");
  EXPECT_EQ(error_of<shop::Untagged>(R"({"value":true})"),
            "/value: expected an integer, got true; or: expected a string, got true; or: expected "
            "an object, got true");
}

TEST(Convert, WhatOnlyTheSchemaSaysIsChecked) {
  std::string rest = R"(,"tags":[],"airport":"LOS","delay":1,"plain":1})";
  EXPECT_EQ(error_of<shop::Described>(R"({"city":"x","days":20)" + rest),
            "/days: expected an integer from 1 to 14, got 20");
  EXPECT_EQ(error_of<shop::Described>(R"({"city":"x")" + rest), "none");
  EXPECT_EQ(error_of<shop::Described>(R"({"city":"")" + rest).substr(0, 6), "/city:");
}

TEST(Convert, TimesAreReadWithTheirOffsetAndNeverRounded) {
  auto times = errand::from_json<shop::Times>(
      parse(R"({"second":"2026-02-28T01:30:00+02:00","exact":"1969-12-31T23:59:59.5Z",
                "day":"2024-02-29"})"));
  ASSERT_TRUE(times) << times.error().describe();
  EXPECT_EQ(errand::to_json(*times).dump(),
            R"({"second":"2026-02-27T23:30:00Z","exact":"1969-12-31T23:59:59.5Z",)"
            R"("day":"2024-02-29"})");
  std::string rest = R"(","exact":"2026-01-01T00:00:00Z","day":"2026-01-01"})";
  EXPECT_EQ(error_of<shop::Times>(R"({"second":"2026-01-01T00:00:00.000Z)" + rest), "none");
  EXPECT_EQ(error_of<shop::Times>(R"({"second":"2026-01-01T00:00:00.25Z)" + rest),
            "/second: the time is more exact than seconds");
  auto error_of_second = [&rest](std::string_view second) {
    std::string text = R"({"second":")";
    return error_of<shop::Times>(text.append(second).append(rest));
  };
  for (std::string wrong : {"", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01",
                            "2026-01-01T00:00:00", "2026-01-01T00:00:00Zx", "x"}) {
    std::string expected = "/second: expected a time such as \"2026-02-28T09:30:00Z\", got \"";
    EXPECT_EQ(error_of_second(wrong), expected.append(wrong).append("\""));
  }
}

TEST(Convert, IntegersKeepAll64Bits) {
  auto large = errand::from_json<shop::UInt64>(parse(R"({"value":18446744073709551615})"));
  ASSERT_TRUE(large);
  EXPECT_EQ(large->value, 18446744073709551615u);
  EXPECT_EQ(errand::to_json(*large).dump(), R"({"value":18446744073709551615})");
  auto small = errand::from_json<shop::Int64>(parse(R"({"value":-9223372036854775808})"));
  ASSERT_TRUE(small);
  EXPECT_EQ(errand::to_json(*small).dump(), R"({"value":-9223372036854775808})");
  EXPECT_EQ(error_of<shop::Int64>(R"({"value":9223372036854775808})"),
            "/value: expected an integer that fits 64 bits, got 9223372036854775808");
}

TEST(Convert, MissingMembersKeepTheirInitialisers) {
  auto value = errand::from_json<shop::Optionals>(parse("{}"));
  ASSERT_TRUE(value);
  EXPECT_EQ(value->number, std::nullopt);
  EXPECT_EQ(value->set, 3);
  EXPECT_EQ(errand::to_json(*value).dump(), R"({"set":3})");
  value = errand::from_json<shop::Optionals>(parse(R"({"set":null})"));
  EXPECT_EQ(errand::to_json(*value).dump(), R"({"set":null})");
}

TEST(Convert, CoercionConvertsTextsWithoutLoss) {
  auto read = [](std::string_view text) {
    auto value = errand::from_json<shop::Weather>(parse(text), {.coerce = true});
    return value ? value->city + " " + std::to_string(value->days) : value.error().describe();
  };
  EXPECT_EQ(read(R"({"city":"x","days":"3"})"), "x 3");
  EXPECT_EQ(read(R"({"city":"3","days":3})"), "3 3");
  EXPECT_EQ(read(R"("{\"city\":\"x\",\"days\":\"3\"}")"), "x 3");
  EXPECT_EQ(read(R"({"city":"x","days":"3.9"})"), "/days: expected an integer, got \"3.9\"");
  EXPECT_EQ(read(R"({"city":"x","days":"three"})"), "/days: expected an integer, got \"three\"");
  EXPECT_EQ(read(R"({"city":3})"), "/city: expected a string, got 3");
}

TEST(Convert, CoercionRoundsNoNumber) {
  auto integer = [](std::string_view text) {
    return error_of<shop::Int64>(text, {.coerce = true});
  };
  EXPECT_EQ(integer(R"({"value":"9007199254740992.0"})"), "none");
  EXPECT_EQ(integer(R"({"value":"9007199254740993.0"})"),
            "/value: expected an integer, got \"9007199254740993.0\"");
  auto number = [](std::string_view text) {
    std::string whole = R"({"small":1,"large":")";
    return error_of<shop::Floats>(whole.append(text).append("\"}"), {.coerce = true});
  };
  EXPECT_EQ(number("0.10"), "none");
  EXPECT_EQ(number("-12.5e-3"), "none");
  EXPECT_EQ(number("3.141592653589793"), "none");
  EXPECT_EQ(number("3.14159265358979323846"),
            "/large: expected a number, got \"3.14159265358979323846\"");
  EXPECT_EQ(number("1e-400"), "/large: expected a number, got \"1e-400\"");
  EXPECT_EQ(number("1e300"), "none");
}

TEST(Convert, CoercionRoundsNoNumberWithinAText) {
  auto integer = [](std::string_view text) {
    return error_of<shop::Int64>(text, {.coerce = true});
  };
  // The shortest text of a double has other digits than the integer that it is.
  EXPECT_EQ(integer(R"({"value":"1152921504606846976.0"})"), "none");
  EXPECT_EQ(integer(R"({"value":"1152921504606847000.0"})"),
            "/value: expected an integer, got \"1152921504606847000.0\"");
  auto list = [](std::string_view text) {
    return error_of<std::vector<std::int64_t>>(Json(text).dump(), {.coerce = true});
  };
  EXPECT_EQ(list("[9007199254740993, 9007199254740992.0]"), "none");
  EXPECT_EQ(list("[1, 9007199254740993.0]"), R"(expected an array, got "[1, 9007199254740993.0]")");
  EXPECT_EQ(list("[-9.007199254740993e15]"), R"(expected an array, got "[-9.007199254740993e15]")");
  auto object = [](std::string_view text) {
    return error_of<std::map<std::string, double>>(Json(text).dump(), {.coerce = true});
  };
  EXPECT_EQ(object(R"({"9007199254740993.0 \" 1e-400":0.1})"), "none");
  EXPECT_EQ(object(R"({"a":{"b":[0.1]},"c":1e-400})"),
            R"x(expected an object, got "{\"a\":{\"b\":[0.1]},\"c\":1e-400}")x");
}

TEST(Convert, CoercionLooksIntoReferencesAndLists) {
  auto node = errand::from_json<shop::Node>(
      parse(R"({"name":"a","children":"[{\"name\":\"b\",\"children\":\"[]\"}]"})"),
      {.coerce = true});
  ASSERT_TRUE(node) << node.error().describe();
  EXPECT_EQ(errand::to_json(*node).dump(),
            R"({"name":"a","children":[{"name":"b","children":[]}]})");
}

TEST(Convert, ACycleOfPointersIsRefused) {
  auto value = std::make_shared<shop::Shared>();
  value->left = value;
  EXPECT_THROW(errand::to_json(*value), errand::Error);
  value->left.reset();
}

TEST(Convert, AnEnumValueWithoutANameIsRefused) {
  EXPECT_THROW(errand::to_json(static_cast<shop::Color>(77)), errand::Error);
}

}  // namespace
}  // namespace convert_test
