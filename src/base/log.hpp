#pragma once

#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace errand {

enum class LogLevel { info, warning, error };
enum class LogFormat { text, json };

struct LogField {
  std::string_view key;
  std::string value;
};

// Lines for operators on a file descriptor, whole lines only. Safe to call from any thread.
// A value is escaped, so that nothing a peer sends can forge a line or move a cursor.
class Log final {
 public:
  // Lines below `least` are left out.
  Log(const Clock& clock, int fd, LogFormat format, LogLevel least = LogLevel::info);

  void info(std::string_view message, std::initializer_list<LogField> fields = {});
  void warning(std::string_view message, std::initializer_list<LogField> fields = {});
  void error(std::string_view message, std::initializer_list<LogField> fields = {});

 private:
  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields);

  const Clock& clock_;
  const int fd_;
  const LogFormat format_;
  const LogLevel least_;
  std::mutex mutex_;
};

}  // namespace errand
