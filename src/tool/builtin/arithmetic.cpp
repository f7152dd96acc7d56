#include "tool/builtin/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "base/ascii.hpp"
#include "base/text.hpp"

namespace errand {
namespace {

struct Function {
  std::string_view name;
  std::size_t arguments;  // 0: one or more
  double (*value)(const std::vector<double>& of);
};

double smallest(const std::vector<double>& of) {
  return *std::min_element(of.begin(), of.end());
}

double largest(const std::vector<double>& of) {
  return *std::max_element(of.begin(), of.end());
}

constexpr std::array kFunctions = {
    Function{"abs", 1, [](const auto& x) { return std::abs(x[0]); }},
    Function{"acos", 1, [](const auto& x) { return std::acos(x[0]); }},
    Function{"asin", 1, [](const auto& x) { return std::asin(x[0]); }},
    Function{"atan", 1, [](const auto& x) { return std::atan(x[0]); }},
    Function{"ceil", 1, [](const auto& x) { return std::ceil(x[0]); }},
    Function{"cos", 1, [](const auto& x) { return std::cos(x[0]); }},
    Function{"exp", 1, [](const auto& x) { return std::exp(x[0]); }},
    Function{"floor", 1, [](const auto& x) { return std::floor(x[0]); }},
    Function{"ln", 1, [](const auto& x) { return std::log(x[0]); }},
    Function{"log", 1, [](const auto& x) { return std::log10(x[0]); }},
    Function{"log2", 1, [](const auto& x) { return std::log2(x[0]); }},
    Function{"max", 0, largest},
    Function{"min", 0, smallest},
    Function{"pow", 2, [](const auto& x) { return std::pow(x[0], x[1]); }},
    Function{"round", 1, [](const auto& x) { return std::round(x[0]); }},
    Function{"sin", 1, [](const auto& x) { return std::sin(x[0]); }},
    Function{"sqrt", 1, [](const auto& x) { return std::sqrt(x[0]); }},
    Function{"tan", 1, [](const auto& x) { return std::tan(x[0]); }},
};

// Evaluates in one pass from left to right, by recursive descent. After the first mistake it reads
// nothing more.
class Evaluator final {
 public:
  explicit Evaluator(std::string_view text) : text_(text) {}

  Result<double> value() {
    double value = sum();
    if (!mistake_ && at_ < text_.size()) {
      fail(cat("expected an operator instead of \"", text_[at_], "\""));
    }
    if (mistake_) return std::move(*mistake_);
    if (!std::isfinite(value)) {
      return Error(ErrorCode::invalid_argument, "the result is not a finite number");
    }
    return value;
  }

 private:
  double sum() {
    double value = product();
    for (;;) {
      if (take("+")) {
        value += product();
      } else if (take("-")) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = negation();
    for (;;) {
      if (take("/")) {
        value = divided(value, negation());
      } else if (take("%")) {
        value = std::fmod(value, nonzero(negation()));
      } else if (!is_next("**") && take("*")) {
        value *= negation();
      } else {
        return value;
      }
    }
  }

  double negation() {
    Deeper deeper(*this);
    if (mistake_) return 0;
    if (take("-")) return -negation();
    if (take("+")) return negation();
    return power();
  }

  double power() {
    double base = operand();
    if (take("**") || take("^")) return std::pow(base, negation());
    return base;
  }

  double operand() {
    Deeper deeper(*this);
    skip_space();
    if (mistake_) return 0;
    if (take("(")) {
      double value = sum();
      expect(")");
      return value;
    }
    char next = at_ < text_.size() ? text_[at_] : '\0';
    if (is_digit(next) || next == '.') return number();
    if (is_letter(next)) return named();
    return fail(at_ < text_.size() ? cat("expected a number instead of \"", next, "\"")
                                   : "the expression ends too early");
  }

  double number() {
    double value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return fail("this number cannot be read");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  double named() {
    std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    std::string name = to_lower(text_.substr(begin, at_ - begin));
    if (name == "pi") return std::numbers::pi;
    if (name == "e") return std::numbers::e;
    for (const Function& function : kFunctions) {
      if (function.name == name) return call(function);
    }
    at_ = begin;
    return fail(cat("\"", name, "\" is not known; the functions are ", arithmetic_functions()));
  }

  double call(const Function& function) {
    expect("(");
    std::vector<double> arguments;
    do {
      arguments.push_back(sum());
    } while (!mistake_ && take(","));
    expect(")");
    if (mistake_) return 0;
    if (function.arguments > 0 && arguments.size() != function.arguments) {
      return fail(cat(function.name, " takes ", function.arguments,
                      function.arguments == 1 ? " number" : " numbers"));
    }
    return function.value(arguments);
  }

  double divided(double value, double by) { return value / nonzero(by); }

  double nonzero(double value) {
    if (value == 0) fail("division by zero");
    return value;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool is_next(std::string_view token) {
    skip_space();
    return !mistake_ && text_.substr(at_).starts_with(token);
  }

  bool take(std::string_view token) {
    if (!is_next(token)) return false;
    at_ += token.size();
    return true;
  }

  void expect(std::string_view token) {
    if (!take(token)) fail(cat("expected \"", token, "\""));
  }

  double fail(std::string why) {
    if (!mistake_) {
      mistake_ = Error(ErrorCode::invalid_argument, cat("character ", at_ + 1, ": ", why));
    }
    return 0;
  }

  // Bounds the recursion, because a deep expression must not use up the stack.
  class Deeper final {
   public:
    explicit Deeper(Evaluator& evaluator) : evaluator_(evaluator) {
      if (++evaluator_.depth_ > kExpressionDepthMax) evaluator_.fail("it is nested too deeply");
    }
    ~Deeper() { --evaluator_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Evaluator& evaluator_;
  };

  const std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::optional<Error> mistake_;
};

}  // namespace

Result<double> evaluate(std::string_view expression) {
  if (expression.size() > kExpressionBytesMax) {
    return Error(ErrorCode::invalid_argument,
                 cat("the expression is longer than ", kExpressionBytesMax, " characters"));
  }
  return Evaluator(expression).value();
}

std::string arithmetic_functions() {
  std::string names;
  for (const Function& function : kFunctions)
    append(names, names.empty() ? "" : ", ", function.name);
  return names;
}

std::string shown_number(double value) {
  std::array<char, 64> digits{};
  auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                               std::chars_format::general, 15);
  std::string text(digits.data(), written.ptr);
  return text == "-0" ? "0" : text;
}

}  // namespace errand
