#pragma once

#include <errand/schema.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

// Types of every kind that JSON can carry, for the tests of schemas, reading and writing.
namespace shop {

struct Empty {};
struct Weather {
  std::string city;
  int days = 1;
};
struct Bools {
  bool yes;
  bool on = true;
};
struct Int8 {
  std::int8_t value;
};
struct UInt8 {
  std::uint8_t value;
};
struct Int16 {
  std::int16_t value;
};
struct UInt16 {
  std::uint16_t value;
};
struct Int32 {
  std::int32_t value;
};
struct UInt32 {
  std::uint32_t value;
};
struct Int64 {
  std::int64_t value;
};
struct UInt64 {
  std::uint64_t value;
};
struct Floats {
  float small;
  double large = 0.5;
  float set = 0.1F;
};
struct Texts {
  std::string plain;
  std::string greeting = "hello";
};
struct Path {
  std::filesystem::path file;
  std::filesystem::path folder = "/tmp";
};

enum class Color { red, green = 5, blue = 1024 };
enum class Signed : std::int8_t { low = -2, zero = 0, high = 100 };
enum class Unsigned : std::uint8_t { none = 0, top = 128 };
enum class Sure : bool { no, yes };
enum Old : int { old_one, old_two };
enum Unfixed { first_unfixed = 1, second_unfixed = 1'000'000 };
ERRAND_DESCRIBE(Unfixed, (first_unfixed, errand::name("first")), (second_unfixed))
enum class Unit { celsius, fahrenheit, kelvin };
ERRAND_DESCRIBE(Unit, (celsius, "Degrees Celsius"), (fahrenheit, "Degrees Fahrenheit"))
enum class FromOne { one = 1, two };
enum class Http { go_on = 100, ok = 200, not_found = 404, last = 1023 };

struct Enums {
  Color color;
  Color other = Color::green;
};
struct SmallEnums {
  Signed sign;
  Unsigned flag;
  Sure sure;
};
struct OldEnums {
  Old old;
  Unfixed unfixed = first_unfixed;
};
struct DescribedEnum {
  Unit unit = Unit::fahrenheit;
};
struct SparseEnum {
  Http status;
};
struct EnumWithoutZero {
  FromOne plain;
  FromOne set = FromOne::two;
};

struct Optionals {
  std::optional<int> number;
  std::optional<std::string> text;
  std::optional<int> set = 3;
};
struct OptionalEnum {
  std::optional<Color> color;
};
struct OptionalStruct {
  std::optional<Weather> weather;
};
struct OptionalList {
  std::optional<std::vector<int>> numbers;
};
struct NestedOptional {
  std::optional<std::optional<bool>> maybe;
};

struct Address {
  std::string street;
  std::string town = "Lagos";
};
struct Person {
  std::string name;
  Address home;
};
struct TwoAddresses {
  Address home;
  Address work;
};
struct DefaultedStruct {
  Address home = {.street = "Main Street", .town = "Kano"};
};
struct Deep {
  Person person;
  TwoAddresses addresses;
};

struct Node {
  std::string name;
  std::vector<Node> children;
};
struct Linked {
  int value;
  std::unique_ptr<Linked> next;
};
struct Shared {
  std::shared_ptr<Shared> left;
  std::shared_ptr<Shared> right;
};
struct Forest {
  std::vector<Node> trees;
  std::optional<Node> best;
};
struct Odd;
struct Even {
  std::unique_ptr<Odd> next;
};
struct Odd {
  std::unique_ptr<Even> next;
  int value;
};

struct Untagged {
  std::variant<int, std::string, Address> value;
};
struct NullableVariant {
  std::variant<std::monostate, bool, double> value;
};
struct Circle {
  errand::OneOf<"circle"> kind;
  double radius;
};
struct Square {
  errand::OneOf<"square"> kind;
  double side = 1;
};
struct Tagged {
  std::variant<Circle, Square> shape;
};
struct TaggedList {
  std::vector<std::variant<Circle, Square>> shapes;
};
struct OptionalVariant {
  std::optional<std::variant<int, bool>> value;
};

struct Vectors {
  std::vector<int> numbers;
  std::vector<std::string> words = {"a", "b"};
};
struct Bits {
  std::vector<bool> flags;
};
struct Lists {
  std::list<int> list;
  std::deque<double> deque;
};
struct Matrix {
  std::vector<std::vector<double>> rows;
};
struct Arrays {
  std::array<int, 3> three;
  bool two[2];
};
struct ArrayOfStructs {
  Address both[2];
};
struct Sets {
  std::set<std::string> words;
  std::unordered_set<int> numbers;
};
struct TextMap {
  std::map<std::string, int> counts;
};
struct IntegerMap {
  std::map<std::int16_t, std::string> names;
};
struct EnumMap {
  std::map<Color, double> prices;
};
struct StructMap {
  std::unordered_map<std::string, Address> homes;
};
struct Tuples {
  std::tuple<int, std::string, bool> three;
  std::pair<double, Color> two;
  std::tuple<> none;
};

struct Literals {
  errand::OneOf<"celsius", "fahrenheit"> unit;
  errand::OneOf<"a", "b"> letter = "b";
};
struct NumberLiterals {
  errand::OneOf<1, 2, 4> channels;
};
struct MixedLiterals {
  errand::OneOf<"auto", 1, 2> level;
};

struct Durations {
  std::chrono::seconds wait;
  std::chrono::milliseconds pause{250};
  std::chrono::duration<double> exact;
};
struct OtherDurations {
  std::chrono::hours hours;
  std::chrono::days days;
  std::chrono::duration<int, std::ratio<1, 50>> frames;
};
struct Times {
  std::chrono::sys_seconds second;
  std::chrono::system_clock::time_point exact;
  std::chrono::sys_days day;
};
struct Dates {
  std::chrono::year_month_day day = std::chrono::year(2026) / 2 / 28;
};
struct RawJson {
  errand::Json any;
  errand::JsonObject object;
  errand::JsonArray array;
};
struct Nulls {
  std::nullptr_t null;
  std::monostate none;
};

struct Described {
  std::string city;
  int days = 1;
  std::optional<double> wind;
  std::vector<std::string> tags;
  std::string code;
  std::string level = "low";
  std::chrono::minutes delay;
  int plain;
};
ERRAND_DESCRIBE(Described, (city, "City to look up", errand::length(1, 80)),
                (days, "Days ahead", errand::range(1, 14)), (wind, errand::at_least(0)),
                (tags, "Words.", errand::items(0, 3)),
                (code, errand::pattern("^[A-Z]{3}$"), errand::name("airport"),
                 errand::example("LOS")),
                (level, errand::one_of({"low", "high"})),
                (delay, "How long to wait", errand::at_most(90)))
struct Formats {
  std::string mail;
  int even = 2;
  int must = 7;
};
ERRAND_DESCRIBE(Formats, (mail, errand::format("email")), (even, errand::multiple_of(2)),
                (must, errand::required()))

// Not an aggregate.
class Account {
 public:
  Account() = default;
  explicit Account(std::string name) : owner(std::move(name)) {}

