#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "llm/demo/prompt.hpp"
#include "llm/demo/property.hpp"

namespace errand::llm {

// A value that the prompt offers for a property, and the pieces it is made of.
struct Candidate {
  json::Value value;
  std::size_t first = 0;
  std::size_t count = 1;
};
using CandidateList = std::vector<Candidate>;

// Finds values in a prompt. A piece that was used for one property is not offered to another.
class Candidates final {
 public:
  // `tool_words` name the tool itself and are no values.
  Candidates(std::vector<Piece> pieces, std::vector<std::string> tool_words);

  // All values for a property that is neither object nor array, in the order of the prompt. An
  // optional one gets only what the prompt clearly means for it.
  CandidateList find(const Property& property) const;
  void use(const Candidate& candidate);

 private:
  using Source = CandidateList (Candidates::*)(const Property& property) const;
  struct Sources;
  static const Sources kSources[];

  CandidateList enum_words(const Property& property) const;
  CandidateList flag(const Property& property) const;
  CandidateList numbers(const Property& property) const;
  CandidateList texts(const Property& property) const;

  // Sources of texts, from the surest to a guess.
  template <PieceKind kind>
  CandidateList of_kind(const Property& property) const;
  CandidateList named(const Property& property) const;
  CandidateList places(const Property& property) const;
  CandidateList names(const Property& property) const;
  CandidateList phrases(const Property& property) const;
  CandidateList subject(const Property& property) const;
  CandidateList rest(const Property& property) const;

  bool is_value(std::size_t at) const;
  bool is_name(std::size_t at) const;
  bool starts_sentence(std::size_t at) const;
  Candidate joined(std::size_t first, std::size_t count) const;
  Candidate value_at(std::size_t at) const;

  std::vector<Piece> pieces_;
  std::vector<bool> used_;
  std::vector<std::string> tool_words_;
};

}  // namespace errand::llm
