"""kill -9 while vendors stream, in all formats at once, with cuts between.

Each kill comes when some vendor holds its stream at a byte that chance chose. The vendors refuse
every turn that comes back edited, out of place or without its results. ERRAND_TORTURE multiplies
the number of kills; ERRAND_SEED chooses the bytes.
"""

import json
import os
import queue
import random
import threading
import unittest

from support.agent import Agent, Availability, join_all, log_problems
from support.fake_vendor import WIRES, Answer, Asked, At, FakeVendor, call, say, think, turn
from support.vendor_case import FORMATS, PROMPT, TOOLS, VendorCase, model_entry

KILLS = 6 * int(os.environ.get("ERRAND_TORTURE", "1"))
TURN_ATTEMPTS = 3
WAIT_SECONDS_MAX = 60
END_SECONDS_MAX = 120
BYTES_MAX = 4500  # about as long as the longest answer
CUT_PART = 0.15

FIRST = turn(think("Two ", "files."), say("I ", "look."), call("look", path="a"),
             call("look", path="b"))
AGAIN = turn(think("Now ", "b."), call("look", path="b"))
LAST = turn(think("Good."), say("Both ", "say hi."))
RESULTS = {"chat": '"tool_call_id"', "responses": '"function_call_output"',
           "anthropic": '"tool_result"', "gemini": '"functionResponse"'}


class Chance:
    """Says where answers are cut, and where the next one stalls so that the server is killed."""

    def __init__(self, seed: int):
        self.lock = threading.Lock()
        self.random = random.Random(seed)
        self.wants_stall = False
        self.stalled: queue.Queue[Answer] = queue.Queue()
        self.cut: set[str] = set()  # a question is cut once only, so that its turn can end

    def answer(self, name: str, asked: Asked) -> Answer:
        question = json.dumps(asked.body)
        done = question.count(RESULTS[name])
        said = FIRST if done == 0 else AGAIN if done == 1 else LAST
        with self.lock:
            place = At(more=-self.random.randint(1, BYTES_MAX))
            if self.wants_stall:
                self.wants_stall = False
                answer = Answer(turn=said, stall=place)
                self.stalled.put(answer)
                return answer
            if question not in self.cut and self.random.random() < CUT_PART:
                self.cut.add(question)
                return Answer(turn=said, cut=place)
        return Answer(turn=said)

    def wait_for_stall(self) -> None:
        with self.lock:
            self.wants_stall = True
        answer = self.stalled.get(timeout=WAIT_SECONDS_MAX)
        if not answer.gate.reached.wait(WAIT_SECONDS_MAX):
            raise AssertionError("a vendor does not come to where it stalls")


class VendorTortureTest(VendorCase):
    def setUp(self):
        self.seed = int(os.environ.get("ERRAND_SEED", "1"))
        self.chance = Chance(self.seed)
        self.availability = Availability()
        self.done = threading.Event()
        self.agents: list[Agent] = []
        self.failures: list[BaseException] = []
        self.vendors = {name: self.start_vendor(name) for name in FORMATS}
        models = [model_entry(name, vendor.url) for name, vendor in self.vendors.items()]
        self.server = self.start_server([], {"models": models, "defaultModel": FORMATS[0]})

    def start_vendor(self, name: str) -> FakeVendor:
        vendor = FakeVendor(wire=WIRES[name](),
                            script=lambda asked: self.chance.answer(name, asked))
        self.addCleanup(vendor.close)
        return vendor

    def work(self, name: str) -> None:
        """One run after the other, until there are no more kills."""
        try:
            while not self.done.is_set():
                spec = {"prompt": PROMPT, "modelId": name, "tools": TOOLS}
                agent = Agent(self.server.client(), spec, self.availability)
                self.agents.append(agent)
                agent.follow()
        except BaseException as error:
            self.failures.append(error)

    def kill_and_restart(self) -> None:
        self.availability.went_down()
        self.server.kill()
        self.server.restart()
        self.availability.came_up()

    def test_no_vendor_sees_a_turn_that_it_did_not_say(self):
        workers = [threading.Thread(target=self.work, args=[name], daemon=True)
                   for name in FORMATS]
        for worker in workers:
            worker.start()
        for _ in range(KILLS):
            self.chance.wait_for_stall()
            self.assertEqual(self.failures, [], f"seed {self.seed}")
            self.kill_and_restart()
        self.done.set()
        stuck = join_all(workers, END_SECONDS_MAX)
        self.assertEqual((self.failures, stuck), ([], 0), f"seed {self.seed}")
        refusals = {name: vendor.refusals for name, vendor in self.vendors.items()}
        self.assertEqual(refusals, {name: [] for name in FORMATS}, f"seed {self.seed}")
        self.check_logs()
        self.check_data(self.server)
        print(f"vendor torture: {len(self.agents)} runs, {KILLS} kills")

    def check_logs(self) -> None:
        client = self.server.client()
        problems = []
        for agent in self.agents:
            problems += log_problems(agent, client.log(agent.run))
            # A turn that was broken off too often may end its run with an error; nothing else may.
            end = agent.frames[-1]
            if end.event != "result" and len(agent.cuts) + 1 < TURN_ATTEMPTS:
                problems.append(f"{agent.run}: ended with {end.data!r}")
        self.assertEqual(problems, [], f"seed {self.seed}")


if __name__ == "__main__":
    unittest.main()
