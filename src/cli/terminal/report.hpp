#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "sdk/api_client.hpp"
#include "sdk/credentials.hpp"

namespace errand::cli {

// What the commands that talk to a server have in common.

// A whole answer of the server, or what is wrong. Blocks.
Result<json::Value> ask(const sdk::Credentials& server, sdk::ApiRequest request);

// "errand: MESSAGE" and "hint: ..." lines, safe to show.
std::string describe_for_people(const Error& error);

// The exit code that an error of the server, or of the way to it, means.
int exit_code_of(const Error& error);

// Shows an error on stderr; returns its exit code.
int fail(const Error& error);
// The same for an error in what the user typed.
int fail_usage(const Error& error);
// The same for what find_server says.
int fail_setup(const Error& error);

// Writes to stdout; returns the exit code. A reader that has gone away is fine.
int print(std::string_view text);
int print_json(const json::Value& value);

// find_server with the environment of this process.
Result<sdk::Credentials> find_server_here(const sdk::ServerFlags& flags);

}  // namespace errand::cli
