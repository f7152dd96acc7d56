#pragma once

#include <array>
#include <string_view>

// The members of bodies that refuse any other. Parsers read these tables, and a test compares the
// document with them. The tables of agents, HTTP tools and forks stand beside their parsers.
namespace errand::server {

inline constexpr auto kWorkspaceMembers = std::to_array<std::string_view>({"slug", "name"});
inline constexpr auto kKeyMembers =
    std::to_array<std::string_view>({"name", "scopes", "agents", "ttlMs"});
inline constexpr auto kOAuthClientMembers =
    std::to_array<std::string_view>({"name", "scopes", "agents"});
inline constexpr auto kSecretMembers = std::to_array<std::string_view>({"name", "value"});
inline constexpr auto kClaimMembers = std::to_array<std::string_view>({"ttlMs"});
inline constexpr auto kExtendMembers = std::to_array<std::string_view>({"claimId", "ttlMs"});
inline constexpr auto kProgressMembers =
    std::to_array<std::string_view>({"message", "progress", "total"});
inline constexpr auto kRoomMembers = std::to_array<std::string_view>({"name"});
inline constexpr auto kRoomKeyMembers = std::to_array<std::string_view>({"name"});
inline constexpr auto kRoomTokenMembers =
    std::to_array<std::string_view>({"name", "role", "api", "ttlMs"});
inline constexpr auto kToolTestMembers = std::to_array<std::string_view>({"arguments"});

}  // namespace errand::server
