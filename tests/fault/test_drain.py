"""SIGTERM under load: nothing is lost, and clients come back by themselves."""

import threading

from support.agent import Agent, Availability, join_all, log_problems
from support.script import local_tool, turn
from support.server import ServerCase

RUNS = 24
END_SECONDS_MAX = 60
RESTARTS = 4
SUSPECTS = 8
TURN_DELTA_MS = 2000  # twice the time that a server takes to drain
SCRIPTS = {
    "talk": [turn(*(f"word{n} " for n in range(500)), deltaDelayMs=8)],
    "ask": [turn("Wait.", calls=[("hold", {})]), turn("Thank you.")],
}


class DrainTest(ServerCase):
    def setUp(self):
        self.server = self.start_server(SCRIPTS)
        self.availability = Availability()
        self.streaming = threading.Semaphore(0)
        self.may_answer = threading.Event()
        self.failures: list[BaseException] = []

    def follow(self, agent: Agent) -> None:
        try:
            agent.follow()
        except BaseException as error:
            self.failures.append(error)
            self.streaming.release()

    def saw(self, agent: Agent, frame) -> None:
        if len(agent.frames) == 1:
            self.streaming.release()

    def start_agents(self) -> list[Agent]:
        agents = []
        for n in range(RUNS):
            model = "talk" if n % 2 else "ask"
            spec = {"prompt": "Go.", "modelId": model, "tools": [local_tool("hold")]}
            agent = SlowAgent(self.server.client(), spec, self.availability, self.saw)
            agent.may_answer = self.may_answer
            thread = threading.Thread(target=self.follow, args=[agent], daemon=True)
            thread.start()
            agent.thread = thread
            agents.append(agent)
        return agents

    def test_streams_are_reset_and_the_next_start_continues_every_run(self):
        agents = self.start_agents()
        for _ in agents:
            self.assertTrue(self.streaming.acquire(timeout=60))
        self.availability.went_down()
        code = self.server.terminate()
        # The server did not wait for the runs: half of them cannot end before they are answered.
        ended = [agent.run for agent in agents
                 if agent.frames and agent.frames[-1].event == "result"]
        self.assertEqual((code, ended), (0, []))
        self.server.restart()
        self.may_answer.set()
        self.availability.came_up()
        stuck = join_all([agent.thread for agent in agents], END_SECONDS_MAX)
        self.assertEqual((self.failures, stuck), ([], 0))
        errors = {type(cut.error) for agent in agents for cut in agent.cuts}
        self.assertEqual(errors, {ConnectionResetError})
        self.assertTrue(all(agent.cuts for agent in agents))
        client = self.server.client()
        problems = [problem for agent in agents
                    for problem in log_problems(agent, client.log(agent.run))]
        self.assertEqual(problems, [])
        self.assertEqual({agent.frames[-1].event for agent in agents}, {"result"})


class RestartTest(ServerCase):
    """Restarts are not crashes, however many of them one turn of a model sees."""

    def test_a_turn_that_four_restarts_cut_comes_to_its_end(self):
        server = self.start_server({"long": [turn("Once upon a time", " there was", " an end.",
                                                  deltaDelayMs=TURN_DELTA_MS)]})
        client = server.client()
        run = client.create(prompt="Tell me a story.", modelId="long")
        seen = 0
        for _ in range(RESTARTS):
            with client.stream(run, seen) as stream:
                seen = stream.until("assistant_delta")[-1].seq
            self.assertEqual(server.terminate(), 0)
            server.restart()
        frames = client.log(run)
        restarted = [frame for frame in frames if frame.event == "turn_restarted"]
        self.assertEqual((len(restarted), frames[-1].event), (RESTARTS, "result"))
        self.assertEqual(client.snapshot(run)["status"], "succeeded")
        self.check_data(server)


class HeldBackTest(ServerCase):
    """Runs that went on when a server was killed are tried a few at a time, and /readyz says so."""

    def ready(self, server) -> dict:
        while (answer := server.client().request_at("GET", "/readyz")).status != 200:
            refusal = answer.json()
            self.assertEqual(refusal["code"], "recovering", answer.body)
            self.assertRegex(refusal["message"], r"being taken over: \d+ are left$")
        return answer.json()

    def test_readyz_counts_the_runs_that_are_held_back_until_all_have_gone_on(self):
        server = self.start_server({"long": [turn("Once upon a time", " there was an end.",
                                                  deltaDelayMs=TURN_DELTA_MS)]})
        client = server.client()
        runs = [client.create(prompt="Tell me a story.", modelId="long") for _ in range(SUSPECTS)]
        seen = dict.fromkeys(runs, 0)
        for _ in range(2):  # the first kill makes no run suspect, because none had been resumed
            for run in runs:
                with client.stream(run, seen[run]) as stream:
                    seen[run] = stream.until("assistant_delta")[-1].seq
            server.kill()
            server.restart()
        while not (held := self.ready(server).get("heldBack", 0)):
            pass
        self.assertLessEqual(held, SUSPECTS)
        self.assertRegex(server.errors(), r'took over runs of the last process goOn="\d+" '
                                          r'heldBack="[1-9]\d*" waitForClients="0"')
        for run in runs:
            self.assertEqual(client.log(run)[-1].event, "result")
        while "heldBack" in self.ready(server):
            pass
        self.check_data(server)


class SlowAgent(Agent):
    """Answers no call before it may."""

    def answer_all(self) -> None:
        if self.may_answer.is_set():
            super().answer_all()
