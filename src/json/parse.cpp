#include "json/parse.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/memory_resource.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <unordered_set>

#include "base/text.hpp"
#include "json/brief_value.hpp"

namespace errand::json {
namespace {

namespace bj = boost::json;
using ErrorFlag = boost::system::error_code;

// Builds a value like Boost.JSON's own handler, but reads doubles with from_chars and counts object
// members, so that duplicates can be found afterwards.
struct Handler {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  Handler() {}  // not the default one, with which the parser would fill all memory with zeros

  // Most texts have no more open values at a time than fit here.
  alignas(Value) unsigned char first_memory[2048];
  bj::value_stack stack{bj::storage_ptr(), first_memory, sizeof first_memory};
  std::string number;
  std::size_t members_seen = 0;
  std::size_t values_left = static_cast<std::size_t>(-1);
  bool has_too_many = false;

  // Counts a value. Returns false if there are too many.
  bool counts(ErrorFlag& error) {
    if (values_left-- > 0) return true;
    has_too_many = true;
    error = bj::error::array_too_large;
    return false;
  }

  bool on_document_begin(ErrorFlag&) { return true; }
  bool on_document_end(ErrorFlag&) { return true; }
  bool on_object_begin(ErrorFlag& error) { return counts(error); }
  bool on_object_end(std::size_t size, ErrorFlag&) {
    members_seen += size;
    stack.push_object(size);
    return true;
  }
  bool on_array_begin(ErrorFlag& error) { return counts(error); }
  bool on_array_end(std::size_t size, ErrorFlag&) {
    stack.push_array(size);
    return true;
  }
  bool on_key_part(bj::string_view text, std::size_t, ErrorFlag&) {
    stack.push_chars(text);
    return true;
  }
  bool on_key(bj::string_view text, std::size_t, ErrorFlag&) {
    stack.push_key(text);
    return true;
  }
  bool on_string_part(bj::string_view text, std::size_t, ErrorFlag&) {
    stack.push_chars(text);
    return true;
  }
  bool on_string(bj::string_view text, std::size_t, ErrorFlag& error) {
    stack.push_string(text);
    return counts(error);
  }
  bool on_number_part(bj::string_view text, ErrorFlag&) {
    number.append(text.data(), text.size());
    return true;
  }
  bool on_int64(std::int64_t value, bj::string_view, ErrorFlag& error) {
    number.clear();
    stack.push_int64(value);
    return counts(error);
  }
  bool on_uint64(std::uint64_t value, bj::string_view, ErrorFlag& error) {
    number.clear();
    stack.push_uint64(value);
    return counts(error);
  }
  bool on_double(double rough, bj::string_view text, ErrorFlag& error) {
    number.append(text.data(), text.size());
    double exact = 0;
    auto read = std::from_chars(number.data(), number.data() + number.size(), exact);
    number.clear();
    if (read.ec == std::errc::result_out_of_range) {
      if (std::fabs(rough) > 1) {
        error = bj::error::exponent_overflow;
        return false;
      }
      exact = 0;  // closer to zero than any double
    }
    stack.push_double(exact);
    return counts(error);
  }
  bool on_bool(bool value, ErrorFlag& error) {
    stack.push_bool(value);
    return counts(error);
  }
  bool on_null(ErrorFlag& error) {
    stack.push_null();
    return counts(error);
  }
  bool on_comment_part(bj::string_view, ErrorFlag&) { return true; }
  bool on_comment(bj::string_view, ErrorFlag&) { return true; }
};

std::size_t count_members(const Value& value) {
  std::size_t count = 0;
  if (const auto* object = value.if_object()) {
    count = object->size();
    for (const auto& member : *object) count += count_members(member.value());
  } else if (const auto* array = value.if_array()) {
    for (const auto& item : *array) count += count_members(item);
  }
  return count;
}

// Finds the first repeated key, for the error message; the text is known to be valid JSON.
struct DuplicateFinder : Handler {
  std::vector<std::unordered_set<std::string>> open;
  std::string key;
  std::string duplicate;

  bool on_object_begin(ErrorFlag&) {
    open.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, ErrorFlag&) {
    open.pop_back();
    return true;
  }
  bool on_array_end(std::size_t, ErrorFlag&) { return true; }
  bool on_key_part(bj::string_view text, std::size_t, ErrorFlag&) {
    key.append(text.data(), text.size());
    return true;
  }
  bool on_key(bj::string_view text, std::size_t, ErrorFlag&) {
    key.append(text.data(), text.size());
    if (!open.back().insert(key).second && duplicate.empty()) duplicate = key;
    key.clear();
    return true;
  }
  bool on_string_part(bj::string_view, std::size_t, ErrorFlag&) { return true; }
  bool on_string(bj::string_view, std::size_t, ErrorFlag&) { return true; }
  bool on_number_part(bj::string_view, ErrorFlag&) { return true; }
  bool on_int64(std::int64_t, bj::string_view, ErrorFlag&) { return true; }
  bool on_uint64(std::uint64_t, bj::string_view, ErrorFlag&) { return true; }
  bool on_double(double, bj::string_view, ErrorFlag&) { return true; }
  bool on_bool(bool, ErrorFlag&) { return true; }
  bool on_null(ErrorFlag&) { return true; }
};

bj::parse_options parser_options(ParseOptions options) {
  bj::parse_options out;
  out.max_depth = options.depth_max;
  out.allow_comments = options.comments == Comments::allow;
  out.allow_trailing_commas = options.comments == Comments::allow;
  return out;
}

std::string first_duplicate(std::string_view text, ParseOptions options) {
  bj::basic_parser<DuplicateFinder> parser(parser_options(options));
  ErrorFlag error;
  parser.write_some(false, text.data(), text.size(), error);
  return parser.handler().duplicate;
}

std::optional<unsigned> escaped_unit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return {};
  unsigned unit = 0;
  auto end = std::from_chars(text.data() + at + 2, text.data() + at + 6, unit, 16);
  if (end.ptr != text.data() + at + 6) return {};
  return unit;
}

// Replaces \uD800-\uDFFF escapes that do not form a pair; empty if there is none.
std::string without_lone_surrogates(std::string_view text) {
  if (text.find("\\ud") == std::string_view::npos && text.find("\\uD") == std::string_view::npos) {
    return {};
  }
  std::string out;
  bool changed = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      out.push_back(text[i++]);
      continue;
    }
    auto unit = escaped_unit(text, i);
    if (!unit || *unit < 0xD800 || *unit > 0xDFFF) {
      out.append(text.substr(i, 2));
      i += 2;
      continue;
    }
    auto low = escaped_unit(text, i + 6);
    if (*unit < 0xDC00 && low && *low >= 0xDC00 && *low <= 0xDFFF) {
      out.append(text.substr(i, 12));
      i += 12;
    } else {
      out += "\\ufffd";
      changed = true;
      i += 6;
    }
  }
  return changed ? out : std::string();
}

