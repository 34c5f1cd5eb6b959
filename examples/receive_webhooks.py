"""Receives webhooks and checks who sent them. Needs nothing but Python 3.9 or later:

    WEBHOOK_SECRET=whsec_... PORT=8443 TLS_CERT=cert.pem TLS_KEY=key.pem python3 examples/receive_webhooks.py

The secret is what `postrider webhooks secret --account ID` prints. Without TLS_CERT it speaks HTTP, for a proxy that
does the TLS.
"""
import base64
import hashlib
import hmac
import json
import os
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET", "")
if SECRET == "":  # With an empty one anybody could sign.
    raise SystemExit("WEBHOOK_SECRET is not set")


def is_genuine(headers, body: bytes) -> bool:
    """True if whoever knows the secret sent exactly this body, within the last five minutes."""
    sent_at = headers.get("webhook-timestamp", "")
    signed = f"{headers.get('webhook-id')}.{sent_at}.".encode() + body
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    wanted = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    given = headers.get("webhook-signature", "").split(" ")
    is_signed = any(hmac.compare_digest(wanted.encode(), each.encode()) for each in given)
    return is_signed and sent_at.isdigit() and abs(time.time() - int(sent_at)) <= 300


seen = set()  # Deliveries may be repeated: keep this in your database, with what the event changes there.


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_genuine(self.headers, body):
            return self.answer(401)
        event, webhook_id = json.loads(body), self.headers["webhook-id"]
        if webhook_id not in seen:
            print(event["type"], webhook_id, flush=True)  # What it is about is in event["data"].
        seen.add(webhook_id)
        self.answer(204)  # Any 2xx within 15 seconds: it will not come again.

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("", int(os.environ.get("PORT", "8443"))), Receiver)
    if os.environ.get("TLS_CERT"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print("listening", server.server_address[1], flush=True)
    server.serve_forever()
