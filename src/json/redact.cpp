#include "json/redact.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::json {
namespace {

constexpr auto kSecretWords = std::to_array<std::string_view>(
    {"authorization", "token", "secret", "password", "passphrase", "passwd", "apikey", "cookie",
     "credential", "credentials", "privatekey", "accesskey"});
constexpr auto kSecretTables = std::to_array<std::string_view>({"headers", "env"});

// Members of a JSON Schema: tables of schemas by names that the schema's author chose,
constexpr auto kSchemaTables = std::to_array<std::string_view>(
    {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"});
// schemas or lists of them,
constexpr auto kSchemas = std::to_array<std::string_view>(
    {"items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf", "not", "if", "then",
     "else", "contains", "propertyNames"});
// and keywords that describe the form of a value, and not the value.
constexpr auto kShapeWords = std::to_array<std::string_view>({"type",
                                                              "title",
                                                              "description",
                                                              "format",
                                                              "pattern",
                                                              "required",
                                                              "$ref",
                                                              "minLength",
                                                              "maxLength",
                                                              "minimum",
                                                              "maximum",
                                                              "exclusiveMinimum",
                                                              "exclusiveMaximum",
                                                              "multipleOf",
                                                              "minItems",
                                                              "maxItems",
                                                              "uniqueItems",
                                                              "minProperties",
                                                              "maxProperties",
                                                              "nullable",
                                                              "readOnly",
                                                              "writeOnly",
                                                              "deprecated",
                                                              "contentEncoding",
                                                              "contentMediaType"});

bool is_one_of(std::span<const std::string_view> words, std::string_view name) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

// Makes "X-Api_Key" and "xApiKey" equal.
std::string plain_name(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out.push_back(c);
  }
  return out;
}

bool is_secret_name(const std::string& name) {
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](std::string_view word) { return name.ends_with(word); });
}

// Replaces every value below; names and structure stay.
void blot_out(Value& value) {
  if (auto* object = value.if_object()) {
    for (auto& member : *object) blot_out(member.value());
  } else if (auto* array = value.if_array()) {
    for (Value& item : *array) blot_out(item);
  } else {
    value = kRedacted;
  }
}

// The schema of a secret is not a secret, but may hold one as a default or an example. Keywords
// that describe the form of the value stay, so that the schema can still be used, and the rest is
// removed.
void keep_shape(Value& schema) {
  if (auto* array = schema.if_array()) {
    for (Value& item : *array) keep_shape(item);
    return;
  }
  if (schema.is_bool()) return;
  auto* object = schema.if_object();
  if (!object) {
    schema = kRedacted;
    return;
  }
  for (auto& member : *object) {
    std::string_view word(member.key().data(), member.key().size());
    auto* table = is_one_of(kSchemaTables, word) ? member.value().if_object() : nullptr;
    if (table) {
      for (auto& one : *table) keep_shape(one.value());
    } else if (is_one_of(kSchemas, word)) {
      keep_shape(member.value());
    } else if (!is_one_of(kShapeWords, word)) {
      blot_out(member.value());
    }
  }
}

void redact_schemas(Object& table) {
  for (auto& member : table) {
    std::string name = plain_name({member.key().data(), member.key().size()});
    if (is_secret_name(name) || is_one_of(kSecretTables, name)) {
      keep_shape(member.value());
    } else {
      redact_secrets(member.value());
    }
  }
}

void redact_arguments(Value& value) {
  auto arguments = parse(view(value.get_string()), {.duplicate_keys = DuplicateKeys::last_wins});
  if (!arguments || !arguments->is_structured()) return;
  Value redacted = *arguments;
  redact_secrets(redacted);
  if (redacted != *arguments) value = write(redacted);
}

}  // namespace

void redact_secrets(Value& value) {
  if (auto* array = value.if_array()) {
    for (Value& item : *array) redact_secrets(item);
    return;
  }
  auto* object = value.if_object();
  if (!object) return;
  for (auto& member : *object) {
    std::string_view key(member.key().data(), member.key().size());
    std::string name = plain_name(key);
    if (is_one_of(kSchemaTables, key) && member.value().is_object()) {
      redact_schemas(member.value().get_object());
    } else if (is_one_of(kSecretTables, name)) {
      blot_out(member.value());
    } else if (is_secret_name(name)) {
      member.value() = kRedacted;
    } else if (name == "arguments" && member.value().is_string()) {
      redact_arguments(member.value());
    } else {
      redact_secrets(member.value());
    }
  }
}

}  // namespace errand::json
