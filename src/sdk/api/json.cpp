#include <errand/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/value.hpp"
#include "json/write.hpp"
#include "sdk/api/values.hpp"

namespace errand::v1 {

// ---- JsonObject ---------------------------------------------------------------------------------

JsonObject::JsonObject() = default;
JsonObject::JsonObject(std::initializer_list<JsonMember> members) {
  for (const JsonMember& member : members) set(member.name, member.value);
}
JsonObject::JsonObject(std::vector<JsonMember> members) : members_(std::move(members)) {}
JsonObject::JsonObject(const JsonObject&) = default;
JsonObject::JsonObject(JsonObject&&) noexcept = default;
JsonObject& JsonObject::operator=(const JsonObject&) = default;
JsonObject& JsonObject::operator=(JsonObject&&) noexcept = default;
JsonObject::~JsonObject() = default;

std::size_t JsonObject::size() const {
  return members_.size();
}
bool JsonObject::empty() const {
  return members_.empty();
}
const JsonMember* JsonObject::begin() const {
  return members_.data();
}
const JsonMember* JsonObject::end() const {
  return members_.data() + members_.size();
}

const Json* JsonObject::find(std::string_view name) const {
  auto found = std::ranges::find(members_, name, &JsonMember::name);
  return found == members_.end() ? nullptr : &found->value;
}

Json* JsonObject::find(std::string_view name) {
  return const_cast<Json*>(std::as_const(*this).find(name));
}

Json& JsonObject::operator[](std::string_view name) {
  if (Json* found = find(name)) return *found;
  return members_.emplace_back(JsonMember{std::string(name), Json()}).value;
}

void JsonObject::set(std::string_view name, Json value) {
  (*this)[name] = std::move(value);
}

bool JsonObject::erase(std::string_view name) {
  return std::erase_if(members_, [&](const JsonMember& one) { return one.name == name; }) > 0;
}

bool JsonObject::operator==(const JsonObject& other) const {
  if (size() != other.size()) return false;
  if (members_ == other.members_) return true;
  return std::ranges::all_of(members_, [&](const JsonMember& member) {
    const Json* found = other.find(member.name);
    return found && *found == member.value;
  });
}

// ---- Json ---------------------------------------------------------------------------------------

Json::Json() noexcept : value_(nullptr) {}
Json::Json(std::nullptr_t) noexcept : value_(nullptr) {}
Json::Json(Boolean value) noexcept : value_(value.value) {}
Json::Json(Integer value) noexcept {
  if (value.is_negative || value.bits <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    value_ = static_cast<std::int64_t>(value.bits);
  } else {
    value_ = value.bits;
  }
}
Json::Json(double value) noexcept : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) noexcept : value_(std::move(text)) {}
Json::Json(JsonArray items) noexcept : value_(std::move(items)) {}
Json::Json(JsonObject members) noexcept : value_(std::move(members)) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json Json::array(std::initializer_list<Json> items) {
  return JsonArray(items);
}
Json Json::object(std::initializer_list<JsonMember> members) {
  return JsonObject(members);
}

std::string_view Json::kind_name() const noexcept {
  switch (kind()) {
    case Kind::null: return "null";
    case Kind::boolean: return "a boolean";
    case Kind::int64:
    case Kind::uint64: return "an integer";
    case Kind::number: return "a number";
    case Kind::string: return "a string";
    case Kind::array: return "an array";
    case Kind::object: return "an object";
  }
  return "a value";
}

const bool* Json::if_bool() const noexcept {
  return std::get_if<bool>(&value_);
}
const std::string* Json::if_string() const noexcept {
  return std::get_if<std::string>(&value_);
}
const JsonArray* Json::if_array() const noexcept {
  return std::get_if<JsonArray>(&value_);
}
const JsonObject* Json::if_object() const noexcept {
  return std::get_if<JsonObject>(&value_);
}
std::string* Json::if_string() noexcept {
  return std::get_if<std::string>(&value_);
}
JsonArray* Json::if_array() noexcept {
  return std::get_if<JsonArray>(&value_);
}
JsonObject* Json::if_object() noexcept {
  return std::get_if<JsonObject>(&value_);
}

