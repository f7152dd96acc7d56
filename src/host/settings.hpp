#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "host/config_schema.hpp"
#include "json/value.hpp"
#include "net/client/proxy.hpp"

namespace errand::host {

// What the parts of the configuration file have in common. Every error is an invalid_argument.

// A whole file.
Result<std::string> read_text_file(const std::filesystem::path& path);

// A setting that nobody reads is a typo or a wish; both are better said than ignored. `pointer` is
// that of `value`, which is a `section`.
Result<void> refuse_unknown(const json::Value& value, std::string_view pointer, Section section);

// "did you mean fast?", or "there are: fast, deep" where nothing is close.
std::string meant_or_listed(std::string_view asked, const std::vector<std::string>& known);

// "env:NAME", "file:PATH" or the value itself. An empty one is refused, because it is never meant.
Result<std::string> resolve_secret(const std::string& text, std::string_view pointer,
                                   const net::Environment& environment);

}  // namespace errand::host
