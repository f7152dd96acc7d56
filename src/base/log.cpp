#include "base/log.hpp"

#include <unistd.h>

#include "base/text.hpp"

namespace errand {
namespace {

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
  }
  return "error";
}

void append_unit(std::string& out, unsigned char byte) {
  constexpr char kHex[] = "0123456789abcdef";
  append(out, "\\u00", kHex[byte >> 4U], kHex[byte & 15U]);
}

// Includes the control characters U+0080 to U+009F, which some terminals obey.
void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    auto byte = static_cast<unsigned char>(text[0]);
    std::size_t length = utf8_sequence_length(text);
    if (byte == '"' || byte == '\\') {
      append(out, '\\', text[0]);
    } else if (byte < 0x20 || byte == 0x7f) {
      append_unit(out, byte);
    } else if (length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) {
      append_unit(out, static_cast<unsigned char>(text[1]));
    } else {
      append(out, length == 0 ? "\\ufffd" : text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out.push_back('"');
  append_escaped(out, text);
  out.push_back('"');
}

}  // namespace

Log::Log(const Clock& clock, int fd, LogFormat format, LogLevel least)
    : clock_(clock), fd_(fd), format_(format), least_(least) {}

void Log::info(std::string_view message, std::initializer_list<LogField> fields) {
  write(LogLevel::info, message, fields);
}

void Log::warning(std::string_view message, std::initializer_list<LogField> fields) {
  write(LogLevel::warning, message, fields);
}

void Log::error(std::string_view message, std::initializer_list<LogField> fields) {
  write(LogLevel::error, message, fields);
}

void Log::write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (level < least_) return;
  std::string line;
  if (format_ == LogFormat::json) {
    append(line, R"({"at":")", to_iso8601(clock_.now()), R"(","level":")", level_name(level),
           R"(","message":)");
    append_quoted(line, message);
    for (const LogField& field : fields) {
      append(line, ",\"", field.key, "\":");
      append_quoted(line, field.value);
    }
    line += "}\n";
  } else {
    append(line, to_iso8601(clock_.now()), " ", level_name(level), " ");
    append_escaped(line, message);
    for (const LogField& field : fields) {
      append(line, " ", field.key, "=");
      append_quoted(line, field.value);
    }
    line += "\n";
  }
  std::lock_guard lock(mutex_);
  // A failure to write the log must not stop the work that the log describes.
  [[maybe_unused]] auto written = ::write(fd_, line.data(), line.size());
}

}  // namespace errand
