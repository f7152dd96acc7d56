#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "json/value.hpp"

namespace errand::json {

// Appends the value on one line. Doubles keep every bit and never look like integers; a value that
// JSON cannot say (infinity, NaN) becomes null; bytes that are not UTF-8 become U+FFFD.
void write(std::string& out, const Value& value);
void write(std::string& out, const Object& object);
std::string write(const Value& value);
// A template, so that nothing else becomes an object on the way; as a value, it would be copied.
template <std::same_as<Object> O>
std::string write(const O& object) {
  std::string out;
  write(out, object);
  return out;
}

// Appends a quoted and escaped string.
void write_string(std::string& out, std::string_view text);

// Writes one object member by member straight into a string, without building a value first:
//   ObjectWriter(out).field("seq", 7).field("type", "result").end();
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_.push_back('{'); }

  ObjectWriter& field(std::string_view key, std::string_view text) {
    name(key);
    write_string(out_, text);
    return *this;
  }
  ObjectWriter& field(std::string_view key, const char* text) {
    return field(key, std::string_view(text));
  }
  ObjectWriter& field(std::string_view key, std::same_as<bool> auto value) {
    name(key);
    out_ += value ? "true" : "false";
    return *this;
  }
  template <std::integral N>
    requires(!std::same_as<N, bool>)
  ObjectWriter& field(std::string_view key, N number) {
    name(key);
    append(out_, number);
    return *this;
  }
  ObjectWriter& field(std::string_view key, const Value& value) {
    name(key);
    write(out_, value);
    return *this;
  }
  ObjectWriter& field(std::string_view key, const Object& object) {
    name(key);
    write(out_, object);
    return *this;
  }
  // Text that is JSON already.
  ObjectWriter& raw(std::string_view key, std::string_view json) {
    name(key);
    out_.append(json);
    return *this;
  }
  void end() { out_.push_back('}'); }

 private:
  void name(std::string_view key) {
    if (out_.back() != '{') out_.push_back(',');
    write_string(out_, key);
    out_.push_back(':');
  }

  std::string& out_;
};

}  // namespace errand::json
