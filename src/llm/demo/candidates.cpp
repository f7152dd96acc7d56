#include "llm/demo/candidates.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "base/text.hpp"

namespace errand::llm {
namespace {

constexpr std::string_view kEquals = "is = named called as equals";
constexpr std::string_view kNegations = "no not without don't never disable";
constexpr std::string_view kBeforePlaces = "in inside under within of file folder directory";
constexpr std::string_view kAfterPlaces = "file folder directory";
constexpr std::string_view kBeforePhrases = "in for at of from to near about";
constexpr std::string_view kJoins = "and or vs versus";
// Before what is looked for; the surer ones first.
constexpr std::string_view kBeforeSubjects[] = {"for about", "mention mentions contain contains",
                                                "find search grep lookup"};
constexpr std::string_view kSkippedInSubjects =
    "the a an all any every word text string lines files for uses usages of that with contain";
constexpr std::string_view kAfterSubjects = "in on at from under within please";
// Parts of a flag's name that say nothing: "includeHidden" is about "hidden".
constexpr std::string_view kFlagVerbs = "is include with use show enable has";

// The number as the schema wants it; nothing if it does not fit.
std::optional<json::Value> number_for(const Property& property, std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  bool fits = number >= number_member(*property.schema, "minimum", -HUGE_VAL) &&
              number <= number_member(*property.schema, "maximum", HUGE_VAL);
  if (!fits) return {};
  if (auto whole = parse_integer<std::int64_t>(text)) return json::Value(*whole);
  if (property.type == "integer") return {};
  return json::Value(number);
}

bool text_fits(const json::Object& schema, std::string_view text) {
  std::string_view format = text_member(schema, "format");
  if (format == "date" && text.size() != std::string_view("2000-01-01").size()) return false;
  if (format == "date-time" && !(text.size() > 10 && text.ends_with('Z'))) return false;
  if (is_one_of(format, "uuid time ipv4 ipv6 hostname")) return false;
  std::size_t chars = utf8_length(text);
  return chars >= count_member(schema, "minLength", 0) &&
         (!schema.contains("maxLength") || chars <= count_member(schema, "maxLength", kCountMax));
}

}  // namespace

// Where texts for a property come from. The first source that has any is taken.
struct Candidates::Sources {
  Want want;
  std::array<Source, 4> for_required;
  std::array<Source, 2> for_optional;
};

constexpr Candidates::Sources Candidates::kSources[] = {
    {Want::any,
     {&Candidates::named, &Candidates::of_kind<PieceKind::quoted>, &Candidates::names,
      &Candidates::phrases},
     {&Candidates::named}},
    {Want::url, {&Candidates::of_kind<PieceKind::url>}, {&Candidates::of_kind<PieceKind::url>}},
    {Want::email,
     {&Candidates::of_kind<PieceKind::email>, &Candidates::named, &Candidates::names},
     {&Candidates::of_kind<PieceKind::email>}},
    {Want::path,
     {&Candidates::of_kind<PieceKind::path>, &Candidates::of_kind<PieceKind::quoted>,
      &Candidates::places, &Candidates::names},
     {&Candidates::of_kind<PieceKind::path>, &Candidates::places}},
    {Want::date, {&Candidates::of_kind<PieceKind::date>}, {&Candidates::of_kind<PieceKind::date>}},
    {Want::expression,
     {&Candidates::of_kind<PieceKind::expression>, &Candidates::of_kind<PieceKind::quoted>,
      &Candidates::of_kind<PieceKind::number>},
     {&Candidates::of_kind<PieceKind::expression>}},
    {Want::topic,
     {&Candidates::of_kind<PieceKind::quoted>, &Candidates::subject, &Candidates::names},
     {&Candidates::named}},
    {Want::message, {&Candidates::of_kind<PieceKind::quoted>, &Candidates::rest}, {}},
};

Candidates::Candidates(std::vector<Piece> pieces, std::vector<std::string> tool_words)
    : pieces_(std::move(pieces)),
      used_(pieces_.size(), false),
      tool_words_(std::move(tool_words)) {}

CandidateList Candidates::find(const Property& property) const {
  if (property.schema->contains("enum")) return enum_words(property);
  if (property.type == "boolean") return flag(property);
  if (property.type == "integer" || property.type == "number") return numbers(property);
  if (property.type == "string") return texts(property);
  return {};
}

void Candidates::use(const Candidate& candidate) {
  for (std::size_t i = candidate.first; i < candidate.first + candidate.count; ++i) used_[i] = true;
}

CandidateList Candidates::enum_words(const Property& property) const {
  CandidateList out;
  const json::Array* values = array_member(*property.schema, "enum");
  for (std::size_t i = 0; values && i < pieces_.size(); ++i) {
    for (const json::Value& value : *values) {
      if (!value.is_string() || used_[i]) continue;
      std::vector<std::string> words = split_words(json::view(value.get_string()));
      bool fits = !words.empty() && i + words.size() <= pieces_.size();
      for (std::size_t k = 0; fits && k < words.size(); ++k) {
        const std::string& word = pieces_[i + k].word;
        fits = words[k] == word || (words[k].size() > 1 && is_same_word(words[k], word));
      }
      if (fits) out.push_back({.value = value, .first = i, .count = words.size()});
      if (fits) break;
    }
  }
  return out;
}

CandidateList Candidates::flag(const Property& property) const {
  std::vector<std::string> words = split_words(property.name);
  std::erase_if(words, [](const std::string& word) { return is_one_of(word, kFlagVerbs); });
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (!has_same_word(words, pieces_[i].word)) continue;
    bool is_denied = (i > 0 && is_one_of(pieces_[i - 1].word, kNegations)) ||
                     (i > 1 && is_one_of(pieces_[i - 2].word, kNegations));
    return {{.value = !is_denied, .first = i}};
  }
  return {};
}

