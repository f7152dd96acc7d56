#include "llm/demo/compose.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::llm {
namespace {

constexpr std::string_view kSelf =
    "I am Errand's demo model: I follow simple rules and need neither key nor network.";
constexpr std::string_view kGreetings = "hello hi hey good thanks thank";
constexpr std::string_view kComparisons = "compare differ different difference same";
constexpr std::size_t kNamesMax = 6;
constexpr std::size_t kLabelBytesMax = 80;

using Lines = std::vector<std::string_view>;

// At most `bytes_max` bytes of the text, with dots where something is cut.
std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  return cat(utf8_prefix(text, bytes_max), " ...");
}

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// "a, b and c"; after kNamesMax, how many more there are.
std::string listed(const std::vector<std::string>& names) {
  std::string out;
  std::size_t shown = std::min(names.size(), kNamesMax);
  for (std::size_t i = 0; i < shown; ++i) {
    bool is_last = i + 1 == names.size();
    append(out, i == 0 ? "" : is_last ? " and " : ", ", names[i]);
  }
  if (shown < names.size()) append(out, " and ", names.size() - shown, " more");
  return out;
}

// What a call was about: the values of its arguments.
std::string label_of(const ToolCallPart& call) {
  std::string out;
  auto arguments = json::parse(call.arguments);
  if (!arguments || !arguments->is_object()) return out;
  for (const auto& member : arguments->get_object()) {
    const json::Value& value = member.value();
    append(out, out.empty() ? "" : ", ",
           value.is_string() ? std::string(json::view(value.get_string())) : json::write(value));
  }
  return shortened(out, kLabelBytesMax);
}

std::string quoted(const Lines& lines) {
  std::string out;
  for (std::size_t i = 0; i < std::min(lines.size(), kQuotedLinesMax); ++i) {
    std::string line = shortened(lines[i], kQuotedLineBytesMax);
    append(out, line.empty() ? ">" : "> ", line, "\n");
  }
  return out;
}

// "You sent a.png (image/png, 12 bytes).\n"; empty without files.
std::string told_files(std::string_view sender, const std::vector<FilePart>& files) {
  std::vector<std::string> names;
  for (const FilePart& file : files) {
    std::string name = file.filename.empty() ? file.url : file.filename;
    if (file.url.empty()) append(name, " (", file.mime_type, ", ", file.size, " bytes)");
    names.push_back(std::move(name));
  }
  return names.empty() ? std::string() : cat(sender, " sent ", listed(names), ".\n");
}

std::string told(const MadeCall& made) {
  const std::string& tool = made.call->name;
  std::string label = label_of(*made.call);
  std::string source = label.empty() ? tool : cat(tool, " for ", label);
  Lines lines = lines_of(made.result->text);
  std::string first = lines.empty() ? "" : shortened(lines[0], kQuotedLineBytesMax);
  if (!made.result->ok) {
    return cat("Sorry, ", tool, " failed", label.empty() ? "" : " for ", label, ": ", first, "\n");
  }
  if (lines.empty()) return cat(source, " gave an empty result.\n");
  if (lines.size() == 1) return cat(label.empty() ? tool : label, ": ", first, "\n");
  std::string extent;
  if (lines.size() > kQuotedLinesMax)
    extent = cat(", the first ", kQuotedLinesMax, " of ", lines.size(), " lines");
  return cat("This is what ", tool, " gave", label.empty() ? "" : " for ", label, extent, ":\n\n",
             quoted(lines), "\n");
}

// For two results of a question that compares: whether they are the same.
std::string compared(const Conversation& conversation) {
  const auto& made = conversation.made;
  std::vector<Piece> pieces = read_pieces(*conversation.questions.back());
  bool is_asked = std::any_of(pieces.begin(), pieces.end(), [](const Piece& piece) {
    return is_one_of(piece.word, kComparisons);
  });
  if (!is_asked || made.size() != 2 || !made[0].result->ok || !made[1].result->ok) return {};
  Lines a = lines_of(made[0].result->text);
  Lines b = lines_of(made[1].result->text);
  if (a == b) return "Both are the same.\n\n";
  auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  return cat("They differ from line ", differ + 1, " on.\n\n");
}

bool is_greeting(const std::string& question) {
  std::vector<Piece> pieces = read_pieces(question);
  return !pieces.empty() && is_one_of(pieces[0].word, kGreetings);
}

}  // namespace

std::string announce(const Plan& plan) {
  return cat("Let me ask ", plan.tool->name, ".\n");
}

std::string ask_for_missing(const Plan& plan) {
  return cat("I would ask ", plan.tool->name, ", but you did not say its ", listed(plan.missing),
             ". What shall I use?\n\n", kSelf);
}

std::string answer_without_tool(const Conversation& conversation,
                                const std::vector<ToolDecl>& tools) {
  bool greets = !conversation.questions.empty() && is_greeting(*conversation.questions.back());
  std::vector<std::string> names;
  for (const ToolDecl& tool : tools) names.push_back(tool.name);
  std::string out = greets ? cat("Hello! ", kSelf) : "";
  if (tools.empty()) {
    append(out, greets ? " " : "", "This run has no tools, and without them I know nothing.");
  } else {
    append(out,
           greets ? " Ask me for something that my tools can do: "
                  : "None of my tools fits this. I have ",
           listed(names), ".");
  }
  if (!greets) append(out, " ", kSelf);
  return out;
}

std::string answer_from_results(const Conversation& conversation) {
  std::string out;
  for (const MadeCall& made : conversation.made) {
    append(out, told(made), told_files(made.call->name, made.result->files));
  }
  if (!out.ends_with("\n\n")) out += '\n';
  return cat(out, compared(conversation), kSelf);
}

std::string told_files(const Conversation& conversation) {
  std::string told = told_files("You", conversation.files);
  return told.empty() ? told : cat(told, "\n");
}

}  // namespace errand::llm
