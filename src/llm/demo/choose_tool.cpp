#include "llm/demo/choose_tool.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "llm/demo/property.hpp"

namespace errand::llm {
namespace {

// Points for what fits. A tool needs kScoreMin; its description alone never gets there.
constexpr int kScoreMin = 3;
constexpr int kNameWord = 3;
constexpr int kDescriptionWordsMax = 2;
constexpr std::size_t kDescriptionBytesMax = 1024;

// Words of prompts that speak for a tool with another word in its name.
struct Related {
  std::string_view in_prompt;
  std::string_view in_name;
  int points;
};
constexpr Related kRelated[] = {{"which", "list", 1},
                                {"here", "list", 2},
                                {"files", "list", 2},
                                {"folder", "list", 2},
                                {"directory", "list", 2},
                                {"ls", "list", 4},
                                {"find", "search", 4},
                                {"grep", "search", 4},
                                {"where", "search", 3},
                                {"mention", "search", 4},
                                {"contain", "search", 4},
                                {"look", "search", 2},
                                {"occur", "search", 4},
                                {"open", "read", 3},
                                {"content", "read", 3},
                                {"cat", "read", 3},
                                {"say", "read", 2},
                                {"forecast", "weather", 3},
                                {"temperature", "weather", 3},
                                {"warm", "weather", 3},
                                {"cold", "weather", 3},
                                {"rain", "weather", 3},
                                {"sunny", "weather", 3},
                                {"compute", "calculator", 3},
                                {"sum", "calculator", 3},
                                {"email", "mail", 3},
                                {"mail", "email", 3},
                                {"clock", "time", 3},
                                {"download", "fetch", 3},
                                {"visit", "fetch", 3}};

// Points for an argument of a shape that the prompt has, too.
struct Shape {
  Want want;
  PieceKind kind;
  int required;
  int optional;
};
constexpr Shape kShapes[] = {{Want::path, PieceKind::path, 3, 2},
                             {Want::url, PieceKind::url, 3, 2},
                             {Want::expression, PieceKind::expression, 3, 2},
                             {Want::email, PieceKind::email, 2, 1},
                             {Want::date, PieceKind::date, 1, 1}};

bool has_same_word(const std::vector<std::string>& words, std::string_view word) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& one) { return is_same_word(one, word); });
}

bool has_kind(const std::vector<Piece>& pieces, PieceKind kind) {
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](const Piece& piece) { return piece.kind == kind; });
}

// A path without an extension is most likely a directory, as if the prompt had that word.
bool is_directory(const Piece& piece) {
  std::size_t name = piece.text.find_last_of('/') + 1;
  return piece.kind == PieceKind::path &&
         piece.text.find_first_of("abcdefghijklmnopqrstuvwxyz", piece.text.find('.', name)) ==
             std::string::npos;
}

std::vector<std::string> distinct_words(const std::vector<Piece>& pieces) {
  std::vector<std::string> words;
  for (const Piece& piece : pieces) {
    std::string word = is_directory(piece) ? "directory" : piece.word;
    bool counts = piece.kind == PieceKind::word || is_directory(piece);
    if (counts && std::find(words.begin(), words.end(), word) == words.end())
      words.push_back(std::move(word));
  }
  return words;
}

int score_words(const ToolDecl& tool, const std::vector<std::string>& words) {
  std::vector<std::string> name = split_words(tool.name);
  std::vector<std::string> about = split_words(utf8_prefix(tool.description, kDescriptionBytesMax));
  int score = 0;
  int described = 0;
  for (const std::string& word : words) {
    for (const Related& row : kRelated) {
      if (is_same_word(word, row.in_prompt) && has_same_word(name, row.in_name))
        score += row.points;
    }
    if (is_function_word(word)) continue;
    if (has_same_word(name, word)) {
      score += kNameWord;
    } else if (has_same_word(about, word)) {
      ++described;
    }
  }
  return score + std::min(described, kDescriptionWordsMax);
}

int score_shapes(const ToolDecl& tool, const std::vector<Piece>& pieces) {
  int score = 0;
  std::vector<Property> properties = properties_of(*tool.input_schema, *tool.input_schema);
  for (const Shape& shape : kShapes) {
    auto found = std::find_if(properties.begin(), properties.end(),
                              [&](const Property& one) { return one.want == shape.want; });
    if (found == properties.end() || !has_kind(pieces, shape.kind)) continue;
    score += found->is_required ? shape.required : shape.optional;
  }
  return score;
}

}  // namespace

const ToolDecl* choose_tool(const std::vector<ToolDecl>& tools, const std::vector<Piece>& pieces) {
  std::vector<std::string> words = distinct_words(pieces);
  const ToolDecl* best = nullptr;
  int best_score = kScoreMin - 1;
  for (const ToolDecl& tool : tools) {
    int score = score_words(tool, words) + score_shapes(tool, pieces);
    if (score <= best_score) continue;
    best = &tool;
    best_score = score;
  }
  return best;
}

}  // namespace errand::llm
