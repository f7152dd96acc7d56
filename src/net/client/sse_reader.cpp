#include "net/client/sse_reader.hpp"

#include <algorithm>
#include <utility>

#include "async/read_aside.hpp"
#include "base/eight_bytes.hpp"
#include "base/text.hpp"

namespace errand::net {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// The number of bytes at `i` that belong together, and whether they are a valid code point. An
// invalid sequence is as long as its valid beginning, so that each mistake becomes one U+FFFD.
std::pair<std::size_t, bool> sequence_at(std::string_view text, std::size_t i) {
  unsigned char first = byte_at(text, i);
  if (first < 0x80) return {1, true};
  if (first < 0xC2 || first > 0xF4) return {1, false};
  std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t k = 1; k < length; ++k) {
    unsigned char next = byte_at(text, i + k);
    if (next < low || next > high) return {k, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

void append_valid(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    auto [length, valid] = sequence_at(text, i);
    out.append(valid ? text.substr(i, length) : kReplacement);
    i += length;
  }
}

// Where the first byte is for which `is_it` holds; the end of the text if there is none. Eight
// bytes at once are passed over where `may_be_among` is false.
template <class MayBeAmong, class IsIt>
std::size_t find_byte(std::string_view text, MayBeAmong may_be_among, IsIt is_it) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(i + EightBytes::kSize, text.size());
    if (end - i < EightBytes::kSize || may_be_among(EightBytes(text.data() + i))) {
      for (; i < end; ++i) {
        if (is_it(text[i])) return i;
      }
    }
    i = end;
  }
  return text.size();
}

std::size_t line_end(std::string_view text) {
  return find_byte(
      text, [](EightBytes bytes) { return bytes.has_below('\r' + 1); },
      [](char c) { return c == '\r' || c == '\n'; });
}

bool is_ascii(std::string_view text) {
  return find_byte(
             text, [](EightBytes bytes) { return bytes.has_non_ascii(); },
             [](char c) { return static_cast<unsigned char>(c) >= 0x80; }) == text.size();
}

bool is_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<std::vector<SseEvent>> SseReader::feed(std::string_view bytes) {
  std::vector<SseEvent> events;
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = line_end(bytes);
    if (line_.size() + end + data_.size() > kEventBytesMax) {
      return Error(ErrorCode::too_large, "a server-sent event is too large")
          .limit("eventBytes", kEventBytesMax);
    }
    if (end == bytes.size()) {
      line_.append(bytes);
      return events;
    }
    after_cr_ = bytes[end] == '\r';
    if (line_.empty()) {
      take_line(bytes.substr(0, end), events);
    } else {
      // The stream may wait for long after it, without the line's memory.
      std::string line = std::exchange(line_, {});
      line.append(bytes.substr(0, end));
      take_line(line, events);
    }
    bytes.remove_prefix(end + 1);
  }
  return events;
}

void SseReader::take_line(std::string_view line, std::vector<SseEvent>& out) {
  if (!std::exchange(started_, true) && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (line.empty()) return dispatch(out);
  std::size_t colon = std::min(line.find(':'), line.size());
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  // A comment is a field without a name.
  if (is_ascii(value)) return take_field(line.substr(0, colon), value);
  std::string valid;
  append_valid(valid, value);
  take_field(line.substr(0, colon), valid);
}

void SseReader::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) data_.push_back('\n');
    has_data_ = true;
    data_.append(value);
  } else if (name == "event") {
    type_ = value;
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) id_ = value;
  } else if (name == "retry") {
    auto millis = parse_integer<int>(value);
    if (millis && is_digits(value)) retry_millis_ = millis;
  }
}

void SseReader::dispatch(std::vector<SseEvent>& out) {
  last_id_ = id_;
  std::string type = std::exchange(type_, {});
  std::string data = std::exchange(data_, {});
  if (!std::exchange(has_data_, false)) return;
  if (type.empty()) type = "message";
  out.push_back({.type = std::move(type), .data = std::move(data), .id = last_id_});
}

// The pool may still be reading when the stream is gone.
Task<Result<std::vector<SseEvent>>> feed_aside(std::shared_ptr<SseReader> reader, std::string bytes,
                                               BlockingPool* pool) {
  if (reader->held_bytes() + bytes.size() <= kBytesInABreath) co_return reader->feed(bytes);
  auto read = [reader, bytes = std::move(bytes)] { return reader->feed(bytes); };
  auto events = co_await surely_aside(pool, std::move(read));
  co_return events;
}

}  // namespace errand::net
