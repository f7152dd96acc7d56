#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace errand::llm {

enum class PieceKind { word, quoted, url, email, path, date, number, expression };

// A word of a prompt, or something longer that stands for itself.
struct Piece {
  PieceKind kind = PieceKind::word;
  std::string text;  // as it is written, without quotes and punctuation
  std::string word;  // in lower case
  char after = 0;    // the punctuation that follows directly; 0: none
};

// What is read of a prompt; the rest of a longer one is not looked at.
constexpr std::size_t kPromptBytesMax = 2048;

// The pieces of a prompt in order.
std::vector<Piece> read_pieces(std::string_view text);

// The words of an identifier or a sentence in lower case: "getUser_name" gives get, user, name.
std::vector<std::string> split_words(std::string_view text);

// Whether two words in lower case differ in their ending only: "file" and "files".
bool is_same_word(std::string_view a, std::string_view b);

bool has_same_word(const std::vector<std::string>& words, std::string_view word);
// Whether a list of words with spaces between them has this one.
bool is_one_of(std::string_view word, std::string_view list);

// "the", "is", "what", ...: words that say nothing about which tool is meant.
bool is_function_word(std::string_view word);
// Those, and others that are never the value of an argument: "show", "please", "today".
bool is_filler_word(std::string_view word);

bool is_capitalized(std::string_view text);

}  // namespace errand::llm