namespace {

// The smallest double beyond the range of the integers.
constexpr double kInt64End = 9223372036854775808.0;
constexpr double kUint64End = 18446744073709551616.0;

}  // namespace

std::optional<std::int64_t> Json::to_int64() const noexcept {
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return *integer;
  const double* number = std::get_if<double>(&value_);
  if (!number || std::trunc(*number) != *number) return {};
  if (*number < -kInt64End || *number >= kInt64End) return {};
  return static_cast<std::int64_t>(*number);
}

std::optional<std::uint64_t> Json::to_uint64() const noexcept {
  if (const auto* integer = std::get_if<std::uint64_t>(&value_)) return *integer;
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) {
    if (*integer < 0) return {};
    return static_cast<std::uint64_t>(*integer);
  }
  const double* number = std::get_if<double>(&value_);
  if (!number || std::trunc(*number) != *number) return {};
  if (*number < 0 || *number >= kUint64End) return {};
  return static_cast<std::uint64_t>(*number);
}

std::optional<double> Json::to_double() const noexcept {
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) {
    return static_cast<double>(*integer);
  }
  if (const auto* integer = std::get_if<std::uint64_t>(&value_)) {
    return static_cast<double>(*integer);
  }
  return {};
}

const Json* Json::find(std::string_view name) const noexcept {
  const JsonObject* members = if_object();
  return members ? members->find(name) : nullptr;
}

const Json* Json::find(std::size_t index) const noexcept {
  const JsonArray* items = if_array();
  return items && index < items->size() ? &(*items)[index] : nullptr;
}

const Json& Json::at(std::string_view name) const {
  if (const Json* found = find(name)) return *found;
  throw Error(ErrorCode::not_found, cat("there is no member \"", name, "\""));
}

const Json& Json::at(std::size_t index) const {
  if (const Json* found = find(index)) return *found;
  throw Error(ErrorCode::not_found, cat("there is no item ", index));
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = JsonObject();
  JsonObject* members = if_object();
  if (!members) {
    throw Error(ErrorCode::invalid_argument, cat(kind_name(), " has no member \"", name, "\""));
  }
  return (*members)[name];
}

bool Json::operator==(const Json& other) const {
  return value_ == other.value_;
}

// ---- Text ---------------------------------------------------------------------------------------

Result<Json> Json::parse(std::string_view text) {
  auto value = json::parse(text);
  if (!value) return Error(ErrorCode::invalid_argument, value.error().message());
  return detail::from_value(*value);
}

namespace {

void write(std::string& out, const Json& json);

void write_array(std::string& out, const JsonArray& items) {
  out.push_back('[');
  bool is_first = true;
  for (const Json& item : items) {
    if (!std::exchange(is_first, false)) out.push_back(',');
    write(out, item);
  }
  out.push_back(']');
}

void write_object(std::string& out, const JsonObject& members) {
  out.push_back('{');
  bool is_first = true;
  for (const JsonMember& member : members) {
    if (!std::exchange(is_first, false)) out.push_back(',');
    json::write_string(out, member.name);
    out.push_back(':');
    write(out, member.value);
  }
  out.push_back('}');
}

void write(std::string& out, const Json& json) {
  switch (json.kind()) {
    case Json::Kind::null: out += "null"; return;
    case Json::Kind::boolean: out += *json.if_bool() ? "true" : "false"; return;
    case Json::Kind::int64: append(out, *json.to_int64()); return;
    case Json::Kind::uint64: append(out, *json.to_uint64()); return;
    case Json::Kind::number: json::write(out, json::Value(*json.to_double())); return;
    case Json::Kind::string: json::write_string(out, *json.if_string()); return;
    case Json::Kind::array: write_array(out, *json.if_array()); return;
    case Json::Kind::object: write_object(out, *json.if_object()); return;
  }
}

}  // namespace

std::string Json::dump() const {
  std::string out;
  write(out, *this);
  return out;
}

}  // namespace errand::v1
