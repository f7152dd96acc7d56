"""Model vendors that say what a test wrote down, over HTTP, in the words of each of them."""

from support.fake_vendor.anthropic import Anthropic
from support.fake_vendor.answer import Answer, At
from support.fake_vendor.azure import AzureChat, AzureResponses
from support.fake_vendor.chat import DIALECTS, Chat
from support.fake_vendor.gemini import Gemini
from support.fake_vendor.responses import Responses
from support.fake_vendor.server import FakeVendor, make_certificate
from support.fake_vendor.turn import Failure, Turn, Usage, call, refuse, say, think, turn
from support.fake_vendor.wire import Asked, Event, Refused, Wire

WIRES = {"chat": Chat, "responses": Responses, "anthropic": Anthropic, "gemini": Gemini}

__all__ = [
    "DIALECTS", "WIRES", "Anthropic", "Answer", "Asked", "At", "AzureChat", "AzureResponses",
    "Chat", "Event", "Failure", "FakeVendor", "Gemini", "Refused", "Responses", "Turn", "Usage",
    "Wire", "call", "make_certificate", "refuse", "say", "think", "turn"]
