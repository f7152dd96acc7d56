#include "cli/operate/config_commands.hpp"

#include <filesystem>
#include <string_view>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "host/config.hpp"
#include "host/environment.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kModelIdChars = 200;
constexpr std::string_view kFirstConfig = R"(// The configuration of Errand: JSON with comments.
// errand run --config errand.json "Hello"
// errand serve --config errand.json
{
  // Models that runs may name. The first is the default, unless "defaultModel" names another.
  "models": [
    { "id": "demo", "provider": "demo", "label": "Demo" }
    // Vendor keys stay out of this file:
    // , { "id": "fast", "provider": "openai", "vendorModelId": "gpt-5.4-mini",
    //     "apiKey": "env:OPENAI_API_KEY" }
    // , { "id": "local", "provider": "openai-compatible", "vendorModelId": "llama",
    //     "baseUrl": "http://127.0.0.1:8000/v1" }
  ],
  "limits": {
    "maxToolTurns": 50,           // turns with tool calls in a run
    "localToolTimeoutMs": 300000  // how long a run waits for the answer of a client
  }
}
)";

}  // namespace

int init_config(const ConfigInitOptions& options) {
  ignore_broken_pipes();
  std::error_code ignored;
  bool is_there = std::filesystem::exists(std::filesystem::symlink_status(options.file, ignored));
  if (is_there && !options.force) {
    return fail_usage(Error(ErrorCode::conflict, cat("there is a file ", options.file, " already"))
                          .hint("--force replaces it"));
  }
  auto written = write_whole_file(options.file, kFirstConfig);
  if (!written) return fail(written.error());
  return print(cat("wrote ", clean_text(options.file), "; 'errand config check ",
                   clean_text(options.file), "' checks what you make of it\n"));
}

int check_config(const std::string& file) {
  ignore_broken_pipes();
  auto config = host::read_config(file, host::environment_here());
  if (!config) return fail_usage(config.error());
  std::string models;
  for (const host::ModelConfig& model : config->models) {
    append(models, models.empty() ? "" : ", ", clean_line(model.info.id, kModelIdChars));
  }
  return print(cat(clean_text(file), " is right: ", config->models.size(),
                   config->models.size() == 1 ? " model (" : " models (", models, ")\n"));
}

}  // namespace errand::cli
