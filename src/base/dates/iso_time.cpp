#include "base/dates/iso_time.hpp"

namespace errand {
namespace {

// Reads the parts of a text one after the other. After the first mistake, it reads nothing more.
class IsoReader final {
 public:
  explicit IsoReader(std::string_view text) : rest_(text) {}

  // A number of exactly `digits` digits, from 0 to `max`.
  int number(std::size_t digits, int max) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      char c = i < rest_.size() ? rest_[i] : ' ';
      if (c < '0' || c > '9') is_wrong_ = true;
      value = value * 10 + (c - '0');
    }
    if (is_wrong_ || value > max) return fail();
    rest_.remove_prefix(digits);
    return value;
  }
  bool take(char c) {
    bool is_next = rest_.starts_with(c);
    if (is_next) rest_.remove_prefix(1);
    return is_next;
  }
  void need(char c) {
    if (!take(c)) fail();
  }
  int fraction_millis() {
    int millis = 0;
    int digits = 0;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1)) {
      if (digits++ < 3) millis = millis * 10 + (rest_[0] - '0');
    }
    if (digits == 0) return fail();
    for (; digits < 3; ++digits) millis *= 10;
    return millis;
  }
  bool is_over() const { return is_wrong_ || rest_.empty(); }
  bool is_wrong() const { return is_wrong_; }

 private:
  int fail() {
    is_wrong_ = true;
    return 0;
  }

  std::string_view rest_;
  bool is_wrong_ = false;
};

milliseconds read_offset(IsoReader& in) {
  if (in.take('Z') || in.take('z')) return {};
  const bool is_behind = in.take('-');
  if (!is_behind) in.need('+');
  std::chrono::minutes offset = std::chrono::hours(in.number(2, 23));
  in.need(':');
  offset += std::chrono::minutes(in.number(2, 59));
  return is_behind ? -offset : offset;
}

milliseconds read_time(IsoReader& in) {
  if (!in.take('T') && !in.take('t')) in.need(' ');
  milliseconds time = std::chrono::hours(in.number(2, 23));
  in.need(':');
  time += std::chrono::minutes(in.number(2, 59));
  if (in.take(':')) {
    time += std::chrono::seconds(in.number(2, 59));
    if (in.take('.')) time += milliseconds(in.fraction_millis());
  }
  return time - read_offset(in);
}

}  // namespace

std::optional<WallTime> parse_iso8601(std::string_view text) {
  IsoReader in(text);
  const std::chrono::year year(in.number(4, 9999));
  in.need('-');
  const std::chrono::month month(static_cast<unsigned>(in.number(2, 12)));
  in.need('-');
  const std::chrono::day day(static_cast<unsigned>(in.number(2, 31)));
  milliseconds time{};
  if (!in.is_over()) time = read_time(in);
  const std::chrono::year_month_day date(year, month, day);
  if (in.is_wrong() || !in.is_over() || !date.ok()) return {};
  return WallTime(std::chrono::sys_days(date).time_since_epoch()) + time;
}

}  // namespace errand
