#include "tool/files/files_tool.hpp"

#include <limits>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "json/fields.hpp"
#include "tool/files/file_search.hpp"
#include "tool/files/line_window.hpp"

namespace errand {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} * 1024;
constexpr std::size_t kShownNameChars = 255;

ToolDecl tool(std::string_view name, std::string_view description, json::Object properties,
              json::Array required) {
  return {.name = std::string(name),
          .description = std::string(description),
          .input_schema = share_schema({{"type", "object"},
                                        {"properties", std::move(properties)},
                                        {"required", std::move(required)}}),
          .annotations = {.read_only = true}};
}

json::Object property(std::string_view type, std::string_view description) {
  return {{"type", type}, {"description", description}};
}

json::Object line_number(std::string_view description) {
  json::Object out = property("integer", description);
  out["minimum"] = 1;
  return out;
}

Error not_text(const std::string& path, std::int64_t bytes) {
  return {ErrorCode::invalid_argument,
          cat("\"", clean_line(path, kShownNameChars), "\" is a binary file of ", bytes,
              " bytes; only UTF-8 text can be read")};
}

std::string listed(const Entry& entry) {
  std::string name = clean_line(entry.name, kShownNameChars);
  switch (entry.kind) {
    case EntryKind::file:
      return cat(name, "  ", entry.bytes, entry.bytes == 1 ? " byte\n" : " bytes\n");
    case EntryKind::directory: return cat(name, "/\n");
    case EntryKind::link: return cat(name, "  symbolic link\n");
    case EntryKind::other: return cat(name, "  not a file\n");
  }
  return name;
}

}  // namespace

std::vector<ToolDecl> FilesTool::declarations(FileAccess access) {
  std::vector<ToolDecl> tools = {
      tool("read_file",
           "Read a text file of the user's directory. Long files come in parts: offset and limit "
           "choose lines.",
           {{"path", property("string", "Path relative to the directory, such as src/main.cpp")},
            {"offset", line_number("First line to read, from 1")},
            {"limit", line_number("Number of lines to read")}},
           {"path"}),
      tool("list_files",
           "List a directory of the user's files: names with their sizes, directories with a "
           "trailing slash.",
           {{"path", property("string", "Path relative to the directory; all of it if left out")}},
           {}),
      tool("search_files",
           "Find the lines that contain a text, in all files below a path. The answer has lines of "
           "the form file:line: text.",
           {{"query", property("string", "Text to look for, exactly as it is written")},
            {"path", property("string", "File or directory to look in; everything if left out")}},
           {"query"}),
  };
  if (access == FileAccess::read) return tools;
  tools.push_back(tool(
      "write_file", "Write a text file, in place of one that is there. Missing folders are made.",
      {{"path", property("string", "Path relative to the directory, such as docs/plan.md")},
       {"content", property("string", "All of the file")}},
      {"path", "content"}));
  tools.back().annotations = {.idempotent = true, .parallel_safe = false, .destructive = true};
  tools.push_back(tool(
      "edit_file",
      "Replace a text in a file. The text to replace must occur once, exactly as it is written, "
      "unless replace_all is true.",
      {{"path", property("string", "Path relative to the directory, such as src/main.cpp")},
       {"old_text", property("string", "Text to replace; add lines around it to make it unique")},
       {"new_text", property("string", "Text to put in its place")},
       {"replace_all", property("boolean", "Whether to replace it everywhere")}},
      {"path", "old_text", "new_text"}));
  tools.back().annotations = {.parallel_safe = false, .destructive = true};
  return tools;
}

ToolAnswer FilesTool::call(std::string_view name, const json::Value& args) const {
  Result<std::string> result =
      Error(ErrorCode::not_found, cat("there is no tool \"", name, "\" here"));
  if (name == "read_file") result = read_file(args);
  if (name == "list_files") result = list_files(args);
  if (name == "search_files") result = search_files(args);
  bool may_write = access_ == FileAccess::write;
  if (name == "write_file" && may_write) result = write_file(args);
  if (name == "edit_file" && may_write) result = edit_file(args);
  if (!result) return {.ok = false, .text = result.error().describe()};
  return {.ok = true, .text = std::move(*result)};
}

Result<std::string> FilesTool::read_file(const json::Value& args) const {
  constexpr std::int64_t kLinesMax = std::numeric_limits<std::int32_t>::max();
  json::Fields in(args, "");
  std::string path = in.text("path");
  std::int64_t offset = in.optional_integer("offset", 1, kLinesMax).value_or(1);
  std::int64_t limit = in.optional_integer("limit", 1, kLinesMax).value_or(kLinesMax);
  ERRAND_CHECK(in.finish());

  ERRAND_TRY(auto file, files_->open_file(path));
  LineWindow window(offset, limit, kResultBytesMax);
  std::string buffer(kChunkBytes, '\0');
  std::int64_t total = 0;
  for (bool wants_more = true; wants_more;) {
    ERRAND_TRY(std::size_t count, read_some(file.descriptor, buffer));
    if (count == 0) break;
    std::string_view bytes(buffer.data(), count);
    if (bytes.find('\0') != std::string_view::npos) return not_text(path, file.bytes);
    wants_more = window.take(bytes);
    total += static_cast<std::int64_t>(count);
    if (wants_more && total > kReadBytesMax) {
      return Error(ErrorCode::too_large, cat("the file is too large: only its first ",
                                             kReadBytesMax, " bytes can be read"));
    }
  }
  if (!is_utf8(window.text())) return not_text(path, file.bytes);
  return window.finish();
}

