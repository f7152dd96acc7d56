#pragma once

namespace errand::cli {

// Exit codes of all commands.
constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;       // the run failed, or the command could not do its work
constexpr int kExitUsage = 2;        // wrong flags or a wrong configuration file
constexpr int kExitUnreachable = 3;  // cannot connect or authenticate
constexpr int kExitInterrupted = 130;

}  // namespace errand::cli
