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
  std::string_view in_name;
  std::string_view in_prompt;
  int points;
};
constexpr Related kRelated[] = {{"list", "which", 1},
                                {"list", "here files folder directory", 2},
                                {"list", "ls", 4},
                                {"search", "look", 2},
                                {"search", "where", 3},
                                {"search", "find grep mention mentions contain contains occurs", 4},
                                {"read", "say says", 2},
                                {"read", "open cat content contents", 3},
                                {"weather", "forecast temperature warm cold rain sunny", 3},
                                {"calculator", "compute sum", 3},
                                {"mail", "email", 3},
                                {"email", "mail", 3},
                                {"fetch", "download visit", 3},
                                {"shell", "run execute command", 3}};

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

bool has_kind(const std::vector<Piece>& pieces, PieceKind kind) {
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](const Piece& piece) { return piece.kind == kind; });
}

// A path without an extension, or all that "What is in src?" asks about.
bool is_directory(const std::vector<Piece>& pieces, std::size_t at) {
  const Piece& piece = pieces[at];
  std::size_t name = piece.text.find_last_of('/') + 1;
  if (piece.kind == PieceKind::path)
    return name > 0 && piece.text.find('.', name) == piece.text.npos;
  bool is_all = at > 0 && at + 1 == pieces.size() && pieces[at - 1].word == "in" &&
                !is_filler_word(piece.word);
  return is_all && std::all_of(pieces.begin(), pieces.end() - 1,
                               [](const Piece& one) { return is_function_word(one.word); });
}

std::vector<std::string> distinct_words(const std::vector<Piece>& pieces) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::string word = is_directory(pieces, i) ? "directory" : pieces[i].word;
    bool counts = pieces[i].kind == PieceKind::word || is_directory(pieces, i);
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
      if (is_one_of(word, row.in_prompt) && has_same_word(name, row.in_name)) score += row.points;
    }
    if (is_function_word(word)) continue;
    if (has_same_word(name, word)) {
      score += kNameWord;
    } else if (described < kDescriptionWordsMax && has_same_word(about, word)) {
      ++described;
    }
  }
  return score + described;
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
