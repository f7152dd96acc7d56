// A model in the program's own code: anything that answers a question, such as a local inference
// engine or a set of rules.

#include <errand/errand.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

struct Sum {
  int a = 0;
  int b = 0;
};

// Calls a tool once, and tells its result.
class Clerk final : public errand::Model {
 public:
  void ask(const errand::Question& question, errand::AnswerSink& sink) override {
    const errand::QuestionMessage& last = question.messages.back();
    if (last.results.empty()) {
      sink.thinking("A sum: the tool knows.");
      sink.call("add", errand::Json::object({{"a", 2}, {"b", 40}}));
    } else {
      sink.text("It is " + last.results.front().text + ".");
    }
    sink.usage({.input_tokens = 10, .output_tokens = 5});
  }
};

int main() {
  errand::Runtime runtime({.models = {{.id = "clerk", .model = std::make_shared<Clerk>()}}});
  auto add = errand::tool("add", "Adds.", [](const Sum& sum) { return sum.a + sum.b; });
  auto reply = runtime.run({.prompt = "What is 2 + 40?", .tools = {add}});
  std::cout << reply.text << " (" << reply.usage.input_tokens << " tokens in)\n";
}
