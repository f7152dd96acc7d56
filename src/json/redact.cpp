#include "json/redact.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::json {
namespace {

constexpr auto kSecretWords = std::to_array<std::string_view>(
    {"authorization", "token", "secret", "password", "passphrase", "passwd", "apikey", "cookie",
     "credential", "credentials", "privatekey", "accesskey"});
constexpr auto kSecretTables = std::to_array<std::string_view>({"headers", "env"});

// "X-Api_Key" and "xApiKey" are one name.
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

bool is_secret_table(const std::string& name) {
  return std::find(kSecretTables.begin(), kSecretTables.end(), name) != kSecretTables.end();
}

// Every value below, with the names and the shape kept.
void blot_out(Value& value) {
  if (auto* object = value.if_object()) {
    for (auto& member : *object) blot_out(member.value());
  } else if (auto* array = value.if_array()) {
    for (Value& item : *array) blot_out(item);
  } else {
    value = kRedacted;
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
    std::string name = plain_name({member.key().data(), member.key().size()});
    if (is_secret_table(name)) {
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
