#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "sdk/environment.hpp"

namespace errand::sdk {

// How to reach a server. `errand serve` writes it into its data directory; the other commands read
// it there unless flags or the environment name another server.
struct Credentials {
  std::string url;
  std::string workspace = "default";
  std::string key;
  std::string key_source = {};  // where the key was found, for people; not in the file
};

// Replaces the file whole; only its owner may read it.
Result<void> write_credentials(const std::filesystem::path& file, const Credentials& credentials);

// The same for the file of a data directory. Root gives the file to the owner of the directory, who
// runs the server there.
Result<void> write_data_credentials(const std::filesystem::path& data,
                                    const Credentials& credentials);

// not_found: there is no file. unavailable: it cannot be read. invalid_argument: it holds something
// else.
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

// The server that a command or a program talks to, from the first of these that names one:
//   1. the flags; a data directory that they name is the only place whose file is read;
//   2. ERRAND_SERVER;
//   3. .errand/credentials in `folder`, or in the nearest folder above it that has the file;
//   4. login_file, which `errand login` writes.
// The key is that of the flags, then ERRAND_API_KEY, then the file's. A file's key is sent only to
// the file's server, and ERRAND_API_KEY not to the server of a data directory that the flags name
// while ERRAND_SERVER names another. Files 3 and 4 belong to this user, who alone may read them:
// others' files are passed over, and a file with a wider mode is an error. The trailing slashes of
// the URL are gone.
// not_found: no server is named anywhere. unauthorized: no key is. unavailable: a file cannot be
// read, or others may read it. invalid_argument, unsupported: what is named is wrong.
Result<Credentials> find_server(const ServerFlags& flags, const Environment& environment,
                                const std::filesystem::path& folder);

// The same with the environment and the working folder of this process.
Result<Credentials> find_server_here(const ServerFlags& flags);

// The file that find_server_here reads if neither flags nor environment name anything: 3 or 4 of
// the above. Nothing if there is none. unavailable: it cannot be used.
Result<std::optional<std::filesystem::path>> nearest_credentials_here();

// A server that the user names as a whole, as it is kept: its URL is checked and without trailing
// slashes. invalid_argument, unsupported: it is no URL that we can use.
Result<Credentials> checked_server(Credentials server);

// Where `errand login` keeps the server of this user: errand/credentials in XDG_CONFIG_HOME, or in
// ~/.config. Nothing without a home.
std::optional<std::filesystem::path> login_file(const Environment& environment);

std::filesystem::path credentials_file(const std::filesystem::path& data);

}  // namespace errand::sdk
