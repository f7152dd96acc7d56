#include <errand/detail/time.hpp>

#include <chrono>
#include <limits>

#include "base/text.hpp"

namespace errand::v1::detail {
namespace {

// Wide enough for nanoseconds of any year.
__extension__ using Wide = __int128;

constexpr std::int64_t kNanos = 1'000'000'000;
constexpr std::int64_t kDaySeconds = 86'400;

std::string unit_name(Unit unit) {
  struct Name {
    Unit unit;
    std::string_view name;
  };
  constexpr Name kNames[] = {
      {{1, kNanos}, "nanoseconds"}, {{1, 1'000'000}, "microseconds"},
      {{1, 1'000}, "milliseconds"}, {{1, 1}, "seconds"},
      {{60, 1}, "minutes"},         {{3'600, 1}, "hours"},
      {{kDaySeconds, 1}, "days"},   {{7 * kDaySeconds, 1}, "weeks"},
  };
  for (const Name& one : kNames) {
    if (one.unit.num == unit.num && one.unit.den == unit.den) return std::string(one.name);
  }
  if (unit.den == 1) return cat("units of ", unit.num, " seconds");
  return cat("units of ", unit.num, "/", unit.den, " seconds");
}

// Reads fixed numbers of digits, and separators, from the front of a text.
class Digits {
 public:
  explicit Digits(std::string_view text) : text_(text) {}

  int number(std::size_t count) {
    int out = 0;
    for (std::size_t i = 0; i < count; ++i) {
      int digit = next_digit();
      if (digit < 0) ok_ = false;
      out = out * 10 + digit;
    }
    return out;
  }
  void skip(std::string_view any_of) {
    if (text_.empty() || any_of.find(text_.front()) == std::string_view::npos) {
      ok_ = false;
    } else {
      text_.remove_prefix(1);
    }
  }
  bool next_is(std::string_view any_of) const {
    return !text_.empty() && any_of.find(text_.front()) != std::string_view::npos;
  }
  int next_digit() {
    if (text_.empty() || text_.front() < '0' || text_.front() > '9') return -1;
    int out = text_.front() - '0';
    text_.remove_prefix(1);
    return out;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
  bool ok_ = true;
};

std::chrono::year_month_day read_day(Digits& digits) {
  int year = digits.number(4);
  digits.skip("-");
  int month = digits.number(2);
  digits.skip("-");
  int day = digits.number(2);
  if (!digits.ok()) return {};
  return {std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
          std::chrono::day(static_cast<unsigned>(day))};
}

struct Moment {
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
};

// An offset such as "+02:00", in seconds.
std::int64_t read_offset(Digits& digits) {
  if (digits.next_is("Zz")) {
    digits.skip("Zz");
    return 0;
  }
  int sign = digits.next_is("-") ? -1 : 1;
  digits.skip("+-");
  int hours = digits.number(2);
  digits.skip(":");
  int minutes = digits.number(2);
  return sign * (hours * 3'600 + minutes * 60);
}

std::optional<Moment> parse_moment(std::string_view text) {
  Digits digits(text);
  std::chrono::year_month_day day = read_day(digits);
  digits.skip("Tt ");
  int hours = digits.number(2);
  digits.skip(":");
  int minutes = digits.number(2);
  digits.skip(":");
  int seconds = digits.number(2);
  Moment out;
  if (digits.next_is(".")) {
    digits.skip(".");
    std::int64_t scale = kNanos;
    int digit = digits.next_digit();
    if (digit < 0) return {};
    // Digits beyond nanoseconds have to be zeros.
    for (; digit >= 0; digit = digits.next_digit()) {
      scale /= 10;
      if (scale == 0 && digit != 0) return {};
      out.nanos += digit * scale;
    }
  }
  std::int64_t offset = read_offset(digits);
  if (!digits.ok() || !digits.at_end() || !day.ok()) return {};
  if (hours > 23 || minutes > 59 || seconds > 59) return {};
  auto days = std::chrono::sys_days(day).time_since_epoch().count();
  out.seconds = std::int64_t{days} * kDaySeconds + hours * 3'600 + minutes * 60 + seconds - offset;
  return out;
}

void append_padded(std::string& out, std::int64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out += digits;
}

void append_date(std::string& out, Date date) {
  append_padded(out, date.year, 4);
  out.push_back('-');
  append_padded(out, date.month, 2);
  out.push_back('-');
  append_padded(out, date.day, 2);
}

[[noreturn]] void throw_no_time() {
  throw Error(ErrorCode::invalid_argument, "a time in JSON is from the year 0 to 9999");
}

}  // namespace

Json duration_schema(Json number, Unit unit) {
  number["description"] = cat("In ", unit_name(unit), ".");
  return number;
}

Json time_schema(std::string_view format) {
  return JsonObject{{"type", "string"}, {"format", format}};
}

bool read_time(Reader& reader, const Json& json, Unit unit, std::int64_t& count) {
  const std::string* text = json.if_string();
  auto moment = text ? parse_moment(*text) : std::nullopt;
  if (!moment) return reader.expected("a time such as \"2026-02-28T09:30:00Z\"", json);
  Wide nanos = Wide{moment->seconds} * kNanos + moment->nanos;
  Wide scaled = nanos * unit.den;
  Wide step = Wide{unit.num} * kNanos;
  if (scaled % step != 0) {
    return reader.fail(cat("the time is more exact than ", unit_name(unit)));
  }
  Wide units = scaled / step;
  if (units > std::numeric_limits<std::int64_t>::max() ||
      units < std::numeric_limits<std::int64_t>::min()) {
    return reader.fail("the time is too far from 1970");
  }
  count = static_cast<std::int64_t>(units);
  return true;
}

Json write_time(std::int64_t count, Unit unit) {
  Wide nanos = Wide{count} * unit.num * kNanos / unit.den;
  Wide seconds = nanos / kNanos;
  std::int64_t fraction = static_cast<std::int64_t>(nanos % kNanos);
  if (fraction < 0) {
    fraction += kNanos;
    --seconds;
  }
  constexpr std::int64_t kFirst = -62'167'219'200;  // 0000-01-01
  constexpr std::int64_t kEnd = 253'402'300'800;    // 10000-01-01
  if (seconds < kFirst || seconds >= kEnd) throw_no_time();
  auto point = std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
  auto midnight = std::chrono::floor<std::chrono::days>(point);
  std::chrono::year_month_day day(midnight);
  std::int64_t rest = (point - midnight).count();
  std::string out;
  append_date(out, {static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                    static_cast<unsigned>(day.day())});
  out.push_back('T');
  append_padded(out, rest / 3'600, 2);
  out.push_back(':');
  append_padded(out, rest / 60 % 60, 2);
  out.push_back(':');
  append_padded(out, rest % 60, 2);
  if (fraction != 0) {
    out.push_back('.');
    append_padded(out, fraction, 9);
    while (out.ends_with('0')) out.pop_back();
  }
  out.push_back('Z');
  return out;
}

bool read_date(Reader& reader, const Json& json, Date& out) {
  const std::string* text = json.if_string();
  Digits digits(text ? std::string_view(*text) : std::string_view());
  std::chrono::year_month_day day = read_day(digits);
  if (!digits.ok() || !digits.at_end() || !day.ok()) {
    return reader.expected("a date such as \"2026-02-28\"", json);
  }
  out = {static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
         static_cast<unsigned>(day.day())};
  return true;
}

Json write_date(Date date) {
  std::chrono::year_month_day day(std::chrono::year(date.year), std::chrono::month(date.month),
                                  std::chrono::day(date.day));
  if (date.year < 0 || date.year > 9999 || !day.ok()) throw_no_time();
  std::string out;
  append_date(out, date);
  return out;
}

}  // namespace errand::v1::detail
