#include "run/file_part.hpp"

#include <algorithm>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "json/fields.hpp"

namespace errand {
namespace {

using json::Fields;
using ParseFile = FilePart (*)(Fields& in);

Error too_large(std::string message, std::string_view limit, std::size_t max) {
  return Error(ErrorCode::invalid_argument, std::move(message))
      .limit(limit, static_cast<std::int64_t>(max));
}

bool is_token_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$&-^_.+").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

// "type/subtype" in lower case; empty if the text is not a media type.
std::string plain_mime_type(std::string_view text) {
  std::string plain = to_lower(trim(text.substr(0, text.find(';'))));
  std::size_t slash = plain.find('/');
  if (slash == std::string::npos) return {};
  std::string_view whole = plain;
  bool is_valid = is_token(whole.substr(0, slash)) && is_token(whole.substr(slash + 1));
  if (!is_valid || text.size() > kMimeTypeBytesMax) return {};
  return plain == "image/jpg" ? "image/jpeg" : plain;
}

// A name, not a path: a saved file must not land in another folder.
bool is_filename(std::string_view name) {
  bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '/' && c != '\\';
  });
  return is_plain && !name.empty() && name.size() <= kFilenameBytesMax && name != "." &&
         name != "..";
}

bool is_https_url(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  if (url.size() <= kScheme.size() || !equals_ignoring_case(url.substr(0, kScheme.size()), kScheme))
    return false;
  char first = url[kScheme.size()];
  return first != '/' && first != '?' && first != '#' && first != ':' &&
         std::all_of(url.begin(), url.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

void read_name(Fields& in, FilePart& file, std::optional<std::string> name) {
  if (!name) return;
  if (!is_filename(*name)) {
    in.fail("filename", cat("a filename has 1 to ", kFilenameBytesMax,
                            " bytes, and neither control characters nor slashes"));
  }
  file.filename = std::move(*name);
}

void read_mime_type(Fields& in, FilePart& file, std::optional<std::string> text) {
  if (!text) return;
  file.mime_type = plain_mime_type(*text);
  if (file.mime_type.empty()) in.fail("mimeType", "expected a type such as \"image/png\"");
}

// Decodes the text in place, because it may be large.
void read_bytes(Fields& in, FilePart& file) {
  const json::Value& value = in.any("data");
  if (!in.ok()) return;
  if (!value.is_string()) return in.fail("data", "expected the bytes of the file in base64");
  std::string_view text = json::view(value.get_string());
  if (text.size() / 4 * 3 > kFileBytesMax + 2) {
    return in.fail(too_large(cat("the file has more than ", kFileBytesMax, " bytes"), "fileBytes",
                             kFileBytesMax)
                       .pointer(in.pointer_to("data")));
  }
  auto bytes = from_base64(text);
  if (!bytes) {
    return in.fail("data", "this is not base64 (RFC 4648, padded, without line breaks)");
  }
  if (bytes->size() > kFileBytesMax) {
    return in.fail(too_large(cat("the file has ", bytes->size(), " bytes; at most ", kFileBytesMax,
                                 " are allowed"),
                             "fileBytes", kFileBytesMax)
                       .pointer(in.pointer_to("data")));
  }
  file.size = static_cast<std::int64_t>(bytes->size());
  file.bytes = std::make_shared<const std::string>(std::move(*bytes));
}

FilePart parse_inline(Fields& in) {
  FilePart file;
  read_name(in, file, in.text("filename"));
  read_mime_type(in, file, in.text("mimeType"));
  read_bytes(in, file);
  return file;
}

FilePart parse_link(Fields& in) {
  FilePart file{.url = in.text("url")};
  if (file.url.size() > kFileUrlBytesMax) {
    in.fail(too_large(cat("the URL has more than ", kFileUrlBytesMax, " bytes"), "urlBytes",
                      kFileUrlBytesMax)
                .pointer(in.pointer_to("url")));
  }
  if (!is_https_url(file.url)) in.fail("url", "expected a URL that begins with https://");
  read_name(in, file, in.optional_text("filename"));
  read_mime_type(in, file, in.optional_text("mimeType"));
  return file;
}

FilePart parse_attachment(Fields& in) {
  auto type = in.optional_choice("type", {"input_file", "input_file_url"});
  if (!type) in.fail("type", "\"type\" is missing: expected \"input_file\" or \"input_file_url\"");
  return type == 1 ? parse_link(in) : parse_inline(in);
}

FilePart parse_kept(Fields& in) {
  if (in.optional_any("url")) return parse_link(in);
  return {.filename = in.text("filename"),
          .mime_type = in.text("mimeType"),
          .sha256 = in.text("sha256"),
          .size = in.integer("size", 0, INT64_MAX)};
}

Result<std::vector<FilePart>> parse_all(const json::Array& items, std::string_view pointer,
                                        ParseFile parse) {
  std::vector<FilePart> files;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Fields in(items[i], json::child_pointer(pointer, i));
    files.push_back(parse(in));
    ERRAND_CHECK(in.finish());
  }
  return files;
}

Result<std::vector<FilePart>> parse_sent(const json::Array& items, std::string_view pointer,
                                         ParseFile parse) {
  if (items.size() > kFilesMax) {
    return too_large(cat("there are ", items.size(), " files; at most ", kFilesMax, " are allowed"),
                     "files", kFilesMax)
        .pointer(pointer);
  }
  return parse_all(items, pointer, parse);
}

json::Object to_json(const FilePart& file) {
  bool is_link = !file.url.empty();
  json::Object out{{"type", is_link ? "input_file_url" : "input_file"}};
  if (is_link) out["url"] = file.url;
  if (!file.filename.empty()) out["filename"] = file.filename;
  if (!file.mime_type.empty()) out["mimeType"] = file.mime_type;
  return out;
}

}  // namespace

Result<std::vector<FilePart>> parse_attachments(const json::Array& items,
                                                std::string_view pointer) {
  return parse_sent(items, pointer, parse_attachment);
}

Result<std::vector<FilePart>> parse_result_files(const json::Array& items,
                                                 std::string_view pointer) {
  return parse_sent(items, pointer, parse_inline);
}

Result<std::vector<FilePart>> parse_kept_files(const json::Array& items, std::string_view pointer) {
  return parse_all(items, pointer, parse_kept);
}

json::Array to_json(const std::vector<FilePart>& files) {
  json::Array out;
  for (const FilePart& file : files) {
    json::Object one = to_json(file);
    if (file.url.empty()) {
      one["size"] = file.size;
      one["sha256"] = file.sha256;
    }
    out.push_back(std::move(one));
  }
  return out;
}

json::Array sent_files(const std::vector<FilePart>& files) {
  json::Array out;
  for (const FilePart& file : files) {
    json::Object one = to_json(file);
    if (file.bytes) one["data"] = to_base64(*file.bytes);
    out.push_back(std::move(one));
  }
  return out;
}

json::Array shown_files(const std::vector<FilePart>& files) {
  json::Array out;
  for (const FilePart& file : files) {
    out.push_back(json::Object{
        {"filename", file.filename}, {"mimeType", file.mime_type}, {"size", file.size}});
  }
  return out;
}

}  // namespace errand