CandidateList Candidates::numbers(const Property& property) const {
  std::vector<std::string> name = split_words(property.name);
  std::vector<std::string> about = split_words(text_member(*property.schema, "description"));
  std::erase_if(about, [](const std::string& word) { return is_function_word(word); });
  auto names_it = [&](std::size_t at) {
    if (at >= pieces_.size() || pieces_[at].kind != PieceKind::word) return false;
    return has_same_word(name, pieces_[at].word) ||
           std::find(about.begin(), about.end(), pieces_[at].word) != about.end();
  };
  CandidateList named;
  CandidateList all;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].kind != PieceKind::number || used_[i]) continue;
    auto number = number_for(property, pieces_[i].text);
    if (!number) continue;
    all.push_back({.value = *number, .first = i});
    if (names_it(i + 1) || (i > 0 && names_it(i - 1))) named.push_back(all.back());
  }
  return named.empty() && property.is_required ? all : named;
}

CandidateList Candidates::texts(const Property& property) const {
  for (const Sources& row : kSources) {
    if (row.want != property.want) continue;
    std::span<const Source> sources(row.for_required);
    if (!property.is_required) sources = row.for_optional;
    for (Source source : sources) {
      if (!source) break;
      CandidateList found = (this->*source)(property);
      std::erase_if(found, [&](const Candidate& one) {
        return !text_fits(*property.schema, json::view(one.value.get_string()));
      });
      if (!found.empty()) return found;
    }
  }
  return {};
}

template <PieceKind kind>
CandidateList Candidates::of_kind(const Property&) const {
  CandidateList out;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].kind == kind && !used_[i]) out.push_back(joined(i, 1));
  }
  return out;
}

// "title Big News", "language: French", "to Bob".
CandidateList Candidates::named(const Property& property) const {
  std::vector<std::string> words = split_words(property.name);
  for (std::size_t i = 0; i + 1 < pieces_.size(); ++i) {
    bool is_named = pieces_[i].kind == PieceKind::word && has_same_word(words, pieces_[i].word);
    if (!is_named || (pieces_[i].after != 0 && pieces_[i].after != ':')) continue;
    std::size_t at = is_one_of(pieces_[i + 1].word, kEquals) ? i + 2 : i + 1;
    if (is_value(at)) return {value_at(at)};
  }
  return {};
}

