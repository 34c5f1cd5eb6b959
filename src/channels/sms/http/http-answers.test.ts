/** What a gateway's answer means: by its status, by the rows of its description, by its ids, and in what words it is told. */
import { expect, test } from "bun:test";
import type { GatewayBehaviour } from "../../../../test/fakes/fake-gateway.ts";
import {
  httpConnector,
  MESSAGE_ID,
  never,
  openHttpRig,
  outgoingSms,
  withGateway,
} from "../../../../test/fakes/http-rig.ts";
import type { OutgoingSms } from "../../channel.ts";

const gateway = withGateway();

interface Case {
  readonly answer?: Record<string, unknown>;
  readonly config?: Record<string, unknown>;
  readonly message?: Partial<OutgoingSms>;
}

/** What a gateway with this description makes of one message by answering so. */
async function became(behaviour: GatewayBehaviour, { answer = {}, config = {}, message = {} }: Case = {}) {
  gateway().behave(behaviour);
  const described = { send: { url: gateway().url, json: { to: "{{to}}" } }, answer };
  const rig = openHttpRig(httpConnector({ provider: "custom", gateway: described, ...config }));
  const { parts, countsAsAttempt } = await rig.channel.send(outgoingSms(message), never);
  const { state, alarm } = rig.channel.status();
  await rig.channel.stop();
  return { part: parts[0], countsAsAttempt, state, alarm };
}

async function errorOf(behaviour: GatewayBehaviour, given?: Case) {
  const { part } = await became(behaviour, given);
  return part && "error" in part ? part.error : undefined;
}

test.each([
  ["sent", [200, 201, 202, 204, 299], true, "up"],
  ["rejected", [400, 406, 410, 422, 451, 499], true, "up"],
  ["deferred", [408, 425, 500, 501, 503, 521, 522, 523, 599], true, "up"],
  ["deferred", [429], false, "up"],
  ["deferred", [300, 302, 308, 401, 402, 403, 404, 405, 407], false, "down"],
  ["unconfirmed", [502, 504, 520, 524, 600, 999], true, "up"],
] as const)("a message is %s where the status is one of %p", async (kind, statuses, counts, state) => {
  for (const status of statuses) {
    const { part, countsAsAttempt, ...seen } = await became({ status });
    expect([status, part?.kind, countsAsAttempt, seen.state]).toEqual([status, kind, counts, state]);
    expect(seen.alarm).toBe(state === "down" ? "credentials_refused" : undefined);
    if (part && "error" in part) expect(part.error.code).toBe(`http.${status}`);
  }
});

test("the first row that fits the status and a value counts, and what fits none goes by its status", async () => {
  const from = { json: "/errors/*/code" };
  const rows = [
    { http: "4xx", from, is: ["7", "8"], outcome: "unconfirmed" },
    { http: "422", outcome: "barred" },
    { from: { json: "/why" }, outcome: "rejected" },
    { http: "5xx", from, is: ["7"], outcome: "sent" },
  ];
  const kindOf = async (status: number, body: object) => {
    const { part, countsAsAttempt } = await became({ status, body }, { answer: { rows } });
    return [part?.kind, countsAsAttempt];
  };
  const errors = [{ code: 6 }, { code: 8 }];
  expect(await kindOf(400, { errors })).toEqual(["unconfirmed", true]);
  expect(await kindOf(422, { errors })).toEqual(["unconfirmed", true]);
  expect(await kindOf(422, {})).toEqual(["deferred", false]);
  expect(await kindOf(500, { errors })).toEqual(["deferred", true]);
  expect(await kindOf(500, { errors: [{ code: 7 }] })).toEqual(["sent", true]);
  expect(await kindOf(500, { why: "x", errors: [{ code: 7 }] })).toEqual(["rejected", true]);
  expect(await kindOf(200, {})).toEqual(["sent", true]);
});

test("a row with a second value counts only where both fit, whichever stands first", async () => {
  const row = {
    from: { json: "/*/state", match: "^[^0]$" },
    and: { from: { json: "/*/state" }, is: ["0"] },
    outcome: "rejected",
  };
  const kindOf = async (states: readonly string[]) => {
    const body = states.map((state) => ({ state }));
    return (await became({ status: 503, body }, { answer: { rows: [row] } })).part?.kind;
  };
  expect(await kindOf(["0", "4"])).toBe("rejected");
  expect(await kindOf(["4", "0"])).toBe("rejected");
  expect(await kindOf(["4", "4"])).toBe("deferred");
  expect(await kindOf(["0", "0"])).toBe("deferred");
  expect(await kindOf([])).toBe("deferred");
});

