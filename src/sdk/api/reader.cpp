#include <errand/detail/reader.hpp>

#include <charconv>
#include <errand/detail/containers.hpp>
#include <errand/detail/schema_builder.hpp>
#include <iterator>
#include <limits>
#include <utility>

#include "base/close_names.hpp"
#include "base/text.hpp"
#include "json/value.hpp"

namespace errand::v1::detail {

namespace {

// The longest text of the model that an error quotes.
constexpr std::size_t kQuotedBytesMax = 60;

std::string shown(const Json& got) {
  switch (got.kind()) {
    case Json::Kind::boolean:
    case Json::Kind::int64:
    case Json::Kind::uint64:
    case Json::Kind::number: return got.dump();
    case Json::Kind::string:
      if (got.if_string()->size() <= kQuotedBytesMax) return got.dump();
      return "a longer string";
    default: return std::string(got.kind_name());
  }
}

}  // namespace

// ---- Reader -------------------------------------------------------------------------------------

std::string Reader::pointer() const {
  std::string out;
  for (const Place& place : path_) {
    out = place.is_index ? json::child_pointer(out, place.index)
                         : json::child_pointer(out, place.name);
  }
  return out;
}

bool Reader::fail(std::string message) {
  error_ = {pointer(), std::move(message), path_.size()};
  return false;
}

bool Reader::fail(const Attempt& attempt) {
  error_ = attempt;
  return false;
}

bool Reader::expected(std::string_view what, const Json& got) {
  return fail(cat("expected ", what, ", got ", shown(got)));
}

Error Reader::error() const {
  return Error(ErrorCode::invalid_argument, error_.message, error_.pointer);
}

Reader::Attempt Reader::take_error() {
  return std::exchange(error_, {});
}

const JsonArray* Reader::array(const Json& json, std::size_t items_min, std::size_t items_max) {
  const JsonArray* items = json.if_array();
  if (!items) {
    expected("an array", json);
    return nullptr;
  }
  if (path_.size() >= kDepthMax) {
    fail(cat("nested more than ", kDepthMax, " levels deep"));
    return nullptr;
  }
  if (items->size() < items_min || items->size() > items_max) {
    fail(cat("expected an array of ", items_min, " items, got ", items->size()));
    return nullptr;
  }
  return items;
}

const JsonObject* Reader::object(const Json& json) {
  const JsonObject* members = json.if_object();
  if (!members) {
    expected("an object", json);
    return nullptr;
  }
  if (path_.size() >= kDepthMax) {
    fail(cat("nested more than ", kDepthMax, " levels deep"));
    return nullptr;
  }
  return members;
}

const std::string* Reader::string(const Json& json) {
  const std::string* text = json.if_string();
  if (!text) expected("a string", json);
  return text;
}

// ---- Scalars ------------------------------------------------------------------------------------

namespace {

std::string describe(IntegerRange range) {
  if (range.max == std::numeric_limits<std::uint64_t>::max()) {
    return "an integer of at least 0 that fits 64 bits";
  }
  if (range.min == std::numeric_limits<std::int64_t>::min()) return "an integer that fits 64 bits";
  return cat("an integer from ", range.min, " to ", range.max);
}

bool is_within(IntegerRange range, std::int64_t value) {
  return value >= range.min && (value < 0 || static_cast<std::uint64_t>(value) <= range.max);
}

}  // namespace

bool read_bool(Reader& reader, const Json& json, bool& out) {
  const bool* value = json.if_bool();
  if (!value) return reader.expected("true or false", json);
  out = *value;
  return true;
}

bool read_integer(Reader& reader, const Json& json, IntegerRange range, std::uint64_t& bits) {
  if (auto value = json.to_int64(); value && is_within(range, *value)) {
    bits = static_cast<std::uint64_t>(*value);
    return true;
  }
  if (auto value = json.to_uint64(); value && *value <= range.max) {
    bits = *value;
    return true;
  }
  return reader.expected(json.to_double() ? describe(range) : "an integer", json);
}

double widened(float value) {
  char text[32];
  const auto exact = static_cast<double>(value);
  double out = exact;
  auto written = std::to_chars(text, std::end(text), exact, std::chars_format::general,
                               std::numeric_limits<float>::max_digits10);
  std::from_chars(text, written.ptr, out);
  if (out == exact) return exact;
  written = std::to_chars(text, std::end(text), value);
  std::from_chars(text, written.ptr, out);
  return out;
}

bool read_number(Reader& reader, const Json& json, double& out) {
  auto number = json.to_double();
  if (!number) return reader.expected("a number", json);
  out = *number;
  return true;
}

bool read_text(Reader& reader, const Json& json, std::string& out) {
  const std::string* text = reader.string(json);
  if (!text) return false;
  out = *text;
  return true;
}

bool read_path(Reader& reader, const Json& json, std::string& out) {
  if (!read_text(reader, json, out)) return false;
  return out.find('\0') == std::string::npos || reader.fail("a path has no NUL byte");
}

// ---- Literals, enums and keys -------------------------------------------------------------------

bool read_one_of_failed(Reader& reader, const Json& json, const JsonArray& literals) {
  std::string known;
  for (const Json& literal : literals) append(known, known.empty() ? "" : " or ", literal.dump());
  return reader.expected(known, json);
}

namespace {

std::vector<std::string_view> names(const EnumInfo& info) {
  std::vector<std::string_view> out;
  for (const EnumInfo::Entry& entry : info.entries) out.push_back(entry.name);
  return out;
}

// Longer lists are cut.
constexpr std::size_t kNamesShownMax = 20;

bool fail_enum(Reader& reader, const Json& json, const EnumInfo& info) {
  std::string known;
  std::size_t count = 0;
  for (const EnumInfo::Entry& entry : info.entries) {
    if (count++ == kNamesShownMax) break;
    append(known, known.empty() ? "" : ", ", entry.name);
  }
  if (info.entries.size() > kNamesShownMax) known += ", ...";
  std::string message = cat("expected one of ", known, ", got ", shown(json));
  if (json.if_string()) {
    std::string hint = did_you_mean(*json.if_string(), names(info));
    if (!hint.empty()) append(message, "; ", hint);
  }
  return reader.fail(std::move(message));
}

}  // namespace

bool read_enum(Reader& reader, const Json& json, const EnumInfo& info, std::uint64_t& bits) {
  if (const std::string* text = json.if_string()) {
    for (const EnumInfo::Entry& entry : info.entries) {
      if (entry.name != *text) continue;
      bits = entry.bits;
      return true;
    }
  }
  return fail_enum(reader, json, info);
}

bool read_enum_key(Reader& reader, const std::string& text, const EnumInfo& info,
                   std::uint64_t& bits) {
  return read_enum(reader, text, info, bits);
}

const std::string& enum_name(const EnumInfo& info, std::uint64_t bits) {
  for (const EnumInfo::Entry& entry : info.entries) {
    if (entry.bits == bits) return entry.name;
  }
  throw Error(ErrorCode::invalid_argument,
              cat("the value ", static_cast<std::int64_t>(bits), " of ", info.type_name,
                  " has no name; list it with ERRAND_DESCRIBE"));
}

Json write_enum(const EnumInfo& info, std::uint64_t bits) {
  return enum_name(info, bits);
}

bool read_integer_key(Reader& reader, const std::string& text, IntegerRange range,
                      std::uint64_t& bits) {
  auto number = parse_integer<std::int64_t>(text);
  auto large = parse_integer<std::uint64_t>(text);
  Json json = number ? Json(*number) : large ? Json(*large) : Json(text);
  // "007" and "+7" would be further spellings of 7.
  if (json.dump() != text) json = Json(text);
  if (json.if_string()) return reader.fail(cat("expected ", describe(range), " as the name"));
  return read_integer(reader, json, range, bits);
}

}  // namespace errand::v1::detail
