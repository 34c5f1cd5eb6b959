import { expect, test } from "bun:test";
import { httpConnectorKind } from "./http-connector.ts";

const problems = (config: Record<string, unknown>, secrets: Record<string, string> = {}) =>
  httpConnectorKind.problems?.({ config, secrets });

const NO_NAME = "X-Status\n";

test("a header that can be neither read nor written is refused, and does not fail every callback", () => {
  const callback = {
    verify: { scheme: "header", secret: "auth_token", header: "X Token" },
    id: { header: NO_NAME },
    status: [{ header: "" }],
    statuses: { DELIVRD: "delivered" },
    answer: { status: 200, body: "ok", content_type: "text/plain\r\nX-Evil: 1" },
    inbound: {
      when: { header: NO_NAME },
      id: { json: "/id" },
      from: { json: "/from" },
      to: { json: "/to" },
      text: { json: "/text" },
      answer: { status: 200, body: "ok", content_type: "t\u00e9xt" },
    },
  };
  const answer = { id: { header: "X-Id:" } };
  const config = { provider: "custom", gateway: { send: { url: "https://x" }, answer, callback } };
  const found = problems(config, { auth_token: "t0ken" });
  expect(Object.keys(found ?? {}).sort()).toEqual([
    "gateway.answer.id",
    "gateway.callback.answer.content_type",
    "gateway.callback.id",
    "gateway.callback.inbound.answer.content_type",
    "gateway.callback.inbound.when",
    "gateway.callback.status.0",
    "gateway.callback.verify.header",
  ]);
});

test("an id or a status may come in a header alone", () => {
  const answer = { id: { header: "X-Message-Id" } };
  const callback = {
    id: { header: "x-id" },
    status: [{ header: "X_Status!" }],
    statuses: { DELIVRD: "delivered" },
  };
  const gateway = { send: { url: "https://x" }, answer, callback };
  expect(problems({ provider: "custom", gateway })).toEqual({});
});

test("a secret that goes into a header is refused where it cannot stand there", () => {
  const custom = (auth: Record<string, string>) => ({
    provider: "custom",
    gateway: { send: { url: "https://x", auth, headers: { "X-Key": "{{secret.api_key}}" } }, answer: {} },
  });
  const secrets = { auth_token: "t0ken\n", api_key: "k\u00e9y" };
  const word = "must be printable ASCII without line ends: it goes into a header";
  expect(problems(custom({ kind: "bearer", value: "{{secret.auth_token}}" }), secrets)).toEqual({
    auth_token: word,
    api_key: word,
  });
  const basic = { kind: "basic", username: "acme", value: "{{secret.auth_token}}" };
  expect(problems(custom(basic), secrets)).toEqual({ api_key: word });
  const infobip = { provider: "infobip", base_url: "https://x" };
  expect(problems(infobip, { api_key: "key\n" })).toEqual({ api_key: word });
  expect(problems(infobip, { api_key: "key" })).toEqual({});
});

test("a secret that requests or callbacks cannot do without is required", () => {
  const callback = {
    verify: { scheme: "hmac", header: "X-Signature", secret: "signature_secret" },
    id: { json: "/ref" },
    status: [{ json: "/state" }],
    statuses: { DONE: "delivered" },
  };
  const custom = (value: string) => ({
    provider: "custom",
    gateway: {
      send: { url: "https://x", auth: { kind: "bearer", value } },
      answer: { id: { json: "/ref" } },
      callback,
    },
  });
  const token = custom("{{secret.auth_token}}");
  expect(problems(token)).toEqual({
    auth_token: "required by gateway.send.auth",
    signature_secret: "required by gateway.callback.verify",
  });
  expect(problems(token, { auth_token: "t0ken", signature_secret: "s3cret" })).toEqual({});
  expect(problems(custom("{{secret.auth_token|default:none}}"), { signature_secret: "s3cret" })).toEqual({});
});

test("a secret in the URL or in the user name is required, and one beside another that has a default", () => {
  const custom = (send: object) => ({ provider: "custom", gateway: { send, answer: {} } });
  const basic = { kind: "basic", username: "{{secret.api_key}}", value: "x" };
  expect(problems(custom({ url: "https://x/{{secret.authkey}}/sms", auth: basic }))).toEqual({
    authkey: "required by gateway.send.url",
    api_key: "required by gateway.send.auth",
  });
  const bearer = { kind: "bearer", value: "{{secret.api_key|default:a}}.{{secret.api_secret}}" };
  expect(problems(custom({ url: "https://x", auth: bearer }))).toEqual({
    api_secret: "required by gateway.send.auth",
  });
  const optional = { url: "https://x", query: { key: "{{secret.api_key}}" } };
  expect(problems(custom(optional))).toEqual({});
});

test.each(["send", "check"])(
  "the host of %s.url is named without placeholders, and without a password",
  (part) => {
    const custom = (url: string) => ({
      provider: "custom",
      gateway: { send: { url: "https://x" }, answer: {}, [part]: { url } },
    });
    const secrets = { api_key: "k3y" };
    for (const url of [
      "https://{{secret.api_key}}.example.com/balance",
      "https://example.com:{{secret.api_key}}/balance",
      "https://acme:{{secret.api_key}}@example.com/balance",
      "{{secret.api_key}}",
      "/balance",
      "ftp://example.com",
    ]) {
      expect(problems(custom(url), secrets)).toEqual({
        [`gateway.${part}.url`]:
          "must begin with http:// or https:// and a host without placeholders or password",
      });
    }
    expect(problems(custom("https://example.com/{{secret.api_key}}/balance"), secrets)).toEqual({});
  },
);

test("the token of callbacks is not, whatever is proven with it: one that is not given is made", () => {
  const callback = {
    verify: { scheme: "header", header: "X-Token", secret: "callback_token" },
    id: { json: "/ref" },
    status: [{ json: "/state" }],
    statuses: { DONE: "delivered" },
  };
  const gateway = { send: { url: "https://x" }, answer: { id: { json: "/ref" } }, callback };
  expect(problems({ provider: "custom", gateway })).toEqual({});
});