test("a message that waits for its turn comes back after a second, or when the gateway says", async () => {
  expect((await became({ status: 503, headers: { "Retry-After": "7" } })).part).toMatchObject({
    retryAfterMs: 7_000,
  });
  expect((await became({ status: 503 })).part).not.toHaveProperty("retryAfterMs");
  await gateway().close();
  expect((await became({ status: 200 })).part).toMatchObject({ kind: "deferred", retryAfterMs: 1_000 });
});

test("the id is that of the answer, without blanks and quotes around it, and cut to what can be stored", async () => {
  const idsOf = async (id: unknown, answer: Record<string, unknown> = { id: { json: "/id" } }) => {
    const { part } = await became({ status: 200, body: { id } }, { answer });
    return part?.kind === "sent" ? part.providerMessageIds : part?.kind;
  };
  expect(await idsOf(' "a-1" ')).toEqual(["a-1"]);
  expect(await idsOf("x".repeat(300))).toEqual(["x".repeat(255)]);
  expect(await idsOf('" "')).toBe("unconfirmed");
  expect(await idsOf("a-1", {})).toEqual([]);
});

test("several different ids are those of as many parts, up to what a message can have", async () => {
  const idsOf = async (ids: readonly string[]) => {
    gateway().behave({ status: 200, body: { ids } });
    const described = { send: { url: gateway().url }, answer: { id: { json: "/ids/*" } } };
    const rig = openHttpRig(httpConnector({ provider: "custom", gateway: described }));
    const { parts } = await rig.channel.send(outgoingSms(), never);
    await rig.channel.stop();
    return parts.map((part) => (part?.kind === "sent" ? part.providerMessageIds : part?.kind));
  };
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `a-${index}`);
  expect(await idsOf(["a-1", "a-2", "a-1"])).toEqual([["a-1"], ["a-2"]]);
  expect(await idsOf(numbered(255))).toEqual(numbered(255).map((id) => [id]));
  expect(await idsOf(numbered(256))).toEqual([numbered(256)]);
});

test("where reports name a message by our id, it is known by that first, whatever the answer", async () => {
  const answer = { id: { json: "/id" }, own_id: true };
  const partOf = async (behaviour: GatewayBehaviour) => (await became(behaviour, { answer })).part;
  expect(await partOf({ status: 200, body: { id: "a-1" } })).toMatchObject({
    kind: "sent",
    providerMessageIds: [MESSAGE_ID, "a-1"],
  });
  expect(await partOf({ status: 200 })).toMatchObject({ kind: "sent", providerMessageIds: [MESSAGE_ID] });
  for (const lost of ["drop", { status: 502 }] as const) {
    const { part, countsAsAttempt } = await became(lost, { answer });
    expect(part).toMatchObject({ kind: "unconfirmed", providerMessageIds: [MESSAGE_ID] });
    expect(countsAsAttempt).toBe(true);
  }
});

test("where reports name a message by the gateway's id, one without an answer has none", async () => {
  for (const lost of ["drop", { status: 502 }] as const) {
    const { part } = await became(lost, { answer: { id: { json: "/id" } } });
    expect(part?.kind).toBe("unconfirmed");
    expect(part).not.toHaveProperty("providerMessageIds");
  }
});

/** `outcome`: of the row that such an answer fits. */
const scrubbing = (code: string, status: number, given: Case = {}) =>
  became(
    { status, body: { code }, headers: { "Retry-After": "9" } },
    { ...given, answer: { error_code: { json: "/code" }, ...given.answer } },
  );

