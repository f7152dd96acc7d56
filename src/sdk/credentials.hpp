#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace errand::sdk {

// How to reach a server. `errand serve` writes it into its data directory; the other commands read
// it there when they are not told otherwise.
struct Credentials {
  std::string url;
  std::string workspace = "default";
  std::string key;
  std::string key_source = {};  // where the key was found, for people; not in the file
};

// Replaces the file whole; only its owner may read it.
Result<void> write_credentials(const std::filesystem::path& file, const Credentials& credentials);

// not_found: there is no file. invalid_argument: it is not one of ours.
Result<Credentials> read_credentials(const std::filesystem::path& file);

// What the flags of a command say about the server it talks to.
struct ServerFlags {
  std::string server;
  std::string key;
  std::string workspace;
  std::optional<std::string> data;  // the default one if it is not said
};

// The data directory that the flags mean.
std::filesystem::path data_directory(const ServerFlags& flags);

// The server that a command talks to. Flags come first, then `environment_key` (null if it is not
// set), then the credentials file in the data directory. The file's key is never sent to another
// server than the file's. The trailing slashes of the URL are gone.
// not_found: no server is named anywhere. unauthorized: no key is. invalid_argument, unsupported:
// what is named is wrong.
Result<Credentials> find_server(const ServerFlags& flags, const char* environment_key);

std::filesystem::path credentials_file(const std::filesystem::path& data);

}  // namespace errand::sdk
