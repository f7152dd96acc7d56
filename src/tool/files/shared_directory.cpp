#include "tool/files/shared_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "crypto/random.hpp"

namespace errand {
namespace {

constexpr int kRaceAttempts = 16;
constexpr std::size_t kShownPathChars = 200;

std::string quoted(const std::string& path) {
  return cat("\"", clean_line(path, kShownPathChars), "\"");
}

// Repeats the call if the kernel could not finish it because names changed meanwhile.
int open_at(int root, const char* path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  for (int attempt = 0; attempt < kRaceAttempts; ++attempt) {
    fd = ::syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return static_cast<int>(fd);
}

Error open_error(const std::string& path, int number) {
  switch (number) {
    case ENOENT: return {ErrorCode::not_found, cat("there is no ", quoted(path))};
    case ENOTDIR:
      return {ErrorCode::not_found,
              cat(quoted(path), " leads through something that is not a directory")};
    case EXDEV:
      return {ErrorCode::forbidden,
              cat(quoted(path), " is outside the shared directory: use paths relative to it")};
    case ELOOP:
      return {ErrorCode::forbidden,
              cat(quoted(path), " is a symbolic link that cannot be followed")};
    case EACCES:
    case EPERM: return {ErrorCode::forbidden, cat("there is no permission to read ", quoted(path))};
    default:
      return {ErrorCode::unavailable,
              cat("cannot open ", quoted(path), ": ", std::generic_category().message(number))};
  }
}

Error write_error(const std::string& path, int number) {
  bool is_denied = number == EACCES || number == EPERM || number == EROFS;
  return {is_denied ? ErrorCode::forbidden : ErrorCode::unavailable,
          cat("cannot write ", quoted(path), ": ", std::generic_category().message(number))};
}

EntryKind kind_of_mode(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::file;
  if (S_ISDIR(mode)) return EntryKind::directory;
  return S_ISLNK(mode) ? EntryKind::link : EntryKind::other;
}

Entry entry_of(int directory, std::string name) {
  struct stat status{};
  Entry entry{.name = std::move(name), .kind = EntryKind::other};
  if (::fstatat(directory, entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return entry;
  entry.kind = kind_of_mode(status.st_mode);
  entry.bytes = entry.kind == EntryKind::file ? status.st_size : 0;
  return entry;
}

// The data directory holds keys and the contents of other runs.
constexpr std::string_view kDataDirectory = ".errand";

// Whether the opened file is a data directory or in one, whatever links led there. If that cannot
// be found out, the answer is yes.
bool is_in_data_directory(const Descriptor& opened) {
  std::error_code error;
  std::filesystem::path place =
      std::filesystem::read_symlink(cat("/proc/self/fd/", opened.get()), error);
  return error || std::find(place.begin(), place.end(), kDataDirectory) != place.end();
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

Result<SharedDirectory> SharedDirectory::open(const std::filesystem::path& directory,
                                              std::filesystem::path withheld) {
  Descriptor root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) {
    return Error(ErrorCode::invalid_argument,
                 cat("cannot read the directory ", quoted(directory.string()), ": ",
                     std::generic_category().message(errno)));
  }
  Descriptor probe(open_at(root.get(), ".", O_PATH));
  if (!probe.is_open()) {
    return Error(ErrorCode::unsupported,
                 cat("this system cannot keep file access inside a directory (",
                     std::generic_category().message(errno),
                     "): openat2 is needed, which Linux has since 5.6"));
  }
  if (is_in_data_directory(probe)) {
    return Error(ErrorCode::invalid_argument,
                 cat(quoted(directory.string()), " cannot be shared: it holds the data of Errand"));
  }
  return SharedDirectory(std::move(root), std::move(withheld));
}

Result<Descriptor> SharedDirectory::open_beneath(const std::string& path,
                                                 std::uint64_t flags) const {
  if (path.find('\0') != std::string::npos) {
    return Error(ErrorCode::invalid_argument, "a path holds no NUL byte");
  }
  Descriptor opened(open_at(root_.get(), path.empty() ? "." : path.c_str(), flags));
  if (!opened.is_open()) return open_error(path, errno);
  if (is_in_data_directory(opened)) {
    return Error(ErrorCode::forbidden,
                 cat(quoted(path), " is not shared: it belongs to the data of Errand"));
  }
  return opened;
}

// O_PATH looks without opening: even opening a FIFO or a device can have effects.
Result<EntryKind> SharedDirectory::kind_of(const std::string& path) const {
  ERRAND_TRY(auto place, open_beneath(path, O_PATH));
  struct stat status{};
  if (::fstat(place.get(), &status) != 0) return open_error(path, errno);
  return kind_of_mode(status.st_mode);
}

Result<FileTree::File> SharedDirectory::open_file(const std::string& path) const {
  ERRAND_TRY(EntryKind kind, kind_of(path));
  if (kind == EntryKind::directory) {
    return Error(ErrorCode::invalid_argument, cat(quoted(path), " is a directory"));
  }
  Error not_a_file(ErrorCode::invalid_argument,
                   cat(quoted(path), " is not a file but a pipe, a socket or a device"));
  if (kind != EntryKind::file) return not_a_file;
  // The name may lead to another file by now; O_NONBLOCK keeps a FIFO from blocking.
  ERRAND_TRY(auto descriptor, open_beneath(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0) return open_error(path, errno);
  if (!S_ISREG(status.st_mode)) return not_a_file;
  if (is_withheld(status.st_dev, status.st_ino)) {
    return Error(ErrorCode::forbidden, cat(quoted(path), " is not shared: it holds a key"));
  }
  return File{.descriptor = std::move(descriptor), .bytes = status.st_size};
}

Result<FileTree::Listing> SharedDirectory::list(const std::string& path) const {
  ERRAND_TRY(EntryKind kind, kind_of(path));
  if (kind != EntryKind::directory) {
    return Error(ErrorCode::invalid_argument, cat(quoted(path), " is not a directory"));
  }
  ERRAND_TRY(auto descriptor, open_beneath(path, O_RDONLY | O_DIRECTORY));
  std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(descriptor.get()));
  if (!directory) return open_error(path, errno);
  int fd = descriptor.release();  // the stream closes it
  Listing listing;
  while (const dirent* found = ::readdir(directory.get())) {
    std::string name = found->d_name;
    if (name == "." || name == ".." || name == kDataDirectory) continue;
    if (listing.entries.size() == kEntriesMax) {
      listing.has_more = true;
      break;
    }
    listing.entries.push_back(entry_of(fd, std::move(name)));
  }
  std::sort(listing.entries.begin(), listing.entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return listing;
}

// ---- Writing ------------------------------------------------------------------------------------

bool SharedDirectory::is_withheld(std::uint64_t device, std::uint64_t inode) const {
  struct stat kept{};
  return !withheld_.empty() && ::stat(withheld_.c_str(), &kept) == 0 && kept.st_dev == device &&
         kept.st_ino == inode;
}

Result<Descriptor> SharedDirectory::make_folders(const std::string& path) const {
  constexpr std::uint64_t kFolder = O_RDONLY | O_DIRECTORY;
  ERRAND_TRY(auto folder, open_beneath("", kFolder));
  std::size_t depth = 0;
  for (std::size_t end = 0; end < path.size();) {
    std::size_t begin = end;
    end = std::min(path.find('/', begin), path.size());
    std::string name = path.substr(begin, end - begin);
    if (end < path.size()) ++end;
    if (name.empty() || name == ".") continue;
    if (++depth > kDepthMax || name == kDataDirectory) {
      return Error(ErrorCode::forbidden, cat(quoted(path), " cannot be made here"));
    }
    std::string so_far = path.substr(0, end);
    auto next = open_beneath(so_far, kFolder);
    if (!next && next.error().code() == ErrorCode::not_found) {
      constexpr mode_t kMode = 0777;
      if (::mkdirat(folder.get(), name.c_str(), kMode) != 0 && errno != EEXIST) {
        return write_error(so_far, errno);
      }
      next = open_beneath(so_far, kFolder);
    }
    if (!next) return next.error();
    folder = std::move(*next);
  }
  return folder;
}

namespace {

// A file beside the file that it is to replace. It is removed unless it is put in place.
class NewFile final {
 public:
  NewFile(const Descriptor& folder, std::string name, mode_t mode)
      : folder_(folder),
        name_(std::move(name)),
        file_(::openat(folder.get(), name_.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)) {}
  ~NewFile() {
    if (file_.is_open()) ::unlinkat(folder_.get(), name_.c_str(), 0);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const Descriptor& file() const { return file_; }
  // Returns false with the reason in errno.
  bool put_in_place(const std::string& name) {
    if (::renameat(folder_.get(), name_.c_str(), folder_.get(), name.c_str()) != 0) return false;
    file_ = Descriptor();
    return true;
  }

 private:
  const Descriptor& folder_;
  const std::string name_;
  Descriptor file_;
};

}  // namespace

Result<FileTree::Written> SharedDirectory::replace(const std::string& path,
                                                   std::string_view bytes) const {
  if (path.find('\0') != std::string::npos) {
    return Error(ErrorCode::invalid_argument, "a path holds no NUL byte");
  }
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") {
    return Error(ErrorCode::invalid_argument, cat(quoted(path), " names no file"));
  }
  if (name == kDataDirectory) {
    return Error(ErrorCode::forbidden, cat(quoted(path), " belongs to the data of Errand"));
  }
  if (path.starts_with('/')) return open_error(path, EXDEV);
  ERRAND_TRY(auto folder, make_folders(slash == std::string::npos ? "" : path.substr(0, slash)));

  mode_t mode = 0666;
  struct stat old{};
  bool is_there = ::fstatat(folder.get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there) {
    if (!S_ISREG(old.st_mode)) {
      return Error(ErrorCode::invalid_argument, cat(quoted(path), " is not a plain file"));
    }
    if (is_withheld(old.st_dev, old.st_ino)) {
      return Error(ErrorCode::forbidden, cat(quoted(path), " is not shared: it holds a key"));
    }
    if (::faccessat(folder.get(), name.c_str(), W_OK, AT_EACCESS) != 0) {
      return write_error(path, errno);
    }
    mode = old.st_mode & 0777U;
  }
  NewFile made(folder, cat(".errand-", crypto::random_hex(8), ".new"), mode);
  if (!made.file().is_open()) return write_error(path, errno);
  auto written = write_fully(made.file().get(), bytes);
  if (!written)
    return Error(written.error().code(),
                 cat("cannot write ", quoted(path), ": ", written.error().message()));
  if (is_there && ::fchmod(made.file().get(), mode) != 0) return write_error(path, errno);
  if (!made.put_in_place(name)) return write_error(path, errno);
  return is_there ? Written::in_place_of_another : Written::anew;
}

Result<std::size_t> read_some(const Descriptor& file, std::string& buffer) {
  for (;;) {
    ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EINTR) continue;
    return Error(ErrorCode::unavailable,
                 cat("cannot read on: ", std::generic_category().message(errno)));
  }
}

}  // namespace errand
