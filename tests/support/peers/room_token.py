"""Participant tokens of rooms, signed as a client with a room key signs them."""

import base64
import hashlib
import hmac
import json


def encoded(value: dict | bytes) -> bytes:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def signed(payload: dict, secret: str, header: dict | None = None) -> str:
    text = encoded(header or {"alg": "HS256"}) + b"." + encoded(payload)
    mac = hmac.new(secret.encode(), text, hashlib.sha256).digest()
    return (text + b"." + encoded(mac)).decode()


def claims(token: str) -> dict:
    """The payload of a token, unverified."""
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