test("a DLT scrub code refuses a message for good, whatever the status says; 670 asks to come back", async () => {
  const answer = { dlt_codes: true };
  for (const status of [400, 500]) {
    expect(await scrubbing("633", status, { answer })).toMatchObject({
      part: { kind: "rejected", error: { code: "dlt.633" } },
      countsAsAttempt: true,
    });
    expect(await scrubbing("670", status, { answer })).toMatchObject({
      part: { kind: "deferred", error: { code: "dlt.670" }, retryAfterMs: 9_000 },
      countsAsAttempt: true,
    });
  }
  for (const [status, state] of [
    [429, "up"],
    [401, "down"],
  ] as const) {
    const judged = await scrubbing("633", status, { answer });
    expect(judged).toMatchObject({ part: { kind: "deferred", error: { code: "custom.633" } }, state });
    expect(judged.countsAsAttempt).toBe(false);
  }
});

test("a number is a scrub code only where the gateway's are, or the operator says which one it stands for", async () => {
  const codeOf = async (given: Case) => {
    const { part } = await scrubbing("633", 400, given);
    return part && "error" in part ? part.error.code : undefined;
  };
  const abroad = { to: "+4915112345678" };
  expect(await codeOf({})).toBe("custom.633");
  expect(await codeOf({ answer: { dlt_codes: true } })).toBe("dlt.633");
  expect(await codeOf({ answer: { dlt_codes: true }, message: abroad })).toBe("custom.633");
  expect(await codeOf({ config: { dlt_codes: { 633: "602" } } })).toBe("dlt.602");
  expect(await codeOf({ config: { dlt_codes: { 634: "602" } } })).toBe("custom.633");
});

test("an error has a code of the gateway's own letters and digits, and its words on one line without numbers", async () => {
  const answer = { error_code: { json: "/code" }, error_text: { json: "/text" } };
  const told = (code: unknown, text?: string) => errorOf({ status: 400, body: { code, text } }, { answer });
  expect(await told(" Bad-Sender: №5 ", "no\r\n\tsuch\u200bsender ")).toEqual({
    code: "custom.bad_sender_5",
    message: "no such sender",
  });
  expect((await told("x".repeat(100), "y".repeat(300)))?.code).toBe(`custom.${"x".repeat(64)}`);
  expect((await told("1", "y".repeat(300)))?.message).toBe("y".repeat(255));
  expect(await told("—", "\u0000")).toEqual({ code: "http.400", message: "HTTP 400" });
  expect((await told("1", "to 4915112345 or +491511234567, code 12345678"))?.message).toBe(
    "to …2345 or …4567, code 12345678",
  );
  expect((await told("1", "call 123456789"))?.message).toBe("call …6789");
});

test.each([
  ["https://gw.example/send?key=s3cret&to=1", "HTTP 301, redirected to https://gw.example/send"],
  ["/send/", "HTTP 301, redirected to /send/"],
  ["https://gw.example/to/+919876543210#x", "HTTP 301, redirected to https://gw.example/to/…"],
])(
  "a redirect to %p, which is not followed, says what is wrong with the URL: %p",
  async (Location, message) => {
    const moved = { status: 301, body: "<html>\nMoved</html>", headers: { Location } };
    const answer = { error_text: { match: "^[^\\n]+" } };
    expect(await errorOf(moved, { answer })).toEqual({ code: "http.301", message });
  },
);

test("an error does not repeat the message's own number, however it is written", async () => {
  const answer = { error_text: { json: "/text" } };
  const message = { to: "+919876543210" };
  for (const written of ["98765 43210", "+91 98765-43210", "(0)98765/43210", "9876543210"]) {
    const refusal = { status: 401, body: { text: `no right to send to ${written}.` } };
    expect((await errorOf(refusal, { answer, message }))?.message).toMatch(
      /^no right to send to (?:\(0\))?….{0,4}\.$/,
    );
  }
});

test("an error's code repeats neither the message's number nor what else the gateway was told", async () => {
  const answer = { error_code: { json: "/error" } };
  const message = { to: "+919876543210", text: "Your code is 481516, valid until noon" };
  const codeOf = async (error: string) =>
    (await errorOf({ status: 400, body: { error } }, { answer, message }))?.code;
  expect(await codeOf("no such number: 98765 43210")).toBe("custom.no_such_number");
  expect(await codeOf("919876543210")).toBe("http.400");
  expect(await codeOf("blocked (Your code is 481516)")).toBe("custom.blocked");
  expect(await codeOf("another one, 4915112345678")).toBe("custom.another_one_5678");
});
