#include "host/settings.hpp"

#include <algorithm>

#include "base/close_names.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "json/fields.hpp"

namespace errand::host {
namespace {

constexpr std::size_t kListedBytesMax = 1000;
constexpr std::size_t kFileBytesMax = std::size_t{16} * 1024 * 1024;  // more is no configuration

Error setting_error(std::string message, std::string_view pointer) {
  return Error(ErrorCode::invalid_argument, std::move(message)).pointer(pointer);
}

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& path) {
  auto text = read_whole_file(path, kFileBytesMax);
  if (text) return text;
  return Error(ErrorCode::invalid_argument, text.error().message());
}

Result<void> refuse_unknown(const json::Value& value, std::string_view pointer, Section section) {
  if (!value.is_object()) return {};
  std::vector<std::string> known = settings_of(section);
  for (const auto& member : value.get_object()) {
    std::string_view key(member.key().data(), member.key().size());
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return setting_error(cat("\"", key, "\" is not a setting here; ", meant_or_listed(key, known)),
                         json::child_pointer(pointer, key));
  }
  return {};
}

std::string meant_or_listed(std::string_view asked, const std::vector<std::string>& known) {
  std::string meant = did_you_mean(asked, known);
  if (!meant.empty()) return meant;
  std::string listed;
  for (const std::string& one : known) {
    if (listed.size() > kListedBytesMax) return cat("there are: ", listed, " and more");
    append(listed, listed.empty() ? "" : ", ", one);
  }
  return cat("there are: ", listed);
}

Result<std::string> resolve_secret(const std::string& text, std::string_view pointer,
                                   const net::Environment& environment) {
  if (text.starts_with("env:")) {
    std::string name = text.substr(4);
    auto value = environment(name);
    if (value && !value->empty()) return std::move(*value);
    return setting_error(cat("the environment variable ", name, " is not set"), pointer);
  }
  if (text.starts_with("file:")) {
    std::string path = text.substr(5);
    auto content = read_text_file(path);
    if (!content) return setting_error(content.error().message(), pointer);
    while (content->ends_with('\n') || content->ends_with('\r')) content->pop_back();
    if (content->empty()) return setting_error(cat("the file ", path, " is empty"), pointer);
    return content;
  }
  if (text.empty()) return setting_error("an empty value: leave it out, or name one", pointer);
  return text;
}

}  // namespace errand::host
