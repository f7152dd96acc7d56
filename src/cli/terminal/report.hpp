#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/value.hpp"
#include "sdk/internal/api_client.hpp"
#include "sdk/internal/server_flags.hpp"

namespace errand::cli {

// What the commands that talk to a server have in common.

// Works with the server that the flags mean; returns the exit code of the work, or that of what is
// wrong with the flags. A reader that goes away does not end the process.
int with_server(const sdk::ServerFlags& flags, const std::function<int(sdk::ApiClient&)>& work);

// "errand: MESSAGE" and "hint: ..." lines, safe to show.
std::string describe_for_people(const Error& error);

// The exit code that an error of the server, or of the way to it, means.
int exit_code_of(const Error& error);

// The same for what find_server says.
int setup_exit_code(const Error& error);

// Shows an error on stderr; returns its exit code.
int fail(const Error& error);
// The same for an error in what the user typed.
int fail_usage(const Error& error);
// The same for what find_server says.
int fail_setup(const Error& error);

// Writes to stdout; returns the exit code. A reader that has gone away is fine.
int print(std::string_view text);
int print_json(const json::Value& value);

}  // namespace errand::cli
