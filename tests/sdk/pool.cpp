// A pool of workers and its caller, for test_kill.py:
//
//   pool work FILE    answers calls until it is killed, and notes each call in the file
//   pool ask RUNS     asks for runs at the same time, and prints how their calls were answered
//   pool start        starts a run, and prints its id
//   pool join RUN FILE  answers the calls of a run, and prints what came of it

#include <errand/errand.hpp>

#include <atomic>
#include <chrono>
#include <fstream>
#include <iostream>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Item {
  int number = 0;
};

errand::Toolkit kit(const std::string& file) {
  auto handler = [file](const Item& item, errand::ToolContext& context) {
    std::ofstream(file, std::ios::app) << context.call_id() + "\n" << std::flush;
    return item.number * 2;
  };
  return errand::Toolkit(
      {.name = "pool",
       .tools = {errand::tool("double", "Doubles.", handler, {.idempotent = true})}});
}

int work(const errand::Client& client, const std::string& file) {
  errand::Worker worker =
      client.serve(kit(file), {.calls_max = 4, .claim = std::chrono::milliseconds(500)});
  std::cout << "working" << std::endl;
  std::string line;
  std::getline(std::cin, line);
  return 0;
}

int ask(const errand::Client& client, int runs) {
  std::mutex mutex;
  std::set<std::string> answered;
  std::atomic<int> succeeded = 0;
  std::atomic<int> answers = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < runs; ++i) {
    threads.emplace_back([&] {
      auto stream = client.stream({.prompt = "Go.", .toolkits = {kit("")}, .answer_calls = false});
      for (const errand::Event& event : stream) {
        if (const auto* answer = event.as<errand::ToolAnswered>(); answer && answer->ok) {
          ++answers;
          std::lock_guard lock(mutex);
          answered.insert(answer->id);
        }
        if (const auto* end = event.as<errand::RunEnded>(); end && end->reply.ok()) ++succeeded;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::cout << succeeded << " runs, " << answers << " answers to " << answered.size() << " calls\n";
  return 0;
}

int start(const errand::Client& client) {
  std::cout << client.start({.prompt = "Go.", .toolkits = {kit("")}}) << "\n";
  return 0;
}

int join(const errand::Client& client, const std::string& run, const std::string& file) {
  std::cout << client.attach(run, {.toolkits = {kit(file)}}).reply().text << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string what = words.empty() ? "" : words[0];
  errand::Client client;
  if (what == "work" && words.size() == 2) return work(client, words[1]);
  if (what == "ask" && words.size() == 2) return ask(client, std::stoi(words[1]));
  if (what == "start") return start(client);
  if (what == "join" && words.size() == 3) return join(client, words[1], words[2]);
  return 2;
}
