import { expect, test } from "bun:test";
import { verifyWebhook } from "../../test/fakes/verify-webhook.ts";
import { sign, type Unsigned } from "./sign.ts";

const OLD = "whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB";
const NEW = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const NOW_S = 1_700_000_000;
const event: Unsigned = { id: "msg_test", timestamp: NOW_S, body: '{"type":"sms.delivered"}' };

const verify = (headers: Record<string, string>, options: { secret: string; body?: string; nowS?: number }) =>
  verifyWebhook(
    {
      headers: { "webhook-id": event.id, "webhook-timestamp": String(NOW_S), ...headers },
      body: options.body ?? event.body,
    },
    { secret: options.secret, nowS: options.nowS ?? NOW_S },
  );

test("the published example is signed as published, with or without the prefix of its secret", () => {
  for (const secret of [OLD, OLD.replace("whsec_", "")])
    expect(sign(event, [secret])).toBe("v1,XraqDknNrlkqYJqvxaJRzP6OnlfvwiZk/JV8Gr8/g7Y=");
});

test("during a rotation receivers with the old and with the new secret both accept it", () => {
  const headers = { "webhook-signature": sign(event, [NEW, OLD]) };
  expect(headers["webhook-signature"].split(" ")).toHaveLength(2);
  expect(verify(headers, { secret: NEW })).toBeUndefined();
  expect(verify(headers, { secret: OLD })).toBeUndefined();
});

test("text of every script is signed as the bytes that are sent", () => {
  const body = JSON.stringify({ name: "नमस्ते 👪 ₹\u0000" });
  const headers = { "webhook-signature": sign({ ...event, body }, [NEW]) };
  expect(verify(headers, { secret: NEW, body })).toBeUndefined();
});

test("another secret, body, id or time does not fit", () => {
  const headers = { "webhook-signature": sign(event, [NEW]) };
  expect(verify(headers, { secret: OLD })).toBe("no signature fits");
  expect(verify(headers, { secret: NEW, body: `${event.body} ` })).toBe("no signature fits");
  expect(verify({ ...headers, "webhook-id": "msg_other" }, { secret: NEW })).toBe("no signature fits");
  expect(verify({ ...headers, "webhook-timestamp": String(NOW_S + 1) }, { secret: NEW })).toBe(
    "no signature fits",
  );
  expect(verify(headers, { secret: NEW, nowS: NOW_S + 301 })).toBe("the timestamp is too far from now");
});
