// Plays a run again that `errand runs export` wrote to the standard input, and prints its text and
// the results that the model was given, for test_programs.py.

#include <errand/errand.hpp>

#include <iostream>
#include <iterator>
#include <string>

int main() {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  errand::RecordedRun recorded = errand::read_export(text);
  auto model = errand::scripted(recorded.turns);
  errand::Runtime runtime({.models = {{.id = "recorded", .model = model}}});
  recorded.options.tools = recorded.tools();
  std::cout << runtime.run(recorded.options).text << "\n";
  const char* before = "";
  for (const auto& result : model->questions().back().messages.back().results) {
    std::cout << before << result.text;
    before = " ";
  }
  std::cout << "\n";
}
