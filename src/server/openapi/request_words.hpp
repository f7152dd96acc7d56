#pragma once

#include <array>
#include <string_view>

// Words of requests that handlers read. A test compares the document with these lists.
namespace errand::server {

// Good first: the place is that of engine::Feedback::Verdict.
inline constexpr auto kVerdicts = std::to_array<std::string_view>({"UP", "DOWN"});
inline constexpr auto kGrantTypes =
    std::to_array<std::string_view>({"refresh_token", "client_credentials"});

}  // namespace errand::server
