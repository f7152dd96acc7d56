#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <ratio>

#include <errand/detail/scalars.hpp>

namespace errand::ERRAND_V1::detail {

// A fraction of a second, or a number of seconds.
struct Unit {
  std::int64_t num;
  std::int64_t den;
};
template <class Period>
inline constexpr Unit kUnit = {Period::num, Period::den};

// {"type": "integer", "description": "In seconds."}.
Json duration_schema(Json number, Unit unit);
Json time_schema(std::string_view format);

// RFC 3339 times, as counts of a unit since 1970. A fraction that the unit cannot hold is refused.
bool read_time(Reader& reader, const Json& json, Unit unit, std::int64_t& count);
Json write_time(std::int64_t count, Unit unit);
struct Date {
  int year;
  unsigned month;
  unsigned day;
};
bool read_date(Reader& reader, const Json& json, Date& out);
Json write_date(Date date);

template <class Rep, class Period>
struct Type<std::chrono::duration<Rep, Period>> : Plain {
  static constexpr Shape kShape = Shape::number;
  using T = std::chrono::duration<Rep, Period>;

  static bool read(Reader& reader, const Json& json, T& out) {
    Rep count{};
    if (!Type<Rep>::read(reader, json, count)) return false;
    out = T(count);
    return true;
  }
  static Json write(const T& value) { return Type<Rep>::write(value.count()); }
  static Json schema(SchemaBuilder& builder) {
    return duration_schema(Type<Rep>::schema(builder), kUnit<Period>);
  }
};

template <class Clock, class Duration>
  requires(!std::same_as<std::chrono::time_point<Clock, Duration>, std::chrono::sys_days>)
struct Type<std::chrono::time_point<Clock, Duration>> : Plain {
  static_assert(
      std::same_as<Clock, std::chrono::system_clock>,
      "errand: only the system clock has a date; use std::chrono::sys_time or a duration.");
  static_assert(
      std::integral<typename Duration::rep>,
      "errand: a time in JSON needs an integer duration, such as std::chrono::sys_seconds.");
  using T = std::chrono::time_point<Clock, Duration>;

  static bool read(Reader& reader, const Json& json, T& out) {
    std::int64_t count = 0;
    if (!read_time(reader, json, kUnit<typename Duration::period>, count)) return false;
    if (!Type<typename Duration::rep>::fits(count)) {
      return reader.fail("the time is too far from 1970");
    }
    out = T(Duration(static_cast<typename Duration::rep>(count)));
    return true;
  }
  static Json write(const T& value) {
    return write_time(static_cast<std::int64_t>(value.time_since_epoch().count()),
                      kUnit<typename Duration::period>);
  }
  static Json schema(SchemaBuilder&) { return time_schema("date-time"); }
};

// Both forms of a day.
template <class T>
  requires(std::same_as<T, std::chrono::year_month_day> || std::same_as<T, std::chrono::sys_days>)
struct Type<T> : Plain {
  static bool read(Reader& reader, const Json& json, T& out) {
    Date date{};
    if (!read_date(reader, json, date)) return false;
    out = std::chrono::year_month_day(std::chrono::year(date.year), std::chrono::month(date.month),
                                      std::chrono::day(date.day));
    return true;
  }
  static Json write(const T& value) {
    std::chrono::year_month_day day(value);
    return write_date({static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                       static_cast<unsigned>(day.day())});
  }
  static Json schema(SchemaBuilder&) { return time_schema("date"); }
};

}  // namespace errand::ERRAND_V1::detail