Result<std::string> FilesTool::list_files(const json::Value& args) const {
  json::Fields in(args, "");
  std::string path = in.optional_text("path").value_or("");
  ERRAND_CHECK(in.finish());
  ERRAND_TRY(auto listing, files_->list(path));
  std::string out;
  std::size_t shown = 0;
  for (const Entry& entry : listing.entries) {
    if (shown == kListedMax || out.size() > kResultBytesMax) break;
    out += listed(entry);
    ++shown;
  }
  if (listing.entries.empty()) return std::string("(the directory is empty)\n");
  if (listing.has_more) {
    append(out, "[more than ", FileTree::kEntriesMax, " names are here; ", shown, " are shown]\n");
  } else if (shown < listing.entries.size()) {
    append(out, "[", listing.entries.size() - shown, " more names are not shown]\n");
  }
  return out;
}

Result<std::string> FilesTool::search_files(const json::Value& args) const {
  json::Fields in(args, "");
  std::string query = in.text("query");
  std::string path = in.optional_text("path").value_or("");
  if (in.ok() && (query.empty() || query.find_first_of("\r\n") != std::string::npos)) {
    in.fail("query", "the query must be one line that is not empty");
  }
  ERRAND_CHECK(in.finish());
  FileSearch search(*files_, std::move(query));
  ERRAND_CHECK(search.run(path));
  return search.finish();
}

// ---- Writing ------------------------------------------------------------------------------------

Result<std::string> FilesTool::write_file(const json::Value& args) const {
  json::Fields in(args, "");
  std::string path = in.text("path");
  std::string content = in.text("content");
  ERRAND_CHECK(in.finish());
  if (content.size() > kWrittenBytesMax) {
    return Error(ErrorCode::too_large, cat("at most ", kWrittenBytesMax, " bytes can be written"));
  }
  std::lock_guard lock(writing_);
  ERRAND_TRY(auto written, files_->replace(path, content));
  return cat(written == FileTree::Written::anew ? "Made " : "Replaced ",
             clean_line(path, kShownNameChars), " with ", content.size(), " bytes.\n");
}

Result<std::string> FilesTool::whole_text(const std::string& path) const {
  ERRAND_TRY(auto file, files_->open_file(path));
  std::string text;
  std::string buffer(kChunkBytes, '\0');
  for (;;) {
    ERRAND_TRY(std::size_t count, read_some(file.descriptor, buffer));
    if (count == 0) break;
    text.append(buffer, 0, count);
    if (text.size() > kWrittenBytesMax) {
      return Error(ErrorCode::too_large, cat("the file is too large: files of up to ",
                                             kWrittenBytesMax, " bytes can be edited"));
    }
  }
  bool is_text = text.find('\0') == std::string::npos && is_utf8(text);
  if (!is_text) return not_text(path, file.bytes);
  return text;
}

Result<std::string> FilesTool::edit_file(const json::Value& args) const {
  json::Fields in(args, "");
  std::string path = in.text("path");
  std::string old_text = in.text("old_text");
  std::string new_text = in.text("new_text");
  bool everywhere = in.optional_flag("replace_all").value_or(false);
  if (in.ok() && old_text.empty()) in.fail("old_text", "the text to replace is empty");
  ERRAND_CHECK(in.finish());
  std::lock_guard lock(writing_);
  ERRAND_TRY(auto text, whole_text(path));
  std::string out;
  std::size_t places = 0;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = text.find(old_text, from)) != std::string::npos; ++places) {
    append(out, std::string_view(text).substr(from, at - from), new_text);
    from = at + old_text.size();
    if (out.size() > kWrittenBytesMax) break;
  }
  append(out, std::string_view(text).substr(from));
  if (places == 0) {
    return Error(ErrorCode::not_found,
                 "the text to replace is not in the file: read the file, and "
                 "copy the text with its white space");
  }
  if (places > 1 && !everywhere) {
    return Error(ErrorCode::conflict, cat("the text to replace occurs ", places,
                                          " times: add lines around it, or set replace_all"));
  }
  if (out.size() > kWrittenBytesMax) {
    return Error(ErrorCode::too_large, cat("at most ", kWrittenBytesMax, " bytes can be written"));
  }
  ERRAND_CHECK(files_->replace(path, out));
  return cat("Replaced ", places, places == 1 ? " place in " : " places in ",
             clean_line(path, kShownNameChars), ".\n");
}

}  // namespace errand
