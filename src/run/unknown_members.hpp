#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/fields.hpp"
#include "json/value.hpp"

// Members of a request that mean nothing here. Protocol endpoints accept them, because newer
// clients send more than this server knows, and say so in their answers. Errand's own endpoints
// refuse them.
namespace errand {

// More are not told.
inline constexpr std::size_t kUnknownToldMax = 20;

using KnownMembers = std::span<const std::string_view>;

// Appends a line for each member of an object that is not known: "/promt: unknown member; did you
// mean prompt?". What is no object has none.
void add_unknown_members(std::vector<std::string>& lines, const json::Value& value,
                         std::string_view pointer, KnownMembers known);

// invalid_argument: the first member that is not known, with the closest name.
Result<void> refuse_unknown_members(const json::Value& value, KnownMembers known);
// The same for the object that `in` reads.
void refuse_unknown_members(json::Fields& in, const json::Value& value, KnownMembers known);

// The same as add_unknown_members for a tool ref, by its kind.
void add_unknown_of_tool(std::vector<std::string>& lines, const json::Value& ref,
                         std::string_view pointer);

bool is_known(std::string_view key, KnownMembers known);

// The members of a run's body. Bodies of sessions, messages and forks are read as such, too.
KnownMembers run_members();
// The members that mean something in a fork. All others are taken from the run that is forked.
KnownMembers fork_members();
KnownMembers budget_members();
// The members of a tool ref of a kind; none for a kind that no caller may send.
KnownMembers tool_members(std::string_view kind);

}  // namespace errand
