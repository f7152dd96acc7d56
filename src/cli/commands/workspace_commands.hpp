#pragma once

#include <string>
#include <vector>

#include "cli/show/answer_text.hpp"

namespace errand::cli {

// `errand keys ...`, `errand oauth ...`, `errand workspaces ...` and `errand models`. Each returns
// the exit code.

struct NewKeyOptions {
  std::string name;
  std::vector<std::string> scopes;  // none: everything
  std::vector<std::string> agents;  // none: all agents
  double expires_seconds = 0;       // 0: never
};

// Prints the key alone on stdout: it is never shown again. In a data directory that no server uses,
// the key also becomes the one of the credentials file, if that is gone.
int create_key(const AnswerOptions& options, const NewKeyOptions& key);
int list_keys(const AnswerOptions& options);
int revoke_key(const AnswerOptions& options, const std::string& id);
// Prints the client's id, secret and refresh token as variables of a shell.
int create_oauth_client(const AnswerOptions& options, const NewKeyOptions& client);
int list_oauth_clients(const AnswerOptions& options);
int delete_oauth_client(const AnswerOptions& options, const std::string& id);
// Prints the first key of the workspace alone on stdout.
int create_workspace(const AnswerOptions& options, const std::string& slug,
                     const std::string& name);
int list_workspaces(const AnswerOptions& options);
// `config` is that of the models without a server.
int list_models(const AnswerOptions& options, const std::string& config);

}  // namespace errand::cli
