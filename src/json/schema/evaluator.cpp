#include "json/schema/evaluator.hpp"

#include "base/text.hpp"
#include "json/schema/message.hpp"

namespace errand::json::schema {
namespace {

constexpr std::size_t kFailureSteps = 50;

}  // namespace

void Marks::mark(std::size_t index) {
  if (index < 64) {
    first_ |= std::uint64_t{1} << index;
    return;
  }
  std::size_t word = index / 64 - 1;
  if (word >= more_.size()) more_.resize(word + 1);
  more_[word] |= std::uint64_t{1} << (index % 64);
}

bool Marks::has(std::size_t index) const {
  if (all_) return true;
  if (index < 64) return first_ >> index & 1;
  std::size_t word = index / 64 - 1;
  return word < more_.size() && (more_[word] >> (index % 64) & 1);
}

void Marks::merge(const Marks& other) {
  all_ |= other.all_;
  first_ |= other.first_;
  if (more_.size() < other.more_.size()) more_.resize(other.more_.size());
  for (std::size_t i = 0; i < other.more_.size(); ++i) more_[i] |= other.more_[i];
}

// Counts the depth and enters the resource of a node while it lives.
class Evaluator::Frame final {
 public:
  Frame(Evaluator& of, const Node& node)
      : of_(of), outer_(of.scope_), scope_{.outer = of.scope_, .resource = node.resource} {
    ++of_.frames_;
    if (!outer_ || outer_->resource != node.resource) of_.scope_ = &scope_;
  }
  ~Frame() {
    --of_.frames_;
    of_.scope_ = outer_;
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  Evaluator& of_;
  const Scope* outer_;
  Scope scope_;
};

// Suppresses reports while it lives.
class Evaluator::Silence final {
 public:
  explicit Silence(Evaluator& of) : of_(of), report_(of.report_) { of_.report_ = nullptr; }
  ~Silence() { of_.report_ = report_; }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  Evaluator& of_;
  Report* report_;
};

Evaluator::Evaluator(const Program& program, Report* report, std::int64_t work_max)
    : program_(program), report_(report), budget_(std::min(program.work_max, work_max)) {}

bool Evaluator::check(const Value& value) {
  return check(*program_.root, value, Location(), nullptr) && !gave_up();
}

bool Evaluator::check(const Node& node, const Value& value, const Location& at, Marks* marks) {
  if (!budget_.spend(1) || (report_ && report_->full())) return false;
  if (node.verdict == Verdict::always) return true;
  if (node.verdict == Verdict::never) {
    return fail(node, "", at, [&] { return cat("no value is allowed here, got ", shown(value)); });
  }
  if (frames_ == kSchemaFramesMax) {
    budget_.exhaust();
    return false;
  }
  Frame frame(*this, node);
  bool asks = (node.unevaluated_items && value.is_array()) ||
              (node.unevaluated_properties && value.is_object());
  if (!asks) return check_rules(node, value, at, marks);

  Marks own;
  bool ok = check_rules(node, value, at, &own);
  if (ok) ok = check_unevaluated(node, value, at, own);
  if (ok && marks) marks->merge(own);
  return ok;
}

bool Evaluator::check_rules(const Node& node, const Value& value, const Location& at,
                            Marks* marks) {
  if (node.types != type::kAny && !check_type(node, value, at)) return false;
  bool ok = !node.constants || check_constants(node, value, at);
  if (!goes_on(ok)) return false;
  if (node.number && value.is_number()) ok = check_number(node, value, at) && ok;
  if (node.string && value.is_string()) ok = check_string(node, value, at) && ok;
  if (node.array && value.is_array()) {
    ok = check_array(node, value.get_array(), at, marks) && ok;
  }
  if (node.object && value.is_object()) ok = check_object(node, value, at, marks) && ok;
  if (node.combination && goes_on(ok)) ok = check_combination(node, value, at, marks) && ok;
  return ok;
}

bool Evaluator::check_unevaluated(const Node& node, const Value& value, const Location& at,
                                  Marks& marks) {
  bool ok = true;
  std::size_t index = 0;
  if (const Array* array = value.if_array(); array && !marks.all()) {
    for (const Value& item : *array) {
      if (!goes_on(ok)) return false;
      if (!marks.has(index))
        ok = check(*node.unevaluated_items, item, at.item(index), nullptr) && ok;
      ++index;
    }
  }
  if (const Object* object = value.if_object(); object && !marks.all()) {
    for (const auto& member : *object) {
      if (!goes_on(ok)) return false;
      if (marks.has(index++)) continue;
      std::string_view name(member.key().data(), member.key().size());
      const Node& rest = *node.unevaluated_properties;
      ok = (rest.verdict == Verdict::never
                ? fail_unexpected(node, "unevaluatedProperties", name, at)
                : check(rest, member.value(), at.member(name), nullptr)) &&
           ok;
    }
  }
  marks.mark_all();
  return ok;
}

bool Evaluator::fits(const Node& node, const Value& value, const Location& at, Marks* marks) {
  Silence silence(*this);
  return check(node, value, at, marks);
}

void Evaluator::add_failure(const Node& node, std::string_view keyword, const Location& at,
                            std::string message) {
  std::string pointer = program_.pointer(node);
  if (!keyword.empty()) append(pointer, "/", keyword);
  add_failure({.error = {.pointer = at.pointer(),
                         .keyword = std::move(pointer),
                         .message = std::move(message)},
               .depth = at.depth});
}

void Evaluator::add_failure(const Node& node, std::string_view keyword, const Location& at,
                            Cause cause, std::string expected, std::string got) {
  add_failure({.error = {.pointer = at.pointer(),
                         .keyword = cat(program_.pointer(node), "/", keyword),
                         .message = cat("expected ", expected, ", got ", got)},
               .cause = cause,
               .depth = at.depth,
               .expected = std::move(expected),
               .got = std::move(got)});
}

// Building messages costs work, too: alternatives within alternatives can fail very often.
void Evaluator::add_failure(Failure failure) {
  const SchemaError& error = failure.error;
  std::size_t bytes = error.pointer.size() + error.keyword.size() + error.message.size();
  budget_.spend(kFailureSteps + bytes / kTextBytesPerStep);
  report_->add(std::move(failure));
}

}  // namespace errand::json::schema
