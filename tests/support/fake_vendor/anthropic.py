"""Anthropic's Messages."""

import re

from support.fake_vendor.turn import Call, Failure, Refusal, Text, Thinking, Turn, Usage
from support.fake_vendor.wire import (
    Asked, ErrorAnswer, Event, Refused, Wire, require, require_known, signature)

FIELDS = {
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking",
    "output_config", "stop_sequences", "stream", "metadata", "service_tier", "speed",
    "cache_control", "container", "inference_geo", "diagnostics", "temperature", "top_p", "top_k"}
VERSIONS = {"2023-06-01", "2026-10-21"}
ERRORS = {
    "auth": (401, "authentication_error", "invalid x-api-key"),
    "quota": (402, "billing_error", "The balance is too low"),
    "rate_limit": (429, "rate_limit_error", "This request would exceed the rate limit"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "server": (500, "api_error", "Internal server error"),
    "timeout": (504, "timeout_error", "The request took too long"),
    "context_window": (400, "invalid_request_error",
                       "prompt is too long: 210000 tokens > 200000 maximum"),
    "content_filter": (400, "invalid_request_error", "Output blocked by content filtering policy"),
    "invalid_request": (400, "invalid_request_error", "The request is not valid"),
}
STOPS = {"length": "max_tokens", "filter": "refusal", "refusal": "refusal"}
ID = re.compile(r"[A-Za-z0-9_-]+")


def counts(usage: Usage) -> dict:
    return {"input_tokens": usage.input - usage.cached, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage.cached}


def signed(blocks: list[dict]) -> list:
    """What must stay as it is and where it is: thoughts whole, of calls their ids."""
    return [block.get("id", block) for block in blocks if block["type"] != "text"]


class Anthropic(Wire):
    path = "/v1/messages"

    # What it says.

    def events(self, turn: Turn, asked: Asked) -> list[Event]:
        model = asked.body["model"]
        blocks = [self.block(part, model) for part in turn.parts if not isinstance(part, Refusal)]
        self.issued.append(blocks)
        usage = counts(turn.usage) | {"output_tokens": 1} if turn.usage else {}
        message = {"id": self.mint("msg_"), "type": "message", "role": "assistant", "model": model,
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        out = [self.event("message_start", "start", message=message),
               self.event("ping", "")]
        parts = [part for part in turn.parts if not isinstance(part, Refusal)]
        for index, (part, block) in enumerate(zip(parts, blocks)):
            out += self.block_events(part, block, index)
            if turn.newer:
                out.append(self.event("content_block_hint", "", index=index, hint={"a": 1}))
        return out + self.ending(turn)

    @staticmethod
    def event(kind: str, mark: str, **fields) -> Event:
        return Event({"type": kind} | fields, kind, mark)

    def block(self, part: Text | Thinking | Call, model: str) -> dict:
        if isinstance(part, Text):
            return {"type": "text", "text": part.whole}
        if isinstance(part, Call):
            return {"type": "tool_use", "id": self.mint("toolu_"), "name": part.name,
                    "input": part.arguments}
        if part.kind == "redacted":
            return {"type": "redacted_thinking", "data": signature(model, "redacted", part.whole)}
        text = "" if part.kind == "omitted" else part.whole
        return {"type": "thinking", "thinking": text, "signature": signature(model, text)}

    def block_events(self, part: Text | Thinking | Call, block: dict, index: int) -> list[Event]:
        start, deltas = dict(block), []
        if isinstance(part, Text):
            start["text"] = ""
            deltas = [("text_delta", "text", "text", piece) for piece in part.pieces]
        elif isinstance(part, Call):
            start["input"] = {}
            deltas = [("input_json_delta", "partial_json", "", piece)
                      for piece in ["", *part.fragments()]]
        elif block["type"] == "thinking":
            start |= {"thinking": "", "signature": ""}
            shown = part.pieces if part.kind == "plain" else ()
            deltas = [("thinking_delta", "thinking", "thought", piece) for piece in shown]
            deltas.append(("signature_delta", "signature", "", block["signature"]))
        out = [self.event("content_block_start", "", index=index, content_block=start)]
        for kind, field, mark, value in deltas:
            delta = {"type": kind, field: value}
            out.append(self.event("content_block_delta", mark, index=index, delta=delta))
        mark = "call" if isinstance(part, Call) else "block"
        return out + [self.event("content_block_stop", mark, index=index)]

    def ending(self, turn: Turn) -> list[Event]:
        refusals = [part for part in turn.parts if isinstance(part, Refusal)]
        reason = "tool_use" if turn.calls else "end_turn"
        if turn.stop != "end":
            reason = STOPS.get(turn.stop, turn.stop)
        details = None
        if refusals:
            reason = "refusal"
            details = {"type": "refusal", "category": "general_harms",
                       "explanation": refusals[0].whole}
        usage = {}
        if turn.usage:
            usage = counts(turn.usage) | {
                "output_tokens": turn.usage.output,
                "output_tokens_details": {"thinking_tokens": turn.usage.thinking}}
        delta = {"stop_reason": reason, "stop_sequence": None, "stop_details": details}
        return [self.event("message_delta", "", delta=delta, usage=usage),
                self.event("message_stop", "end")]

    def error(self, failure: Failure) -> ErrorAnswer:
        status, kind, words = ERRORS[failure.kind]
        error = {"type": kind, "message": failure.message or words}
        body = {"type": "error", "error": error, "request_id": "req_1"}
        return ErrorAnswer(status, body, {"request-id": "req_1"})

    def stream_error(self, failure: Failure, sent: list[Event]) -> Event:
        return Event(self.error(failure).body, "error")

    # What it takes.

    def check(self, asked: Asked) -> None:
        body = asked.body
        require(asked.path == self.path, f"there is no {asked.path}")
        keys = (asked.headers.get("x-api-key"),
                asked.headers.get("authorization", "").removeprefix("Bearer "))
        if self.api_key not in keys:
            raise Refused("invalid x-api-key", 401, "auth")
        version = asked.headers.get("anthropic-version", "")
        require(version in VERSIONS, "anthropic-version: header is required")
        require_known(body, FIELDS, "Extra inputs are not permitted")
        require(isinstance(body.get("model"), str), "model: Field required")
        require(isinstance(body.get("max_tokens"), int), "max_tokens: Field required")
        require(body.get("stream") is True, "this fake answers with streams only")
        if version == "2026-10-21":
            require(not {"temperature", "top_p", "top_k"} & set(body), "temperature: not supported")
        self.check_tools(body)
        self.check_thinking(body)
        self.check_messages(body["messages"], body["model"])
        self.check_loop(body)

    @staticmethod
    def check_tools(body: dict) -> None:
        names = [tool["name"] for tool in body.get("tools", [])]
        require(len(set(names)) == len(names), "tools: Tool names must be unique.")
        for tool in body.get("tools", []):
            require(re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool["name"]) is not None,
                    f"tools: name {tool['name']!r} does not match the pattern")
            require(tool["input_schema"].get("type") == "object",
                    "tools: input_schema.type: Field required")
        choice = body.get("tool_choice")
        if choice:
            require(bool(names), "tool_choice may only be specified while providing tools")
            require(choice["type"] in ("auto", "any", "none", "tool"), "tool_choice: unknown type")
            require(choice["type"] != "tool" or choice["name"] in names,
                    "tool_choice: there is no such tool")

    @staticmethod
    def check_thinking(body: dict) -> None:
        thinking = body.get("thinking", {"type": "disabled"})
        require(thinking["type"] in ("enabled", "adaptive", "disabled", "between_tools"),
                "thinking.type: unknown")
        if thinking["type"] != "enabled":
            return
        require(1024 <= thinking["budget_tokens"] < body["max_tokens"],
                "thinking.budget_tokens: at least 1024, and less than max_tokens")
        require(body.get("tool_choice", {}).get("type") not in ("any", "tool"),
                "Thinking may not be enabled when tool_choice forces tool use.")

    def check_messages(self, messages: list[dict], model: str) -> None:
        require(bool(messages), "messages: at least one message is required")
        require(messages[0]["role"] == "user", "messages: first message must use the user role")
        require(messages[-1]["role"] == "user",
                "This model does not support assistant message prefill.")
        open_calls: list[str] = []
        seen: set[str] = set()
        for number, message in enumerate(messages):
            where = f"messages.{number}"
            require_known(message, {"role", "content"}, f"{where}: Extra inputs are not permitted")
            require(message["role"] in ("user", "assistant"), f"{where}.role: not known")
            blocks = message["content"]
            if isinstance(blocks, str):
                blocks = [{"type": "text", "text": blocks}]
            require(bool(blocks), f"{where}: content must not be empty")
            for block in blocks:
                require(block["type"] != "text" or bool(block["text"].strip()),
                        f"{where}: text content blocks must contain non-whitespace text")
            self.check_results(blocks, open_calls, where)
            open_calls = []
            if message["role"] == "assistant":
                self.check_turn(blocks, model, where)
                open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
                require(not seen & set(open_calls), f"{where}: `tool_use` ids must be unique")
                seen |= set(open_calls)
        require(not open_calls, "`tool_use` ids were found without `tool_result` blocks")

    @staticmethod
    def check_loop(body: dict) -> None:
        """While results of calls are worked on, thinking goes on only from a thought."""
        turns = [message for message in body["messages"] if message["role"] == "assistant"]
        last = turns[-1]["content"] if turns else []
        calls = [block for block in last if isinstance(block, dict) and block["type"] == "tool_use"]
        is_in_loop = body.get("thinking", {}).get("type") == "enabled" and bool(calls)
        require(not is_in_loop or "thinking" in last[0]["type"],
                "Expected `thinking` or `redacted_thinking`, but found `tool_use`.")

    @staticmethod
    def check_results(blocks: list[dict], open_calls: list[str], where: str) -> None:
        """All results of a turn come first in the message right after it."""
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        missing = sorted(set(open_calls) - set(results))
        require(not missing, f"{where}: `tool_use` ids were found without `tool_result` blocks "
                             f"immediately after: {', '.join(missing)}")
        strange = sorted(set(results) - set(open_calls))
        require(not strange, f"{where}: unexpected `tool_use_id` in `tool_result` blocks: "
                             f"{', '.join(strange)}")
        require(len(results) == len(set(results)), f"{where}: each tool_use has a single result")
        first = [block["type"] for block in blocks[: len(results)]]
        require(first == ["tool_result"] * len(results), f"{where}: results must come first")

    def check_turn(self, blocks: list[dict], model: str, where: str) -> None:
        """Thoughts are unedited, and stand before the call that they led to."""
        kinds = [block["type"] for block in blocks]
        require(kinds[-1] not in ("thinking", "redacted_thinking"),
                f"{where}: The final block in an assistant message cannot be `thinking`.")
        for block in blocks:
            if block["type"] == "thinking":
                require(block["signature"] == signature(model, block["thinking"]),
                        f"{where}: Invalid `signature` in `thinking` block")
            if block["type"] == "redacted_thinking":
                require(any(block in turn for turn in self.issued),
                        f"{where}: Invalid `data` in `redacted_thinking` block")
            if block["type"] == "tool_use":
                require(ID.fullmatch(block["id"]) is not None, f"{where}: tool_use.id: bad pattern")
                require(isinstance(block["input"], dict), f"{where}: tool_use.input: not an object")
        for turn in self.issued:
            ids = [block.get("id") for block in turn]
            called = [block["id"] for block in blocks if block.get("id") in ids and "id" in block]
            if not called:
                continue
            # A call may be left out with its result; the thoughts around it may not.
            upto = [block for block in turn[: ids.index(called[-1]) + 1]
                    if block["type"] != "tool_use" or block["id"] in called]
            require(signed(upto) == signed(blocks),
                    f"{where}: `thinking` or `redacted_thinking` blocks in the latest assistant "
                    "message cannot be modified.")