Error describe(const ErrorFlag& error, std::size_t at) {
  if (error == bj::error::too_deep) {
    return Error(ErrorCode::invalid_argument,
                 cat("the JSON is nested deeper than ", kDepthMax, " levels"))
        .limit("jsonDepth", kDepthMax);
  }
  return {ErrorCode::invalid_argument, cat("not valid JSON: ", error.message(), " at byte ", at)};
}

// Memory for one value: taken from a few large blocks while the value is read, and freed with them.
// Boost.JSON makes copies of a value in the memory of the original: copies use the heap as usual,
// and keep this object alive.
class Pieces final : public bj::memory_resource {
 public:
  // Boost.JSON hides it behind a counting pointer: `self` is set to its address.
  Pieces(std::size_t bytes, Pieces** self) : next_bytes_(bytes) { *self = this; }

  // From now on memory comes from the heap.
  void close() { is_open_ = false; }

 private:
  struct Piece {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };

  void* do_allocate(std::size_t bytes, std::size_t align) override {
    if (!is_open_) return ::operator new(bytes, std::align_val_t(align));
    if (pieces_.empty() || !std::align(align, bytes, free_, free_bytes_)) {
      add_piece(bytes + align);
      std::align(align, bytes, free_, free_bytes_);
    }
    void* taken = free_;
    free_ = static_cast<std::byte*>(free_) + bytes;
    free_bytes_ -= bytes;
    return taken;
  }

  void do_deallocate(void* taken, std::size_t bytes, std::size_t align) override {
    for (const Piece& piece : pieces_) {
      if (std::less_equal<>()(piece.bytes.get(), taken) &&
          std::less<>()(taken, piece.bytes.get() + piece.size)) {
        return;
      }
    }
    ::operator delete(taken, bytes, std::align_val_t(align));
  }

  bool do_is_equal(const bj::memory_resource& other) const noexcept override {
    return this == &other;
  }

  void add_piece(std::size_t bytes_min) {
    const std::size_t size = std::max(next_bytes_, bytes_min);
    pieces_.push_back({.bytes = std::make_unique_for_overwrite<std::byte[]>(size), .size = size});
    free_ = pieces_.back().bytes.get();
    free_bytes_ = size;
    next_bytes_ = 2 * size;
  }

  bool is_open_ = true;
  std::vector<Piece> pieces_;
  void* free_ = nullptr;
  std::size_t free_bytes_ = 0;
  std::size_t next_bytes_;
};

Result<Value> parse_into(bj::storage_ptr memory, std::string_view text, ParseOptions options) {
  std::string repaired = without_lone_surrogates(text);
  if (!repaired.empty()) text = repaired;

  bj::basic_parser<Handler> parser(parser_options(options));
  parser.handler().stack.reset(std::move(memory));
  parser.handler().values_left = options.values_max;
  ErrorFlag error;
  std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read != text.size()) error = bj::error::extra_data;
  if (parser.handler().has_too_many) {
    return Error(ErrorCode::invalid_argument,
                 cat("the JSON has more than ", options.values_max, " values"))
        .reason("too_complex")
        .limit("jsonValues", static_cast<std::int64_t>(options.values_max));
  }
  if (error) return describe(error, read);

  Value value = parser.handler().stack.release();
  if (options.duplicate_keys == DuplicateKeys::refuse &&
      count_members(value) != parser.handler().members_seen) {
    return Error(ErrorCode::invalid_argument,
                 cat("the JSON has the key \"", first_duplicate(text, options), "\" twice"));
  }
  return value;
}

}  // namespace

Result<Value> parse(std::string_view text, ParseOptions options) {
  return parse_into({}, text, options);
}

Result<std::shared_ptr<const Value>> parse_shared(std::string_view text, ParseOptions options) {
  // The memory that a text of names and descriptions usually takes as a value.
  Pieces* pieces = nullptr;
  bj::storage_ptr memory = bj::make_shared_resource<Pieces>(2 * text.size(), &pieces);
  ERRAND_TRY(Value value, parse_into(memory, text, options));
  pieces->close();
  return std::make_shared<const Value>(std::move(value));
}

Result<const Value*> BriefValue::parse(std::string_view text, ParseOptions options) {
  ERRAND_TRY(value_, parse_into(&memory_, text, options));
  return &value_;
}

}  // namespace errand::json
