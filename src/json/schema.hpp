#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/parse.hpp"
#include "json/value.hpp"

namespace errand::json {

namespace schema {
struct Program;
}

// Limits on a schema, which may come from a stranger. What is beyond is refused by compile_schema.
constexpr std::size_t kSchemaDepthMax = kDepthMax;        // levels of JSON
constexpr std::size_t kSchemaBytesMax = 2 * 1024 * 1024;  // of text, roughly
constexpr std::size_t kSchemaNodesMax = 20'000;           // subschemas, with those of documents
constexpr std::size_t kSchemaResourcesMax = 1'000;        // subschemas with an $id
constexpr std::size_t kSchemaUriBytesMax = 2'048;         // of an $id or $ref, once resolved
constexpr std::size_t kSchemaPatternsMax = 128;           // different regular expressions
constexpr std::size_t kSchemaInstructionsMax = 200'000;   // of RE2, in all of them together
constexpr std::size_t kPlainSchemaBytesMax = 64 * 1024;   // of text, roughly
constexpr std::size_t kPatternBytesMax = 4'096;           // of one regular expression
constexpr std::int64_t kPatternMemoryMax = 512 * 1024;    // of one, compiled and running

// Limits on one validation. A value that needs more is reported as an error of its own kind.
constexpr std::int64_t kSchemaWorkMax = 4'000'000;  // steps; one is some tens of nanoseconds
constexpr std::size_t kSchemaFramesMax = 1'000;     // subschemas applied within each other
constexpr std::size_t kSchemaErrorsMax = 20;        // errors reported; the rest are left out

// The step budget for validating a value of this size. An honest schema needs about an eighth of a
// step per byte.
constexpr std::int64_t fair_work(std::size_t bytes) {
  constexpr std::int64_t kForAnyValue = 20'000;
  constexpr std::size_t kBytesPerStep = 4;
  return kForAnyValue + static_cast<std::int64_t>(bytes / kBytesPerStep);
}

// Schemas that others may refer to by URI. There is no other way to reach a document: nothing is
// ever fetched. Not changed once a compilation uses it.
class SchemaDocuments final {
 public:
  // `uri` is absolute; a fragment is ignored. A later document replaces an earlier one.
  void add(std::string_view uri, Value document);

  // Null if there is none.
  const Value* find(std::string_view uri) const;

 private:
  std::map<std::string, Value, std::less<>> documents_;
};

// Whether "format" refuses values. A metaschema with the format-assertion vocabulary asks for it
// too. A format that is not known never refuses anything.
enum class Formats { annotate, check };

struct CompileOptions {
  // Must outlive the compilation, not its result.
  const SchemaDocuments* documents = nullptr;
  Formats formats = Formats::annotate;
  std::int64_t work_max = kSchemaWorkMax;
};

enum class SchemaErrorKind : std::uint8_t {
  mismatch,       // the value does not fit the schema
  too_much_work,  // kSchemaWorkMax or kSchemaFramesMax was met, so that nothing is known
};

// Why a value does not fit, for whoever wrote the value.
struct SchemaError {
  std::string pointer;  // into the value
  std::string keyword;  // into the schema: "/properties/days/maximum"; in a document, its uri first
  std::string message;  // "expected an integer from 1 to 14, got 20"
  SchemaErrorKind kind = SchemaErrorKind::mismatch;

  bool operator==(const SchemaError&) const = default;
};

// A line for each error: "/days: expected an integer from 1 to 14, got 20".
std::string describe(const std::vector<SchemaError>& errors);

// A schema ready to check values. Immutable, and independent of the value it was made from.
class CompiledSchema final {
 public:
  CompiledSchema(std::unique_ptr<const schema::Program> program, std::size_t bytes);
  ~CompiledSchema();
  CompiledSchema(const CompiledSchema&) = delete;
  CompiledSchema& operator=(const CompiledSchema&) = delete;

  // Any thread. False also for a value that needs too much work.
  bool accepts(const Value& value) const;

  // Any thread. Empty if the value fits. Costs what accepts() costs for a value that does, and
  // looks again for what is wrong with one that does not. Takes at most so many steps each time,
  // or as many as the schema was compiled with if those are fewer.
  std::vector<SchemaError> validate(const Value& value,
                                    std::int64_t work_max = kSchemaWorkMax) const;

  // Roughly what it takes in memory.
  std::size_t bytes() const { return bytes_; }
  // How many different regular expressions are in it.
  std::size_t patterns() const;

 private:
  std::unique_ptr<const schema::Program> program_;
  std::size_t bytes_;
};

using CompiledSchemaPtr = std::shared_ptr<const CompiledSchema>;

// Compiles a schema of draft 2020-12 (which is also meant without "$schema") or draft 7. Every
// subschema is checked, whether the root refers to it or not.
// invalid_argument: a keyword has a value it cannot have, a reference leads nowhere or only back to
//   itself, or a pattern is no regular expression; the pointer says where. A pattern that RE2 lacks
//   is left unchecked.
// too_large with the reason "too_complex": a limit above was met; the error names it. unsupported:
//   another draft, or an unknown vocabulary.
Result<CompiledSchemaPtr> compile_schema(const Value& schema, const CompileOptions& options = {});
Result<CompiledSchemaPtr> compile_schema(const Object& schema, const CompileOptions& options = {});

// Pointers to the patterns of a schema that RE2 lacks, such as look-ahead: these are not checked.
// Says nothing of schemas that do not compile.
std::vector<std::string> unchecked_patterns(const Value& schema);

// Whether the schema surely compiles, because it is small and consists of keywords such as "type",
// "properties" and "enum" alone, with values that these can have. This takes a tenth of the time
// that compiling does; `false` says nothing.
bool is_plain_schema(const Object& schema);

}  // namespace errand::json
