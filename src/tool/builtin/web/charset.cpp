#include "tool/builtin/web/charset.hpp"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "base/text.hpp"
#include "tool/safe_text.hpp"

namespace errand {
namespace {

constexpr std::size_t kMetaSearchBytes = 4096;
// The characters of 0x80 to 0x9f in windows-1252.
constexpr std::array<char16_t, 32> kWindows1252 = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

struct Known {
  std::string_view label;
  const char* iconv_name;
};
// Encodings of the web that the C library decodes. Other encodings are not passed to it: a stranger
// names the encoding, and rarely used decoders are the ones with bugs.
constexpr auto kKnown = std::to_array<Known>({
    {"big5", "BIG5-HKSCS"},
    {"euc-jp", "EUC-JP"},
    {"euc-kr", "CP949"},
    {"gb18030", "GB18030"},
    {"gb2312", "GB18030"},
    {"gbk", "GB18030"},
    {"iso-8859-10", "ISO-8859-10"},
    {"iso-8859-13", "ISO-8859-13"},
    {"iso-8859-14", "ISO-8859-14"},
    {"iso-8859-15", "ISO-8859-15"},
    {"iso-8859-16", "ISO-8859-16"},
    {"iso-8859-2", "ISO-8859-2"},
    {"iso-8859-3", "ISO-8859-3"},
    {"iso-8859-4", "ISO-8859-4"},
    {"iso-8859-5", "ISO-8859-5"},
    {"iso-8859-6", "ISO-8859-6"},
    {"iso-8859-7", "ISO-8859-7"},
    {"iso-8859-8", "ISO-8859-8"},
    {"iso-8859-9", "CP1254"},
    {"koi8-r", "KOI8-R"},
    {"koi8-u", "KOI8-U"},
    {"macintosh", "MACINTOSH"},
    {"shift-jis", "CP932"},
    {"shift_jis", "CP932"},
    {"sjis", "CP932"},
    {"utf-16", "UTF-16LE"},
    {"utf-16be", "UTF-16BE"},
    {"utf-16le", "UTF-16LE"},
    {"windows-1250", "CP1250"},
    {"windows-1251", "CP1251"},
    {"windows-1253", "CP1253"},
    {"windows-1254", "CP1254"},
    {"windows-1255", "CP1255"},
    {"windows-1256", "CP1256"},
    {"windows-1257", "CP1257"},
    {"windows-1258", "CP1258"},
    {"windows-31j", "CP932"},
    {"windows-874", "CP874"},
});

void append_utf8(std::string& out, char16_t point) {
  auto unit = [&](unsigned bits) { out.push_back(static_cast<char>(bits)); };
  if (point < 0x80) return unit(point);
  if (point < 0x800) {
    unit(0xC0U | (point >> 6U));
    return unit(0x80U | (point & 0x3FU));
  }
  unit(0xE0U | (point >> 12U));
  unit(0x80U | ((point >> 6U) & 0x3FU));
  unit(0x80U | (point & 0x3FU));
}

std::string from_windows_1252(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    bool is_special = byte >= 0x80 && byte < 0xA0;
    append_utf8(out, is_special ? kWindows1252[byte - 0x80U] : byte);
  }
  return out;
}

// Returns an empty text if the C library has no such decoder.
std::string from_iconv(std::string_view bytes, const char* name) {
  iconv_t decoder = ::iconv_open("UTF-8", name);
  if (decoder == reinterpret_cast<iconv_t>(-1)) return {};
  std::string out;
  std::array<char, 4096> buffer{};
  char* in = const_cast<char*>(bytes.data());
  std::size_t left = bytes.size();
  while (left > 0) {
    char* to = buffer.data();
    std::size_t room = buffer.size();
    std::size_t converted = ::iconv(decoder, &in, &left, &to, &room);
    int cause = errno;
    out.append(buffer.data(), buffer.size() - room);
    if (converted != static_cast<std::size_t>(-1) || cause == E2BIG) continue;
    // An invalid byte, or a character that is cut off at the end of the text.
    out.append(kReplacementCharacter);
    ++in;
    --left;
  }
  ::iconv_close(decoder);
  return out;
}

std::string without_nul(std::string text) {
  if (text.find('\0') == std::string::npos) return text;
  std::string out;
  for (char c : text) out.append(c == '\0' ? kReplacementCharacter : std::string_view(&c, 1));
  return out;
}

std::string decode(std::string_view bytes, std::string_view charset) {
  if (charset == "utf-8" || charset == "utf8") return to_valid_utf8(bytes);
  bool is_unnamed = charset.empty() && count_invalid_utf8(bytes) == 0;
  if (is_unnamed) return std::string(bytes);
  auto known = std::find_if(kKnown.begin(), kKnown.end(),
                            [&](const Known& one) { return one.label == charset; });
  if (known != kKnown.end()) {
    std::string decoded = from_iconv(bytes, known->iconv_name);
    if (!decoded.empty()) return decoded;
  }
  return from_windows_1252(bytes);
}

std::string_view without_quotes(std::string_view text) {
  if (text.starts_with('"') || text.starts_with('\'')) text.remove_prefix(1);
  return text.substr(0, text.find_first_of("\"' \t;/>"));
}

}  // namespace

ContentType ContentType::parse(std::string_view header) {
  ContentType type{.media = to_lower(trim(header.substr(0, header.find(';')))), .charset = {}};
  std::string lower = to_lower(header);
  std::size_t at = lower.find("charset=");
  if (at != std::string::npos) {
    type.charset = without_quotes(std::string_view(lower).substr(at + 8));
  }
  return type;
}

std::string declared_charset(std::string_view html) {
  std::string head = to_lower(html.substr(0, kMetaSearchBytes));
  std::string_view rest = head;
  for (;;) {
    std::size_t meta = rest.find("<meta");
    if (meta == std::string_view::npos) return {};
    rest.remove_prefix(meta + 5);
    std::string_view inside = rest.substr(0, rest.find('>'));
    std::size_t at = inside.find("charset");
    if (at == std::string_view::npos) continue;
    std::string_view value = trim(inside.substr(at + 7));
    if (!value.starts_with('=')) continue;
    std::string charset(without_quotes(trim(value.substr(1))));
    // The search reads single bytes, so the page cannot be in UTF-16, whatever it says.
    return charset.starts_with("utf-16") ? "utf-8" : charset;
  }
}

std::string to_utf8(std::string_view bytes, std::string_view charset) {
  std::string label = to_lower(charset);
  if (bytes.starts_with("\xEF\xBB\xBF")) {
    bytes.remove_prefix(3);
    label = "utf-8";
  } else if (bytes.starts_with("\xFF\xFE")) {
    bytes.remove_prefix(2);
    label = "utf-16le";
  } else if (bytes.starts_with("\xFE\xFF")) {
    bytes.remove_prefix(2);
    label = "utf-16be";
  }
  return without_nul(decode(bytes, label));
}

}  // namespace errand
