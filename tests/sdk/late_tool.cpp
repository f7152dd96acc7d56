// A run whose program is killed before its tool is done, for test_kill.py:
//
//   late_tool DIRECTORY ask      starts a run, and waits in its tool until it is killed
//   late_tool DIRECTORY look     does not have the tool, and says so once the run waits for it
//   late_tool DIRECTORY answer   registers the tool once the run waits for it, and prints the reply

#include <errand/errand.hpp>

#include <cstdlib>
#include <fstream>
#include <future>
#include <iostream>
#include <string>

namespace {

constexpr const char* kKey = "count-once";

errand::RuntimeOptions options(const std::string& data) {
  auto model = errand::scripted({{.calls = {{"count"}}}, {.text = "counted"}});
  return {.data = data, .models = {{.id = "counter", .model = model}}};
}

// `waits`: for ever.
errand::Tool count(const std::string& data, bool waits) {
  auto handler = [data, waits] {
    std::ofstream(data + "/effects", std::ios::app) << "begun" << std::endl;
    if (!waits) return;
    std::cout << "called" << std::endl;
    std::promise<void>().get_future().wait();
  };
  // A call of an idempotent tool may be made again.
  return errand::tool("count", "Counts.", handler, {.idempotent = true});
}

// Follows the run until it waits for its tool, and gives the rest of its events.
errand::RunStream wait_for_tool(const errand::Runtime& runtime) {
  auto stream = runtime.attach(runtime.list().runs.at(0).id);
  while (runtime.missing_tools().empty() && stream.next()) {
  }
  return stream;
}

int ask(const std::string& data) {
  errand::Runtime runtime(options(data));
  runtime.run({.prompt = "Count.", .tools = {count(data, true)}, .idempotency_key = kKey});
  return 1;
}

int look(const std::string& data) {
  errand::Runtime runtime(options(data));
  auto stream = wait_for_tool(runtime);
  std::cout << "waits for " << runtime.missing_tools().at(0) << std::endl;
  stream.reply();
  return 1;
}

int answer(const std::string& data) {
  errand::Runtime runtime(options(data));
  auto stream = wait_for_tool(runtime);
  runtime.add(count(data, false));
  std::cout << stream.reply().text << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[2] : "";
  if (what == "ask") return ask(argv[1]);
  if (what == "look") return look(argv[1]);
  if (what == "answer") return answer(argv[1]);
  return 2;
}
