"""Sends one SMS, and repeats the request safely until it is answered. Needs nothing but Python 3.9 or later:

    API_KEY=pr_live_... python3 examples/send_sms.py +919876543210 TEMPLATE_ID 4711

The words after the template's id are its variables "1", "2" and so on.
"""
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

BASE_URL = os.environ.get("BASE_URL", "http://127.0.0.1:8080")
API_KEY = os.environ.get("API_KEY", "")


def send_sms(message: dict, wait_s: float = 1, tries: int = 6) -> dict:
    """The answer, with its message_id. However often the request is repeated, one message is made of it."""
    request = urllib.request.Request(
        BASE_URL + "/v1/sms/messages",
        data=json.dumps(message).encode(),
        headers={
            "Authorization": f"Bearer {API_KEY}",
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),  # The same in every repeat.
        },
    )
    for left in reversed(range(tries)):
        try:
            with urllib.request.urlopen(request, timeout=35) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            after = refused.headers.get("Retry-After", "")  # Of a proxy it may be a date.
            pause_s = float(after) if after.isdigit() else wait_s
            if refused.code not in (409, 429, 500, 502, 503, 504) or left == 0 or pause_s > 60:
                raise SystemExit(f"{refused.code}: {refused.read().decode()}") from refused
            time.sleep(pause_s)
        except (OSError, http.client.HTTPException) as broken:  # Nobody knows whether it was accepted.
            if left == 0:
                raise SystemExit(f"no answer: {broken}") from broken
            time.sleep(wait_s)
        wait_s *= 2
    raise AssertionError("every last try ends above")


if __name__ == "__main__":
    number, template_id, *values = sys.argv[1:]
    variables = {str(index): value for index, value in enumerate(values, 1)}
    print(send_sms({"to": number, "template_id": template_id, "variables": variables})["message_id"])
