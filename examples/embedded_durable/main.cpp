// A run without a server that outlives its process. Start the program, kill it with -9 while it
// counts, and start it again: the run goes on where it was.
//
//   embedded_durable DIRECTORY

#include <errand/errand.hpp>

#include <fstream>
#include <iostream>
#include <string>

struct Step {
  int number = 0;
};

int main(int argc, char** argv) {
  std::string data = argc > 1 ? argv[1] : "embedded-data";
  // An effect in the world. The tool is not idempotent: after a kill the model is told that the
  // outcome is unknown, and the effect is not repeated.
  auto count = errand::tool("count", "Writes down a number.", [&](const Step& step) {
    std::ofstream(data + "/effects", std::ios::app) << step.number << std::endl;
    return "wrote " + std::to_string(step.number);
  });

  std::vector<errand::ScriptedTurn> turns;
  for (int i = 1; i <= 20; ++i) {
    turns.push_back({.calls = {{"count", errand::Json::object({{"number", i}})}}});
  }
  turns.push_back({.text = "I have counted to 20."});
  errand::Runtime runtime({.data = data,
                           .models = {{.id = "counter", .model = errand::scripted(turns)}},
                           .tools = {count}});

  // The key finds the run that an earlier process has made.
  auto reply =
      runtime.run({.prompt = "Count.", .tools = {count}, .idempotency_key = "count-to-20"});
  std::cout << reply.text << "\n";
}
