/** What is told of a refusal: the provider's own code and words, and whether it is the message or we who are refused. */
import { expect, test } from "bun:test";
import type { GatewayAnswer } from "../../../../../test/fakes/fake-gateway.ts";
import {
  httpConnector,
  never,
  openHttpRig,
  outgoingSms,
  withGateway,
} from "../../../../../test/fakes/http-rig.ts";

const gateway = withGateway();

const SETTINGS = {
  gupshup: [{ userid: "1" }, { password: "p" }],
  infobip: [{}, { api_key: "k" }],
  kannel: [{ username: "a" }, { password: "p" }],
  msg91: [{}, { authkey: "k" }],
  plivo: [{ auth_id: "MA1" }, { auth_token: "t" }],
  twilio: [{ account_sid: "AC1" }, { auth_token: "t" }],
  vonage: [{}, { api_key: "k", api_secret: "s" }],
} as const;

type Provider = keyof typeof SETTINGS;

async function refused(provider: Provider, answer: GatewayAnswer) {
  gateway().behave(answer);
  const [config, secrets] = SETTINGS[provider];
  const rig = openHttpRig(httpConnector({ provider, base_url: gateway().url, ...config }, secrets));
  const { parts, countsAsAttempt } = await rig.channel.send(outgoingSms(), never);
  const { alarm } = rig.channel.status();
  await rig.channel.stop();
  return { part: parts[0], countsAsAttempt, alarm };
}

const REFUSALS: readonly [Provider, GatewayAnswer, code: string, message: string][] = [
  ["gupshup", { status: 200, body: "error | 633 | TEMPLATE_NOT_MATCHED" }, "dlt.633", "DLT scrubbing"],
  [
    "infobip",
    {
      status: 400,
      body: { requestError: { serviceException: { messageId: "BAD_REQUEST", text: "no sender" } } },
    },
    "http.400",
    "no sender",
  ],
  [
    "infobip",
    {
      status: 200,
      body: {
        messages: [{ status: { groupName: "REJECTED", name: "REJECTED_SENDER", description: "bad sender" } }],
      },
    },
    "infobip.rejected_sender",
    "bad sender",
  ],
  [
    "kannel",
    { status: 400, body: "Sender missing, rejected\r\nmore" },
    "http.400",
    "Sender missing, rejected",
  ],
  [
    "msg91",
    { status: 400, body: { type: "error", message: "bad flow", code: "299" } },
    "msg91.299",
    "bad flow",
  ],
  ["msg91", { status: 200, body: { type: "error", message: "x", code: "633" } }, "dlt.633", "DLT scrubbing"],
  ["plivo", { status: 400, body: { error: "dst is not valid" } }, "http.400", "dst is not valid"],
  ["twilio", { status: 400, body: { code: 21211, message: "bad number" } }, "twilio.21211", "bad number"],
  [
    "vonage",
    { status: 200, body: { messages: [{ status: "6", "error-text": "no route" }] } },
    "vonage.6",
    "no route",
  ],
];

test.each(REFUSALS)(
  "%s: a refusal %p of the message is told as %s, %s",
  async (provider, answer, code, message) => {
    const { part, countsAsAttempt, alarm } = await refused(provider, answer);
    expect(part).toMatchObject({
      kind: "rejected",
      error: { code, message: expect.stringContaining(message) },
    });
    expect([countsAsAttempt, alarm]).toEqual([true, undefined]);
  },
);

/** As it answers while the account has no credit: with an id for the message all the same. */
function rejectedByInfobip(name: string): GatewayAnswer {
  const status = { groupId: 5, groupName: "REJECTED", id: 12, name, description: "Not enough credits" };
  return { status: 200, body: { messages: [{ messageId: "2224685519820522881", status }] } };
}

const BARS: readonly [Provider, GatewayAnswer][] = [
  ["gupshup", { status: 200, body: "error | 101 | x" }],
  ["gupshup", { status: 200, body: "error | 103 | x" }],
  ["infobip", rejectedByInfobip("REJECTED_NOT_ENOUGH_CREDITS")],
  ["infobip", rejectedByInfobip("REJECTED_PREPAID_PACKAGE_EXPIRED")],
  ["msg91", { status: 418 }],
  ["msg91", { status: 200, body: { type: "error", code: "207" } }],
  ["msg91", { status: 200, body: { type: "error", code: 401 } }],
  ...["208", "301", "302", "303"].map((code): [Provider, GatewayAnswer] => [
    "msg91",
    { status: 200, body: { type: "error", code } },
  ]),
  ["twilio", { status: 403, body: { code: 20003 } }],
  ["twilio", { status: 403, body: { code: 20005 } }],
  ["vonage", { status: 200, body: { messages: [{ status: "8" }] } }],
  ["vonage", { status: 200, body: { messages: [{ status: "11" }] } }],
  ["vonage", { status: 200, body: { messages: [{ status: "14" }] } }],
];

test.each(BARS)(
  "%s: a refusal %p is of the account, and no message fails for it",
  async (provider, answer) => {
    const { part, countsAsAttempt, alarm } = await refused(provider, answer);
    expect([part?.kind, countsAsAttempt, alarm]).toEqual(["deferred", false, "credentials_refused"]);
  },
);

test("an error of Infobip's own system is none of the message, which is tried again", async () => {
  const { part, countsAsAttempt, alarm } = await refused(
    "infobip",
    rejectedByInfobip("REJECTED_SYSTEM_ERROR"),
  );
  expect([part?.kind, countsAsAttempt, alarm]).toEqual(["deferred", true, undefined]);
});

const LIMITS: readonly [Provider, GatewayAnswer][] = [
  ["twilio", { status: 400, body: { code: 14107 } }],
  ["twilio", { status: 400, body: { code: 20429 } }],
  ["vonage", { status: 200, body: { messages: [{ status: "10" }] } }],
];

test.each(LIMITS)("%s: %p only asks for a slower pace", async (provider, answer) => {
  const { part, countsAsAttempt, alarm } = await refused(provider, answer);
  expect(part).toMatchObject({ kind: "deferred", retryAfterMs: 1_000 });
  expect([countsAsAttempt, alarm]).toEqual([false, undefined]);
});