  std::string owner;
  std::int64_t cents = 100;
};
ERRAND_DESCRIBE(Account, (owner, "Who pays"), (cents))

struct Base {
  std::string id;
};
struct Derived : Base {
  int count = 0;
};
ERRAND_DESCRIBE(Derived, (id), (count, errand::defaulted()))

template <class T>
struct Box {
  T content;
};
struct Boxes {
  Box<int> first;
  Box<int> second;
  Box<Address> third;
  Box<Address> fourth;
};
struct Keywords {
  int plain;
  std::string type;
  int other = 1;
};
ERRAND_DESCRIBE(Keywords, (plain, errand::name("default")), (other, errand::name("$ref")))

struct Wide {
  int a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2,
      c3, c4, c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0, e1, e2, e3, e4, e5,
      e6, e7, e8, e9, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, g0, g1, g2, g3;
};

}  // namespace shop

namespace other {

struct Address {
  int number;
};

}  // namespace other

namespace shop {

struct SameNames {
  Address a;
  Address b;
  other::Address c;
  other::Address d;
};

#define SHOP_VISIT(type) visit.template operator()<type>(#type)

template <class Visit>
void for_each_simple_type(Visit& visit) {
  SHOP_VISIT(Empty);
  SHOP_VISIT(Weather);
  SHOP_VISIT(Bools);
  SHOP_VISIT(Int8);
  SHOP_VISIT(UInt8);
  SHOP_VISIT(Int16);
  SHOP_VISIT(UInt16);
  SHOP_VISIT(Int32);
  SHOP_VISIT(UInt32);
  SHOP_VISIT(Int64);
  SHOP_VISIT(UInt64);
  SHOP_VISIT(Floats);
  SHOP_VISIT(Texts);
  SHOP_VISIT(Path);
  SHOP_VISIT(Enums);
  SHOP_VISIT(SmallEnums);
  SHOP_VISIT(OldEnums);
  SHOP_VISIT(DescribedEnum);
  SHOP_VISIT(SparseEnum);
  SHOP_VISIT(EnumWithoutZero);
  SHOP_VISIT(Optionals);
  SHOP_VISIT(OptionalEnum);
  SHOP_VISIT(OptionalStruct);
  SHOP_VISIT(OptionalList);
  SHOP_VISIT(NestedOptional);
  SHOP_VISIT(Person);
  SHOP_VISIT(TwoAddresses);
  SHOP_VISIT(DefaultedStruct);
  SHOP_VISIT(Deep);
  SHOP_VISIT(Node);
  SHOP_VISIT(Linked);
  SHOP_VISIT(Shared);
  SHOP_VISIT(Forest);
  SHOP_VISIT(Even);
  SHOP_VISIT(Untagged);
  SHOP_VISIT(NullableVariant);
  SHOP_VISIT(Circle);
  SHOP_VISIT(Tagged);
  SHOP_VISIT(TaggedList);
  SHOP_VISIT(OptionalVariant);
}

template <class Visit>
void for_each_large_type(Visit& visit) {
  SHOP_VISIT(Vectors);
  SHOP_VISIT(Bits);
  SHOP_VISIT(Lists);
  SHOP_VISIT(Matrix);
  SHOP_VISIT(Arrays);
  SHOP_VISIT(ArrayOfStructs);
  SHOP_VISIT(Sets);
  SHOP_VISIT(TextMap);
  SHOP_VISIT(IntegerMap);
  SHOP_VISIT(EnumMap);
  SHOP_VISIT(StructMap);
  SHOP_VISIT(Tuples);
  SHOP_VISIT(Literals);
  SHOP_VISIT(NumberLiterals);
  SHOP_VISIT(MixedLiterals);
  SHOP_VISIT(Durations);
  SHOP_VISIT(OtherDurations);
  SHOP_VISIT(Times);
  SHOP_VISIT(Dates);
  SHOP_VISIT(RawJson);
  SHOP_VISIT(Nulls);
  SHOP_VISIT(Described);
  SHOP_VISIT(Formats);
  SHOP_VISIT(Account);
  SHOP_VISIT(Derived);
  SHOP_VISIT(Boxes);
  SHOP_VISIT(Keywords);
  SHOP_VISIT(SameNames);
  SHOP_VISIT(Wide);
  // Types that are no struct.
  SHOP_VISIT(int);
  SHOP_VISIT(std::string);
  SHOP_VISIT(std::vector<Node>);
}
#undef SHOP_VISIT

// Calls visit.template operator()<T>("T") for each type.
template <class Visit>
void for_each_type(Visit visit) {
  for_each_simple_type(visit);
  for_each_large_type(visit);
}

}  // namespace shop
