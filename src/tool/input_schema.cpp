#include "tool/input_schema.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace errand {
namespace {

struct Draft {
  std::string_view named;  // without scheme and "#"
  std::string_view read_as;
};
constexpr auto kOtherDrafts = std::to_array<Draft>({
    {"json-schema.org/draft-04/schema", "http://json-schema.org/draft-07/schema#"},
    {"json-schema.org/draft-06/schema", "http://json-schema.org/draft-07/schema#"},
    {"json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema"},
});

// The draft that the schema is compiled as; empty if that is the draft it names.
std::string_view other_draft(const json::Object& schema) {
  const json::Value* value = schema.if_contains("$schema");
  const auto* text = value ? value->if_string() : nullptr;
  if (!text) return {};
  std::string_view uri = json::view(*text);
  if (uri.ends_with('#')) uri.remove_suffix(1);
  for (std::string_view scheme : {"https://", "http://"}) {
    if (uri.starts_with(scheme)) uri.remove_prefix(scheme.size());
  }
  auto found = std::find_if(kOtherDrafts.begin(), kOtherDrafts.end(),
                            [&](const Draft& draft) { return draft.named == uri; });
  return found == kOtherDrafts.end() ? std::string_view() : found->read_as;
}

Result<json::CompiledSchemaPtr> compile(json::SchemaCache& cache, const json::Object& schema) {
  std::string_view draft = other_draft(schema);
  if (draft.empty()) return cache.get(schema);
  json::Object mapped = schema;
  mapped["$schema"] = draft;
  return cache.get(mapped);
}

// Any error in the schema is the sender's.
Result<json::CompiledSchemaPtr> as_mistake_of_sender(Result<json::CompiledSchemaPtr> compiled) {
  if (compiled) return compiled;
  const Error& why = compiled.error();
  Error error =
      Error(ErrorCode::invalid_argument, why.message()).pointer(why.pointer()).reason(why.reason());
  if (why.limit().empty()) return error;
  return std::move(error).limit(why.limit(), why.max());
}

}  // namespace

Result<json::CompiledSchemaPtr> compile_input_schema(json::SchemaCache& cache,
                                                     const json::Object& schema) {
  return as_mistake_of_sender(compile(cache, schema));
}

Result<json::CompiledSchemaPtr> compile_input_schema(json::SchemaCache& cache,
                                                     const SchemaPtr& schema) {
  if (!other_draft(*schema).empty()) return compile_input_schema(cache, *schema);
  return as_mistake_of_sender(cache.get(schema));
}

}  // namespace errand