// "in src", "the docs folder", "the file Makefile".
CandidateList Candidates::places(const Property&) const {
  CandidateList out;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].kind != PieceKind::word || !is_value(i)) continue;
    bool follows = i > 0 && is_one_of(pieces_[i - 1].word, kBeforePlaces);
    bool precedes = i + 1 < pieces_.size() && is_one_of(pieces_[i + 1].word, kAfterPlaces);
    if (follows || precedes) out.push_back(joined(i, 1));
  }
  return out;
}

// Capitalized words, of which a sentence's first is the last resort.
CandidateList Candidates::names(const Property&) const {
  CandidateList within;
  CandidateList first;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (!is_name(i)) continue;
    CandidateList& list = starts_sentence(i) ? first : within;
    list.push_back(value_at(i));
    i += list.back().count - 1;
  }
  return within.empty() ? first : within;
}

// "in lagos and new york": plain words after a preposition.
CandidateList Candidates::phrases(const Property&) const {
  CandidateList out;
  bool is_open = false;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    std::size_t end = i;
    while (end < pieces_.size() && pieces_[end].kind == PieceKind::word && is_value(end) &&
           (end == i || pieces_[end - 1].after == 0)) {
      ++end;
    }
    if (end == i) {
      const std::string& word = pieces_[i].word;
      is_open = is_one_of(word, kBeforePhrases) || (is_open && is_one_of(word, kJoins));
      continue;
    }
    if (is_open) out.push_back(joined(i, end - i));
    i = end - 1;
  }
  return out;
}

// What is looked for: "for cats and dogs" in "Search for cats and dogs in the archive".
CandidateList Candidates::subject(const Property&) const {
  for (std::string_view openers : kBeforeSubjects) {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (!is_one_of(pieces_[i].word, openers) || pieces_[i].after != 0) continue;
      std::size_t from = i + 1;
      while (from < pieces_.size() && is_one_of(pieces_[from].word, kSkippedInSubjects)) ++from;
      std::size_t to = from;
      while (to < pieces_.size() && !used_[to] && !is_one_of(pieces_[to].word, kAfterSubjects) &&
             (to == from || pieces_[to - 1].after == 0)) {
        ++to;
      }
      if (to > from) return {joined(from, to - from)};
    }
  }
  return {};
}

// All that follows a colon, or the word that names a tool with this one argument.
CandidateList Candidates::rest(const Property& property) const {
  for (std::size_t i = 0; i + 1 < pieces_.size(); ++i) {
    bool names_tool = property.is_only_required && has_same_word(tool_words_, pieces_[i].word);
    if (names_tool || pieces_[i].after == ':') return {joined(i + 1, pieces_.size() - i - 1)};
  }
  return {};
}

bool Candidates::is_value(std::size_t at) const {
  if (at >= pieces_.size() || used_[at]) return false;
  const Piece& piece = pieces_[at];
  return piece.kind != PieceKind::word ||
         (!is_filler_word(piece.word) && !has_same_word(tool_words_, piece.word));
}

bool Candidates::is_name(std::size_t at) const {
  return is_value(at) && pieces_[at].kind == PieceKind::word && is_capitalized(pieces_[at].text);
}

bool Candidates::starts_sentence(std::size_t at) const {
  return at == 0 || std::string_view(".!?").find(pieces_[at - 1].after) != std::string_view::npos;
}

// A piece, or with it the capitalized words that belong to the same name.
Candidate Candidates::value_at(std::size_t at) const {
  std::size_t count = 1;
  while (is_name(at) && is_name(at + count) && pieces_[at + count - 1].after == 0) ++count;
  return joined(at, count);
}

Candidate Candidates::joined(std::size_t first, std::size_t count) const {
  std::string text;
  for (std::size_t i = first; i < first + count; ++i) {
    if (i > first && pieces_[i - 1].after != 0) text += pieces_[i - 1].after;
    append(text, i > first ? " " : "", pieces_[i].text);
  }
  return {.value = json::Value(text), .first = first, .count = count};
}

}  // namespace errand::llm
