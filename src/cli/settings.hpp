#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/value.hpp"
#include "net/proxy.hpp"

namespace errand::cli {

// What the parts of the configuration file have in common. Every error is an invalid_argument.

// A whole file.
Result<std::string> read_text_file(const std::filesystem::path& path);

// A setting that nobody reads is a typo or a wish; both are better said than ignored. `pointer` is
// that of `value`.
Result<void> refuse_unknown(const json::Value& value, std::string_view pointer,
                            std::initializer_list<std::string_view> known);

// "env:NAME", "file:PATH" or the value itself. An empty one is refused, because it is never meant.
Result<std::string> resolve_secret(const std::string& text, std::string_view pointer,
                                   const net::Environment& environment);

}  // namespace errand::cli
