#include "json/write.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "base/eight_bytes.hpp"

namespace errand::json {
namespace {

enum class CharClass : unsigned char { plain, escape, multibyte };

constexpr auto kClasses = [] {
  std::array<CharClass, 256> classes{};
  for (std::size_t i = 0; i < 0x20; ++i) classes[i] = CharClass::escape;
  classes['"'] = CharClass::escape;
  classes['\\'] = CharClass::escape;
  for (std::size_t i = 0x80; i < 256; ++i) classes[i] = CharClass::multibyte;
  return classes;
}();

// Room for a long text, for some escapes in it, and for what is written behind it: a string that
// grows over its end is copied and takes twice its size.
void make_room(std::string& out, std::size_t bytes) {
  constexpr std::size_t kLongBytes = 4096;
  if (bytes < kLongBytes || out.capacity() - out.size() > bytes + 2) return;
  out.reserve(out.size() + bytes + bytes / 8);
}

bool is_plain(EightBytes bytes) {
  return !bytes.has_non_ascii() && !bytes.has_below(0x20) && !bytes.has('"') && !bytes.has('\\');
}

// Past the plain bytes of the text, eight at a time; perhaps not all of them.
std::size_t skip_plain(std::string_view text, std::size_t at) {
  while (at + EightBytes::kSize <= text.size() && is_plain(EightBytes(text.data() + at))) {
    at += EightBytes::kSize;
  }
  return at;
}

void write_escape(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    default: break;
  }
  auto byte = static_cast<unsigned char>(c);
  append(out, "\\u00", kHex[byte >> 4U], kHex[byte & 15U]);
}

void write_double(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  char digits[40];
  char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  std::string_view text(digits, static_cast<std::size_t>(end - digits));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

}  // namespace

void write_string(std::string& out, std::string_view text) {
  make_room(out, text.size());
  out.push_back('"');
  std::size_t start = 0;
  for (std::size_t i = skip_plain(text, 0); i < text.size();) {
    switch (kClasses[static_cast<unsigned char>(text[i])]) {
      case CharClass::plain: ++i; break;
      case CharClass::escape:
        out.append(text, start, i - start);
        write_escape(out, text[i]);
        start = ++i;
        i = skip_plain(text, i);
        break;
      case CharClass::multibyte:
        if (std::size_t length = utf8_sequence_length(text.substr(i)); length > 0) {
          i = skip_plain(text, i + length);
          break;
        }
        out.append(text, start, i - start);
        out += "\xEF\xBF\xBD";
        start = ++i;
        break;
    }
  }
  out.append(text, start);
  out.push_back('"');
}

void write(std::string& out, const Object& object) {
  out.push_back('{');
  for (const auto& member : object) {
    if (out.back() != '{') out.push_back(',');
    write_string(out, {member.key().data(), member.key().size()});
    out.push_back(':');
    write(out, member.value());
  }
  out.push_back('}');
}

void write(std::string& out, const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null: out += "null"; break;
    case boost::json::kind::bool_: out += value.get_bool() ? "true" : "false"; break;
    case boost::json::kind::int64: append(out, value.get_int64()); break;
    case boost::json::kind::uint64: append(out, value.get_uint64()); break;
    case boost::json::kind::double_: write_double(out, value.get_double()); break;
    case boost::json::kind::string: write_string(out, view(value.get_string())); break;
    case boost::json::kind::array:
      out.push_back('[');
      for (const Value& item : value.get_array()) {
        if (out.back() != '[') out.push_back(',');
        write(out, item);
      }
      out.push_back(']');
      break;
    case boost::json::kind::object: write(out, value.get_object()); break;
  }
}

std::string write(const Value& value) {
  std::string out;
  write(out, value);
  return out;
}

}  // namespace errand::json
