#include "tool/secrets.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <variant>

#include "base/text.hpp"
#include "json/redact.hpp"
#include "json/write.hpp"
#include "tool/tool.hpp"

namespace errand {
namespace {

void replace_all(std::string& text, std::string_view what) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;) {
    text.replace(at, what.size(), json::kRedacted);
    at += json::kRedacted.size();
  }
}

// How much of the beginning of `what` is at the end of the text; 0 if it is too little to reveal
// anything.
std::size_t begun_at_end(std::string_view text, std::string_view what) {
  constexpr std::size_t kTellingBytes = 4;
  for (std::size_t length = std::min(what.size() - 1, text.size()); length >= kTellingBytes;
       --length) {
    if (text.ends_with(what.substr(0, length))) return length;
  }
  return 0;
}

// The text as it appears between the quotes of a JSON string.
std::string json_escaped(const std::string& text) {
  std::string quoted = json::write(json::Value(text));
  return quoted.substr(1, quoted.size() - 2);
}

struct Blotter {
  const CallSecrets& secrets;

  void operator()(TextContent& part) const { part.text = secrets.blot_out(std::move(part.text)); }
  void operator()(JsonContent& part) const { secrets.blot_out(part.value); }
  void operator()(FileContent& part) const { blot_file(part.file); }
  void operator()(LinkContent& part) const {
    for (std::string* text : {&part.uri, &part.name, &part.description}) blot_text(*text);
  }
  void operator()(ResourceContent& part) const {
    blot_text(part.uri);
    blot_text(part.text);
    if (part.file) blot_file(*part.file);
  }

 private:
  void blot_text(std::string& text) const { text = secrets.blot_out(std::move(text)); }
  void blot_file(FilePart& file) const {
    if (!file.bytes) return;
    std::string bytes = secrets.blot_out(*file.bytes);
    if (bytes != *file.bytes) file.bytes = std::make_shared<const std::string>(std::move(bytes));
  }
};

}  // namespace

bool mentions_secret(std::string_view text) {
  return text.find(kSecretBegin) != std::string_view::npos;
}

bool may_be_secret(std::string_view header, std::string_view value) {
  static constexpr auto kHarmless =
      std::to_array<std::string_view>({"accept", "accept-language", "content-type", "user-agent"});
  bool is_harmless =
      std::find(kHarmless.begin(), kHarmless.end(), to_lower(header)) != kHarmless.end();
  return !value.empty() && !is_harmless && !mentions_secret(value);
}

bool is_valid_secret_name(std::string_view name) {
  return !name.empty() && name.size() <= kSecretNameCharsMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

CallSecrets::CallSecrets(SecretSource* source, WorkspaceSlug workspace)
    : source_(source), workspace_(workspace) {}

Task<Result<std::string>> CallSecrets::find(std::string name) {
  if (!source_) {
    co_return Error(ErrorCode::not_found, cat("there is no secret \"", name, "\""));
  }
  ERRAND_CO_TRY(auto value, co_await source_->find(workspace_, std::move(name)));
  remember(value);
  co_return value;
}

Task<Result<std::string>> CallSecrets::fill(std::string text) {
  std::string out;
  std::string_view rest = text;
  for (;;) {
    const std::size_t begin = rest.find(kSecretBegin);
    if (begin == std::string_view::npos) break;
    append(out, rest.substr(0, begin));
    rest.remove_prefix(begin + kSecretBegin.size());
    const std::size_t end = rest.find(kSecretEnd);
    const std::string name(rest.substr(0, std::min(end, rest.size())));
    if (end == std::string_view::npos || !is_valid_secret_name(name)) {
      co_return Error(ErrorCode::invalid_argument, "expected {{secret:NAME}}");
    }
    rest.remove_prefix(end + kSecretEnd.size());
    ERRAND_CO_TRY(auto value, co_await find(name));
    out += value;
  }
  append(out, rest);
  co_return out;
}

Task<Result<Headers>> CallSecrets::fill(Headers headers) {
  for (auto& [name, value] : headers) {
    if (is_sealed(value) && source_) {
      ERRAND_CO_TRY(value, co_await source_->unseal_header(workspace_, name, value));
      remember(value);
    } else if (mentions_secret(value)) {
      ERRAND_CO_TRY(value, co_await fill(value));
    }
  }
  co_return headers;
}

void CallSecrets::remember(const std::string& value) {
  for (std::string form : {value, percent_encode(value), json_escaped(value)}) {
    if (form.empty() || std::find(given_.begin(), given_.end(), form) != given_.end()) continue;
    given_.push_back(std::move(form));
  }
  // Longer secrets first, because a secret may be part of another one.
  std::sort(given_.begin(), given_.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string CallSecrets::blot_out(std::string text) const {
  for (const std::string& form : given_) replace_all(text, form);
  std::size_t begun = 0;
  for (const std::string& form : given_) begun = std::max(begun, begun_at_end(text, form));
  if (begun == 0) return text;
  text.resize(text.size() - begun);
  return text.append(json::kRedacted);
}

void CallSecrets::blot_out(json::Value& value) const {
  if (given_.empty()) return;
  if (auto* text = value.if_string()) {
    value = blot_out(std::string(json::view(*text)));
  } else if (auto* array = value.if_array()) {
    for (json::Value& item : *array) blot_out(item);
  } else if (auto* object = value.if_object()) {
    json::Object out;
    for (auto& member : *object) {
      blot_out(member.value());
      out[blot_out(std::string(member.key().data(), member.key().size()))] =
          std::move(member.value());
    }
    value = std::move(out);
  } else if (value.is_number()) {
    // A secret made of digits may come back as a number.
    const std::string digits = json::write(value);
    if (std::find(given_.begin(), given_.end(), digits) != given_.end()) value = json::kRedacted;
  }
}

void CallSecrets::blot_out(ToolOutcome& outcome) const {
  if (given_.empty()) return;
  for (Content& part : outcome.content) std::visit(Blotter{*this}, part);
  if (outcome.structured) blot_out(*outcome.structured);
}

}  // namespace errand
