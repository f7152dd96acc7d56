// Workers that answer the calls of runs which others ask for. Start any number of workers on any
// number of machines, and a caller:
//
//   worker_pool work &
//   worker_pool work &
//   worker_pool ask

#include <errand/errand.hpp>

#include <csignal>
#include <iostream>
#include <string>

struct Resize {
  std::string image;
  int width = 0;
};

std::string resize(const Resize& args, errand::ToolContext& context) {
  // The id is the same if another worker is asked again because this one was killed.
  return args.image + " has " + std::to_string(args.width) + " pixels (" + context.call_id() + ")";
}

errand::Toolkit images() {
  return errand::Toolkit(
      {.name = "images",
       .tools = {errand::tool("resize", "Resize an image.", resize, {.idempotent = true})}});
}

int work(const errand::Client& client) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  errand::Worker worker = client.serve(images(), {.calls_max = 4});
  std::cout << "working" << std::endl;
  int signal = 0;
  sigwait(&signals, &signal);
  worker.stop();  // finishes what it has begun
  std::cout << "answered " << worker.answered() << "\n";
  return 0;
}

int main(int argc, char** argv) {
  std::string what = argc > 1 ? argv[1] : "ask";
  // Threads inherit the mask: the signals are for work() alone.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  if (what == "work") sigaddset(&signals, SIGINT);
  if (what == "work") sigprocmask(SIG_BLOCK, &signals, nullptr);
  errand::Client client;
  if (what == "work") return work(client);
  auto reply = client.run({.prompt = "Resize the image \"cat.png\" to 320 pixels.",
                           .toolkits = {images()},
                           .answer_calls = false});
  std::cout << reply.text << "\n";
}
