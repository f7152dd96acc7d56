#include "sdk/credentials.hpp"

#include <fstream>
#include <iterator>

#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "net/url.hpp"

namespace errand::sdk {
namespace {

Error no_server(const std::filesystem::path& file) {
  return Error(ErrorCode::not_found, cat("no server: there is no file ", file.string()))
      .hint("start one with 'errand serve', or name one with --server URL --key KEY");
}

}  // namespace

Result<void> write_credentials(const std::filesystem::path& file, const Credentials& credentials) {
  std::string text;
  json::ObjectWriter(text)
      .field("url", credentials.url)
      .field("workspace", credentials.workspace)
      .field("key", credentials.key)
      .end();
  text += '\n';
  return write_whole_file(file, text);
}

Result<Credentials> read_credentials(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error(ErrorCode::not_found, cat("there is no file ", file.string()));
  std::string text(std::istreambuf_iterator<char>(in), {});
  auto value = json::parse(text);
  if (!value)
    return Error(ErrorCode::invalid_argument, cat(file.string(), ": ", value.error().message()));
  json::Fields fields(*value, "");
  Credentials credentials{
      .url = fields.text("url"), .workspace = fields.text("workspace"), .key = fields.text("key")};
  return fields.finish(std::move(credentials));
}

std::filesystem::path data_directory(const ServerFlags& flags) {
  return flags.data.value_or("./.errand");
}

std::filesystem::path credentials_file(const std::filesystem::path& data) {
  return data / "credentials";
}

Result<Credentials> find_server(const ServerFlags& flags, const char* environment_key) {
  Credentials server{.url = std::string(net::without_trailing_slashes(flags.server)),
                     .workspace = flags.workspace,
                     .key = flags.key};
  if (!server.key.empty()) server.key_source = "of --key";
  if (server.key.empty() && environment_key) {
    server.key = environment_key;
    server.key_source = "of the variable ERRAND_API_KEY";
  }

  std::filesystem::path file = credentials_file(data_directory(flags));
  auto kept = read_credentials(file);
  bool is_needed = server.url.empty() || server.key.empty();
  if (!kept && is_needed && kept.error().code() != ErrorCode::not_found) return kept.error();
  if (!kept && server.url.empty()) return no_server(file);
  if (kept && (server.url.empty() || server.url == net::without_trailing_slashes(kept->url))) {
    server.url = net::without_trailing_slashes(kept->url);
    if (server.key.empty()) {
      server.key = kept->key;
      server.key_source = cat("in ", file.string());
    }
    if (server.workspace.empty()) server.workspace = kept->workspace;
  }
  if (server.workspace.empty()) server.workspace = "default";
  auto parsed = net::parse_url(server.url);
  if (!parsed) {
    return Error(parsed.error().code(),
                 cat("--server ", server.url, ": ", parsed.error().message()));
  }
  if (server.key.empty()) {
    return Error(ErrorCode::unauthorized, cat("no key for the server ", server.url))
        .hint("give one with --key KEY, or in the environment variable ERRAND_API_KEY");
  }
  return server;
}

}  // namespace errand::sdk
