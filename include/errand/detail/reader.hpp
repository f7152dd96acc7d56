#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <errand/json.hpp>

// What the compiled half does for all types: it reads and writes objects by a table of their
// members, so that a type costs a compiler little.
namespace errand::ERRAND_V1::detail {

// Deeper values are refused, so that no recursion exhausts a stack.
inline constexpr std::size_t kDepthMax = 200;

// Reads a Json into C++ values and knows where it is. The first error stops it.
class Reader final {
 public:
  // For the life of a Step the reader is in this member or item.
  class Step final {
   public:
    Step(Reader& reader, std::string_view name) : reader_(reader) {
      reader.enter({name, 0, false});
    }
    Step(Reader& reader, std::size_t index) : reader_(reader) { reader.enter({{}, index, true}); }
    ~Step() { reader_.path_.pop_back(); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Reader& reader_;
  };

  // Records an error at this place. Always false.
  bool fail(std::string message);
  // "expected an integer, got a string". Always false.
  bool expected(std::string_view what, const Json& got);

  // The items or members; null, with an error, if there are none or too many levels.
  const JsonArray* array(const Json& json, std::size_t items_min = 0,
                         std::size_t items_max = static_cast<std::size_t>(-1));
  const JsonObject* object(const Json& json);
  const std::string* string(const Json& json);

  Error error() const;

  // For a variant, which tries its alternatives: forgets the error.
  struct Attempt {
    std::string pointer;
    std::string message;
    std::size_t depth = 0;  // how far into the value the attempt came
  };
  Attempt take_error();
  bool fail(const Attempt& attempt);
  std::string pointer() const;

 private:
  struct Place {
    std::string_view name;
    std::size_t index;
    bool is_index;
  };
  void enter(Place place) { path_.push_back(place); }

  std::vector<Place> path_;
  Attempt error_;
};

// Both bounds, as the 64 bits of either sign.
struct IntegerRange {
  std::int64_t min;
  std::uint64_t max;
};
bool read_bool(Reader& reader, const Json& json, bool& out);
bool read_integer(Reader& reader, const Json& json, IntegerRange range, std::uint64_t& bits);
bool read_number(Reader& reader, const Json& json, double& out);
// The double that a float is written as: itself if it has no more digits than a float may need, or
// the shortest that is read as the same float: 0.1, and not 0.10000000149011612.
double widened(float value);
bool read_text(Reader& reader, const Json& json, std::string& out);

}  // namespace errand::ERRAND_V1::detail
