#include "json/schema/format_time.hpp"

#include <algorithm>
#include <optional>

#include "base/ascii.hpp"

namespace errand::json::schema {
namespace {

constexpr int kMinutesPerDay = 24 * 60;

// Cuts exactly `count` digits off the front.
std::optional<int> digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return {};
  int out = 0;
  for (char c : text.substr(0, count)) {
    if (!is_digit(c)) return {};
    out = out * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return out;
}

bool skip(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

int days_in(int month, int year) {
  if (month == 2) return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Cuts an offset off the front, in minutes from UTC: "Z", "+01:30".
std::optional<int> offset(std::string_view& text) {
  if (skip(text, 'Z') || skip(text, 'z')) return 0;
  int sign = 0;
  if (skip(text, '+')) sign = 1;
  if (sign == 0 && skip(text, '-')) sign = -1;
  auto hours = digits(text, 2);
  bool colon = skip(text, ':');
  auto minutes = digits(text, 2);
  if (sign == 0 || !hours || !colon || !minutes || *hours > 23 || *minutes > 59) return {};
  return sign * (*hours * 60 + *minutes);
}

// Skips numbers with one of the units each; units come in order and at most once.
bool skip_units(std::string_view& text, std::string_view units) {
  bool any = false;
  while (!text.empty() && is_digit(text.front())) {
    auto count = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) -
                                          text.begin());
    if (count == text.size()) return false;
    auto unit = units.find(text[count]);
    // Units between the first and the last cannot be left out: "P1Y2D" is not a duration.
    if (unit == units.npos || (any && unit != 0)) return false;
    text.remove_prefix(count + 1);
    units.remove_prefix(unit + 1);
    any = true;
  }
  return any;
}

}  // namespace

bool is_date(std::string_view text) {
  auto year = digits(text, 4);
  bool first = skip(text, '-');
  auto month = digits(text, 2);
  bool second = skip(text, '-');
  auto day = digits(text, 2);
  if (!year || !first || !month || !second || !day || !text.empty()) return false;
  return *month >= 1 && *month <= 12 && *day >= 1 && *day <= days_in(*month, *year);
}

bool is_time(std::string_view text) {
  auto hour = digits(text, 2);
  bool first = skip(text, ':');
  auto minute = digits(text, 2);
  bool second_colon = skip(text, ':');
  auto second = digits(text, 2);
  if (!hour || !first || !minute || !second_colon || !second) return false;
  if (skip(text, '.')) {
    auto fraction = std::find_if_not(text.begin(), text.end(), is_digit) - text.begin();
    if (fraction == 0) return false;
    text.remove_prefix(static_cast<std::size_t>(fraction));
  }
  auto from_utc = offset(text);
  if (!from_utc || !text.empty() || *hour > 23 || *minute > 59 || *second > 60) return false;
  int utc = (*hour * 60 + *minute - *from_utc + 2 * kMinutesPerDay) % kMinutesPerDay;
  return *second < 60 || utc == kMinutesPerDay - 1;
}

bool is_date_time(std::string_view text) {
  if (text.size() < 11 || (text[10] != 'T' && text[10] != 't')) return false;
  return is_date(text.substr(0, 10)) && is_time(text.substr(11));
}

bool is_duration(std::string_view text) {
  if (!skip(text, 'P')) return false;
  std::string_view weeks = text;
  if (skip_units(weeks, "W") && weeks.empty()) return true;
  bool date = skip_units(text, "YMD");
  if (skip(text, 'T')) return skip_units(text, "HMS") && text.empty();
  return date && text.empty();
}

}  // namespace errand::json::schema
