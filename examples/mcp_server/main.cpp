// An MCP server of a program: notes that clients write with a tool, read as resources, and ask for
// in a prompt. Serves its standard streams, or, with the argument "http", a free port until its
// input ends.

#include <errand/errand.hpp>

#include <iostream>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace mcp = errand::mcp;

struct Note {
  std::string name;
  std::string text;
};
ERRAND_DESCRIBE(Note, (name, "What to find the note by"), (text, "What it says"))

struct Kept {
  int notes;
};

// Handlers run on threads of their own.
class Notes {
 public:
  Kept add(const Note& note) {
    std::lock_guard lock(mutex_);
    notes_[note.name] = note.text;
    return {static_cast<int>(notes_.size())};
  }
  std::string read(const std::string& name) const {
    std::lock_guard lock(mutex_);
    auto found = notes_.find(name);
    if (found != notes_.end()) return found->second;
    throw errand::Error(errand::ErrorCode::not_found, "there is no note " + name);
  }
  std::vector<std::string> names(const std::string& typed) const {
    std::lock_guard lock(mutex_);
    std::vector<std::string> out;
    for (const auto& [name, text] : notes_) {
      if (name.rfind(typed, 0) == 0) out.push_back(name);
    }
    return out;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> notes_{{"lamp", "The lamp flickers."}};
};

std::string count(errand::ToolContext& context) {
  for (int i = 1; i <= 3; ++i) {
    context.throw_if_cancelled();
    context.progress("counting", i, 3);
  }
  context.log("all are counted");
  return "three";
}

int main(int argc, char** argv) {
  Notes notes;
  errand::Toolkit tools({.name = "notes",
                         .description = "Keeps notes.",
                         .version = "1.0",
                         .tools = {errand::tool("add_note", "Keeps a note.", &Notes::add, notes,
                                                {.idempotent = true}),
                                   errand::tool("count", "Counts slowly.", count)}});
  auto complete = [&notes](const std::string&, const std::string& typed) {
    return notes.names(typed);
  };
  mcp::Server server(mcp::ServerOptions{
      .toolkits = {tools},
      .prompts = {{.name = "explain",
                   .description = "Explains a note.",
                   .arguments = {{.name = "note", .required = true}},
                   .get =
                       [&notes](errand::ToolContext&, const mcp::Arguments& given) {
                         return "Explain this note: " + notes.read(given.at("note"));
                       },
                   .complete = complete}},
      .templates = {{.uri_template = "note://{name}",
                     .name = "note",
                     .mime_type = "text/plain",
                     .read = [&notes](errand::ToolContext&, const std::string&,
                                      const mcp::Arguments& given) {
                       return notes.read(given.at("name"));
                     },
                     .complete = complete}}});
  if (argc < 2 || std::string(argv[1]) != "http") {
    server.serve_stdio();
    return 0;
  }
  mcp::HttpServing serving = server.serve_http();
  std::cout << serving.url() << std::endl;
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
}
