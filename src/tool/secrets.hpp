#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "json/value.hpp"
#include "run/ids.hpp"
#include "run/tools/tool_ref.hpp"

namespace errand {

struct ToolOutcome;

// The secrets of all workspaces. Lives on the engine's home.
class SecretSource {
 public:
  virtual ~SecretSource() = default;
  // not_found: the workspace has no such secret. unavailable, conflict: it cannot be read; the
  // message says why, and never what it is.
  virtual Task<Result<std::string>> find(WorkspaceSlug workspace, std::string name) = 0;
  // The value of a header that was sealed when its run was made; see is_sealed.
  virtual Task<Result<std::string>> unseal_header(WorkspaceSlug workspace, std::string header,
                                                  std::string sealed) = 0;
};

// The secrets that one call is made with. Remembers what it has given out, so that none of it gets
// into what the call says: a peer may well repeat what it was sent.
class CallSecrets final {
 public:
  // Without a source (nullptr) there are no secrets. The source outlives the call.
  CallSecrets(SecretSource* source, WorkspaceSlug workspace);

  // See SecretSource::find.
  Task<Result<std::string>> find(std::string name);
  // The text with each "{{secret:NAME}}" replaced. invalid_argument: a placeholder is malformed.
  Task<Result<std::string>> fill(std::string text);
  // The same for each value, those that are sealed included.
  Task<Result<Headers>> fill(Headers headers);

  // A secret that the call has from elsewhere is kept out of what it says, too.
  void remember(const std::string& value);

  // Nothing was given out, so nothing is to be blotted out.
  bool empty() const { return given_.empty(); }
  // The same without the secrets: as they are, percent-encoded, and escaped for JSON. The beginning
  // of a secret at the end of the text goes, too, because whoever made the text may have cut it
  // off there. So a text is cut first and extended after this, or cut after this.
  std::string blot_out(std::string text) const;
  void blot_out(json::Value& value) const;
  void blot_out(ToolOutcome& outcome) const;

 private:
  SecretSource* const source_;
  const WorkspaceSlug workspace_;
  std::vector<std::string> given_;  // each in every form that it is blotted out in, longest first
};

// What stands for a secret in a text: "{{secret:NAME}}".
inline constexpr std::string_view kSecretBegin = "{{secret:";
inline constexpr std::string_view kSecretEnd = "}}";
bool mentions_secret(std::string_view text);

// Whether the value of a header may be a key: not if the header only says what is sent or wanted,
// nor if its value names secrets instead of holding them.
bool may_be_secret(std::string_view header, std::string_view value);

// How a sealed value of a header begins.
inline constexpr std::string_view kSealedBegin = "errand-sealed:";
inline bool is_sealed(std::string_view value) {
  return value.starts_with(kSealedBegin);
}

// Letters, digits, dots, underscores and dashes.
constexpr std::size_t kSecretNameCharsMax = 64;
bool is_valid_secret_name(std::string_view name);

}  // namespace errand
