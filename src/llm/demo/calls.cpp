#include "llm/demo/calls.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <regex>
#include <set>

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "llm/members.hpp"

namespace errand::llm {
namespace {

// Strangers choose how much there is to read: anything beyond these bounds is left out.
constexpr std::size_t kTextBytesMax = 2048;   // of a question
constexpr std::size_t kChoiceBytesMax = 256;  // of the words by which a tool is chosen
constexpr std::size_t kCallsMax = 8;
constexpr std::size_t kValuesMax = 200;  // of a list in a schema, and of a made instance
constexpr std::size_t kMembersMax = 32;  // of the schema by which a tool is chosen
constexpr double kCountMax = 10'000;

// Lists of words begin and end with a space, so that a word is found with the spaces around it.
// Function words say nothing about tools, and filler words are never a value.
constexpr std::string_view kFunctionWords =
    " a about also an and any are as at be but by can could did do does first for from get has "
    "have how i if in is it its last let m many me much my no not of on or our s so some than that "
    "the then these they this those to up us was we were what when who why will with would you "
    "your ";
constexpr std::string_view kFillerWords =
    " check compare extract file files give good great hello hey hi near now ok open please read "
    "say send show summarize tell thank thanks today tomorrow use want weather week write ";

// Words of a question that ask for a tool with the first word in its name. The first row counts.
constexpr std::pair<const char*, const char*> kVerbs[] = {
    {" search ", " search find grep mention mentions contain contains look where "},
    {" list ", " list ls all here there which folder directory "},
    {" shell ", " run execute command "}};

// The kinds of the pieces of a question. A place is a plain word after "in", a topic is a plain
// word after "find", a name has capitals, and `all` is the question itself. From sum to path, the
// kinds are the groups of kForm. Plain words come before the kinds that take long to rule out.
enum class Kind { word, sum, place, topic, name, quote, url, mail, date, number, path, all };
using enum Kind;
constexpr const char* kForm =
    R"re((?:((?!\d{4}-\d\d-)[(-]{0,4}\d[\d. ()]{0,20}[-+*/^%][-\d.+*/^%() ]{0,60}[\d)]))re"
    R"re(|[([{<*]{0,4}(?:(?:in|inside|under|within|at|near)\s+([a-z][\w-]*))re"   // place
    R"re(|(?:for|about|find|search|grep|mentions?|contains?)\s+([a-z][\w-]*))re"  // topic, name
    R"re(|([A-Z\xc3][^\s.,;:!?()"'/]*(?: [A-Z\xc3][^\s.,;:!?()"'/]*)*))re"
    R"re(|[a-z]+(?=[ \n]|$)|("[^"]+"|`[^`]+`|'[^']+'(?!\w)))re"    // plain word, quote
    R"re(|(https?://\S+?)|([\w.+-]+@[\w-]+\.[\w.-]*\w))re"         // url, mail
    R"re(|(\d{4}-\d\d-\d\d(?:T[\d:.+Z-]+)?)|(-?\d+(?:\.\d+)?))re"  // date, number
    R"re(|(\.\.?|[^\s,;()<>"'*/]*/[^\s,;()<>"'*]*?)re"             // path
    R"re(|(?!e\.g|i\.e)[^\s,;()<>"'*]*\.[A-Za-z]\w{0,7}))re"
    R"re(|[^\s,;]+?))(?:'s)?[)\]}>.:!?"'*]{0,4}(?=[\s,;]|$))re";  // word, and what follows

struct Piece {
  Kind kind;
  std::string text;  // as written, without quotes and punctuation
};

// What kinds of pieces fit a text, judged by its name or its format.
struct Rule {
  std::string_view names;
  std::string_view sample;
  std::size_t sure;  // this many of the kinds also fill optional texts
  Kind kinds[5];     // the most certain first
};
constexpr Rule kRules[] = {
    {" url urls uri link links ", "https://example.com/", 1, {url}},
    {" email emails recipient ", "demo@example.com", 1, {mail}},
    {" date dates day deadline ", "2000-01-01", 1, {date}},
    {" expression formula equation ", "1+1", 1, {sum}},
    {" path paths file files filename directory folder ", "demo", 2, {path, place, quote, name}},
    {" query pattern search term keyword ", "demo", 0, {quote, name, topic}},
    {" message body content text note answer summary ", "demo", 0, {quote, all}},
    {"", "demo", 0, {quote, name, place, topic, number}}};
constexpr Rule kNumber{"", "1", 1, {number, number}};

bool has_word(std::string_view list, std::string_view word) {
  return list.find(cat(" ", word, " ")) != list.npos;
}

// The number of words of a list that are in another list, too. Function words do not count.
int count_shared(std::string_view list, std::string_view other) {
  int count = 0;
  for (std::size_t at = 0, end = 0; (end = list.find(' ', at + 1)) != list.npos; at = end) {
    const std::string_view one = list.substr(at, end - at + 1);
    if (one.size() > 2 && kFunctionWords.find(one) == kFunctionWords.npos)
      count += other.find(one) != other.npos ? 1 : 0;
  }
  return count;
}

// A value that a schema asks for. Holds pointers into the schema.
struct Slot {
  std::string_view name;
  const json::Object* schema;
  std::string_view type;
  const Rule* rule;
  bool is_required = true;

  double number(std::string_view key, double otherwise) const {
    const json::Value* value = schema->if_contains(key);
    return value && value->is_number() ? value->to_number<double>() : otherwise;
  }
  std::size_t count(std::string_view key, double otherwise) const {
    return static_cast<std::size_t>(std::clamp(number(key, otherwise), 0.0, kCountMax));
  }
};

// A slot for a schema, for the first of its alternatives, or for the schema that it refers to.
Slot make_slot(std::string_view name, const json::Object* schema, const json::Object& root) {
  static const json::Object anything;
  const json::Array* branches = array_at(schema, "anyOf");
  if (!branches) branches = array_at(schema, "oneOf");
  if (branches && !branches->empty()) schema = branches->front().if_object();
  std::string_view reference = text_at(schema, "$ref");
  if (!reference.empty())
    schema = object_at(object_at(&root, "$defs"), reference.substr(reference.rfind('/') + 1));
  if (!schema) schema = &anything;
  std::string_view type = text_at(schema, "type");
  if (type.empty()) type = schema->contains("properties") ? "object" : "string";
  const std::string about = words_of(cat(name, " ", text_at(schema, "format")));
  const Rule* rule = kRules;
  while (!rule->names.empty() && count_shared(about, rule->names) == 0) ++rule;
  if (type == "integer" || type == "number") rule = &kNumber;
  return {.name = name, .schema = schema, .type = type, .rule = rule};
}

// The members of an object, required ones first.
std::vector<Slot> slots_of(const json::Object& schema, const json::Object& root,
                           std::size_t count_max = kValuesMax) {
  std::set<std::string_view> required;
  if (const json::Array* names = array_at(&schema, "required")) {
    for (const json::Value& name : *names | std::views::take(kValuesMax))
      if (name.is_string()) required.insert(json::view(name.get_string()));
  }
  std::vector<Slot> out;
  std::ptrdiff_t required_count = 0;
  if (const json::Object* members = object_at(&schema, "properties")) {
    for (const auto& member : *members | std::views::take(count_max)) {
      Slot slot = make_slot(member.key(), member.value().if_object(), root);
      slot.is_required = required.contains(slot.name);
      out.insert(slot.is_required ? out.begin() + required_count++ : out.end(), slot);
    }
  }
  return out;
}

std::vector<Piece> read_pieces(std::string_view question) {
  static const std::regex form(kForm);
  question = utf8_prefix(question, kTextBytesMax);
  std::vector<Piece> out;
  for (std::cregex_iterator at(question.begin(), question.end(), form), end; at != end; ++at) {
    const std::cmatch& found = *at;
    std::size_t group = found.size() - 1;
    while (group > 0 && !found[group].matched) --group;
    Kind kind = static_cast<Kind>(group);
    std::string text = found.str(group);
    // "Find" itself is a word of the question, too.
    if (kind == topic) out.push_back({word, {found[0].first, found[group].first}});
    if (kind == quote) text = text.substr(1, text.size() - 2);
    if (kind == path && text.find('.') == text.npos) kind = place;
    if (kind == place && has_word(kFunctionWords, text)) kind = word;
    out.push_back({kind, std::move(text)});
  }
  return out;
}

// The pieces that may become values. Words that name the tool and its arguments are not values: of
// "Read Notes", only the second word may be one. `whole` is the piece for a long text.
std::vector<Piece> values_of(std::vector<Piece> pieces, std::string labels,
                             const json::Object& schema, std::string_view whole) {
  for (const Slot& slot : slots_of(schema, schema)) {
    const json::Value* allowed = slot.schema->if_contains("enum");
    append(labels, " ", slot.name, " ", allowed ? json::write(*allowed) : "");
  }
  labels = cat(words_of(labels), kFunctionWords, kFillerWords);
  for (const auto& [verb, words] : kVerbs) labels += words;
  for (Piece& piece : pieces) {
    while (piece.kind >= place && piece.kind <= name) {
      const std::string first = piece.text.substr(0, piece.text.find(' '));
      if (!has_word(labels, to_lower(first))) break;
      piece.text.erase(0, first.size() + 1);
      if (piece.text.empty()) piece = {word, first};
    }
  }
  pieces.push_back({all, std::string(whole)});
  return pieces;
}

// The text as a value for the slot, moved within the bounds of its schema.
json::Value fitted(const Slot& slot, std::string_view text) {
  if (slot.rule == &kNumber) {
    const auto parsed = json::parse(text);
    const json::Value value = parsed ? *parsed : json::Value(1);
    const double number = value.to_number<double>();
    if (number < slot.number("minimum", number)) return slot.schema->at("minimum");
    if (number > slot.number("maximum", number)) return slot.schema->at("maximum");
    return value;
  }
  std::string out(utf8_prefix(text, slot.count("maxLength", kCountMax)));
  out.append(std::max(slot.count("minLength", 0), utf8_length(out)) - utf8_length(out), '.');
  return json::Value(out);
}

// Fills a schema from the pieces of a question, each of which is used once.
struct Filler {
  const json::Object& root;
  std::string said;  // the words of the question
  std::vector<Piece> pieces;
  bool makes_up = false;  // required values that the question does not give
  std::size_t values = 0;
  std::vector<std::string> missing = {};
  // The first text member that was filled, and all pieces that fit it.
  std::pair<std::string_view, std::vector<Piece*>> first_text = {};

  json::Object fill_object(const json::Object& schema) {
    json::Object out;
    for (const Slot& slot : slots_of(schema, root)) {
      std::optional<json::Value> value = fill(slot);
      if (value) out[slot.name] = std::move(*value);
      if (!value && slot.is_required) missing.emplace_back(slot.name);
    }
    return out;
  }

  std::optional<json::Value> fill(const Slot& slot) {
    const json::Array* allowed = array_at(slot.schema, "enum");
    std::optional<json::Value> value;
    if (++values > kValuesMax) return value;
    if (const json::Value* fixed = slot.schema->if_contains("const")) return *fixed;
    if (allowed) {
      for (const json::Value& one : *allowed | std::views::take(kValuesMax)) {
        bool is_longer = !value || json::write(one).size() > json::write(*value).size();
        if (is_longer && says(json::write(one))) value = one;
      }
    } else if (slot.type == "boolean") {
      if (says(slot.name)) value = !says(cat("not ", slot.name)) && !says(cat("no ", slot.name));
    } else if (slot.type == "object") {
      if (slot.is_required) value = fill_object(*slot.schema);
    } else if (slot.type == "array") {
      value = fill_array(slot);
    } else if (std::vector<Piece*> found = find(slot); !found.empty()) {
      value = fitted(slot, found[0]->text);
      found[0]->kind = word;
      if (first_text.second.empty() && slot.type == "string") first_text = {slot.name, found};
    }
    if (value || !slot.is_required || !makes_up) return value;
    if (allowed && !allowed->empty()) return allowed->front();
    if (slot.type == "boolean") return false;
    return fitted(slot, slot.rule->sample);
  }

  bool says(std::string_view text) const {
    const std::string words = words_of(text);
    return words.size() > 1 && said.find(words) != said.npos;
  }

  std::optional<json::Value> fill_array(const Slot& slot) {
    Slot item = make_slot(slot.name, object_at(slot.schema, "items"), root);
    item.is_required = slot.is_required;
    json::Array out;
    for (Piece* piece : find(item)) {
      out.push_back(fitted(item, piece->text));
      piece->kind = word;
    }
    while (slot.is_required && out.size() < std::max<std::size_t>(slot.count("minItems", 1), 1)) {
      std::optional<json::Value> value = fill(item);
      if (!value) return {};
      out.push_back(std::move(*value));
    }
    return out.empty() ? std::nullopt : std::optional<json::Value>(out);
  }

  // The pieces that fit best. An optional member gets a piece only if it is certainly meant.
  std::vector<Piece*> find(const Slot& slot) {
    std::vector<Piece*> out;
    if (has_word(" object array boolean ", slot.type) || slot.schema->contains("enum")) return out;
    std::size_t kinds = slot.is_required ? std::size(slot.rule->kinds) : slot.rule->sure;
    for (std::size_t i = 0; i < kinds && out.empty(); ++i) {
      for (std::size_t k = 0; k < pieces.size(); ++k) {
        bool fits = pieces[k].kind == slot.rule->kinds[i] && pieces[k].kind != word;
        if (fits && (slot.rule != &kNumber || i > 0 || is_named(slot, k)))
          out.push_back(&pieces[k]);
      }
    }
    return out;
  }

  // Whether a word beside the number says what the number is for.
  bool is_named(const Slot& slot, std::size_t at) const {
    std::string beside = at > 0 ? words_of(pieces[at - 1].text) : "";
    if (at + 1 < pieces.size()) beside += words_of(pieces[at + 1].text);
    std::string about = words_of(cat(slot.name, " ", text_at(slot.schema, "description")));
    return count_shared(beside, about) > 0;
  }
};

}  // namespace

std::string words_of(std::string_view text) {
  std::string out = " ";
  for (char c : utf8_prefix(text, kTextBytesMax)) {
    const char last = out.back();
    const bool belongs = is_letter(c) || is_digit(c);
    const bool begins = is_digit(c) != is_digit(last) || (c <= 'Z' && last >= 'a');
    if (last != ' ' && (!belongs || begins)) out += ' ';
    if (belongs) out += c;
  }
  return to_lower(out.back() == ' ' ? out : out + ' ');
}

Plan plan_calls(const std::vector<ToolDecl>& tools, std::string_view question,
                const ToolDecl* other) {
  const std::vector<Piece> pieces = read_pieces(question);
  std::string said;
  std::set<Kind> kinds;
  for (const Piece& piece : pieces) {
    kinds.insert(piece.kind);
    const bool tells = piece.kind == word || piece.kind == topic || piece.kind == name;
    const std::string words = words_of(utf8_prefix(piece.text, kChoiceBytesMax));
    if (tells && said.size() < kChoiceBytesMax && said.find(words) == said.npos) said += words;
  }
  // "What is in src?" has no other words that say which tool to call.
  if (kinds.contains(place) && count_shared(said, said) == 0) said += " directory ";
  auto verb = std::ranges::find_if(
      kVerbs, [&](const auto& row) { return count_shared(row.second, said) > 0; });
  if (verb != std::end(kVerbs)) said += verb->first;
  const ToolDecl* best = other;
  int most = 2;  // the most points that a description alone can give
  for (const ToolDecl& tool : tools) {
    int shape = 0;
    for (const Slot& slot : slots_of(*tool.input_schema, *tool.input_schema, kMembersMax)) {
      if (slot.rule->sure > 0 && kinds.contains(slot.rule->kinds[0]))
        shape = std::max(shape, slot.is_required ? 3 : 2);
    }
    std::string_view description = utf8_prefix(tool.description, kChoiceBytesMax);
    int points = shape + 3 * count_shared(words_of(tool.name), said) +
                 std::min(2, count_shared(words_of(description), said));
    if (points > most) best = &tool;
    most = std::max(most, points);
  }
  if (!best) return {};
  const json::Object& schema = *best->input_schema;
  Filler filler{schema, words_of(question), values_of(pieces, best->name, schema, question)};
  json::Object arguments = filler.fill_object(schema);
  Plan plan{.tool = best, .arguments = {json::write(arguments)}, .missing = filler.missing};
  const auto& [member, choices] = filler.first_text;
  for (const Piece* piece : choices) {
    bool is_more = piece->kind != word && arguments.contains(member);
    if (!is_more || plan.arguments.size() == kCallsMax) continue;
    arguments[member] = piece->text;
    plan.arguments.push_back(json::write(arguments));
  }
  return most > 2 || plan.missing.empty() ? plan : Plan();
}

json::Value make_instance(const json::Object& schema, std::string_view source,
                          std::string_view answer) {
  Filler filler{schema, words_of(source), values_of(read_pieces(source), "", schema, answer), true};
  // A quoted piece may be a value of the instance, but is not the whole answer.
  for (Piece& piece : filler.pieces) piece.kind = piece.kind == quote ? name : piece.kind;
  return filler.fill(make_slot("answer", &schema, schema)).value_or(nullptr);
}

}  // namespace errand::llm
