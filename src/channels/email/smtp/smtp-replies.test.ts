import { expect, test } from "bun:test";
import { cpuMsOf } from "../../../../test/cpu-time.ts";
import {
  isServiceClosing,
  isThrottled,
  type TransactionReport,
  toMessageError,
  toPartOutcome,
  toQueueId,
} from "./smtp-replies.ts";

const LOST = { kind: "lost", reason: "gone", wasContentSent: false, wasUnanswered: false } as const;
const TAKEN = { kind: "taken", reply: "250 2.0.0 Ok: queued as 4F1C2" } as const;

function outcome(answer: string | undefined, end: TransactionReport["end"]) {
  const entry = answer === "accepted" ? "accepted" : { refusal: answer ?? "" };
  const recipients = new Map(answer === undefined ? [] : [["a@b.test", entry] as const]);
  return toPartOutcome({ recipients, end }, "a@b.test", []);
}

test("5yz to a recipient bounces it, 4yz defers it, whatever became of the others", () => {
  for (const end of [TAKEN, { kind: "recipients_refused" } as const, LOST]) {
    expect(outcome("550 5.1.1 no such user", end)).toMatchObject({ kind: "rejected", bounced: true });
    expect(outcome("450 4.2.1 greylisted", end)).toMatchObject({
      kind: "deferred",
      error: { code: "4.2.1" },
    });
  }
});

test("5yz to the sender or the message rejects without a bounce, 4yz defers", () => {
  for (const kind of ["sender_refused", "message_refused"] as const) {
    const rejected = outcome("accepted", { kind, reply: "554 5.7.1 no" });
    expect(rejected).toEqual({ kind: "rejected", error: { code: "5.7.1", message: "554 no" } });
    expect(outcome("accepted", { kind, reply: "451 try later" })).toEqual({
      kind: "deferred",
      error: { code: "smtp.451", message: "451 try later" },
    });
  }
});

test("a message that is refused for the one mailbox it is for has bounced, also after DATA", () => {
  const refusedWith = (reply: string, others: readonly string[] = []) => {
    const recipients = new Map(["a@b.test", ...others].map((address) => [address, "accepted" as const]));
    return toPartOutcome({ recipients, end: { kind: "message_refused", reply } }, "a@b.test", []);
  };
  for (const reply of ["550 5.1.1 no such user", "552 5.2.2 mailbox full", "550 5.2.1 disabled"])
    expect(refusedWith(reply)).toMatchObject({ kind: "rejected", bounced: true });
  const recipients = new Map<string, "accepted" | { refusal: string }>([
    ["a@b.test", "accepted"],
    ["gone@example.test", { refusal: "550 5.1.1 no such user" }],
  ]);
  const end = { kind: "message_refused", reply: "550 5.1.1 no such user" } as const;
  expect(toPartOutcome({ recipients, end }, "a@b.test", [])).toMatchObject({ bounced: true });
  expect(refusedWith("550 5.4.1 Recipient address rejected: Access denied")).toMatchObject({ bounced: true });
  for (const reply of [
    "550 5.0.0 user unknown",
    "554 30 This mailbox is disabled (554.30).",
    "550 over quota (#5.2.2)",
  ])
    expect(refusedWith(reply)).toMatchObject({ bounced: true });
  // With two of them in the envelope it does not say which one.
  expect(refusedWith("550 5.1.1 no such user", ["bob@example.test"])).not.toHaveProperty("bounced");
  for (const reply of ["550 no", "554 5.7.1 spam", "552 5.3.4 too big", "550 5.1.8 bad sender"])
    expect(refusedWith(reply)).not.toHaveProperty("bounced");
  expect(refusedWith("450 5.1.1 busy").kind).toBe("deferred");
});

test("a refused sender outweighs the replies to recipients that came with it", () => {
  expect(outcome("503 need MAIL first", { kind: "sender_refused", reply: "451 busy" }).kind).toBe("deferred");
  expect(outcome("550 need MAIL first", { kind: "sender_refused", reply: "451 busy" }).kind).toBe("deferred");
});

test("replies about the session reject nothing: the message is not to blame", () => {
  for (const code of ["503", "530", "534", "535", "538"]) {
    expect(outcome(`${code} 5.7.0 no`, { kind: "recipients_refused" }).kind).toBe("deferred");
  }
});

test("a connection lost after the final dot leaves accepted recipients unconfirmed and no others", () => {
  const end = { ...LOST, wasContentSent: true };
  expect(outcome("accepted", end).kind).toBe("unconfirmed");
  expect(outcome(undefined, end).kind).toBe("deferred");
  expect(outcome("accepted", LOST).kind).toBe("deferred");
});

test("the error is one line of at most 200 characters, without addresses", () => {
  const reply =
    "550-5.1.1 <bob.smith@example.com>: Recipient address rejected\r\n550 5.1.1 ask bob@example.com\tnow";
  expect(toMessageError(reply)).toEqual({
    code: "5.1.1",
    message: "550 <address>: Recipient address rejected ask <address> now",
  });
  expect(toMessageError(`550 ${"é".repeat(5_000)}`).message).toHaveLength(200);
  expect(toMessageError(`550 ${"a".repeat(100_000)}@${"b".repeat(100_000)}`).message.length).toBe(200);
  expect(toMessageError("??").code).toBe("smtp.reply");
});

test("an enhanced code may also stand behind a number sign, unless it says nothing or is of another class", () => {
  const codeOf = (reply: string) => toMessageError(reply).code;
  expect(codeOf("553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)")).toBe("5.7.1");
  expect(codeOf("550 #5.7.1 Your access to submit messages has been rejected.")).toBe("5.7.1");
  expect(codeOf("522 mailbox is full (#5.2.2 - chkuser)")).toBe("5.2.2");
  expect(codeOf("451 no answer from DNS (#4.4.3)")).toBe("4.4.3");
  expect(codeOf("550 #5.1.0 Address rejected.")).toBe("smtp.550");
  expect(codeOf("450 busy (#5.1.1)")).toBe("smtp.450");
  expect(codeOf("550 5.1.1 gone (#5.7.1)")).toBe("5.1.1");
  expect(codeOf("550 order#5.1.1 is unknown")).toBe("smtp.550");
});

test("an enhanced code that contradicts its reply is no code of the refusal", () => {
  const codeOf = (reply: string) => toMessageError(reply).code;
  expect(codeOf("450 5.1.1 unknown, for now")).toBe("smtp.450");
  expect(codeOf("451 2.0.0 fine, but later")).toBe("smtp.451");
  expect(codeOf("550 2.1.5 fine, but no")).toBe("smtp.550");
  expect(codeOf("550 4.2.2 mailbox full")).toBe("4.2.2");
});

test("an address whose local part is quoted is no more shown than any other", () => {
  expect(toMessageError('550 no "ann smith"@b.test here, nor <"a"@b.test>').message).toBe(
    "550 no <address> here, nor <address>",
  );
});

test("an address in a long word without blanks is not shown either", () => {
  const word = `id:${"0".repeat(300)}:ann@example.com:${"1".repeat(300)}`;
  expect(toMessageError(`550 refused ${word} today`).message).toBe("550 refused <address> today");
});

test("the refusals of fifty recipients are read at once, however long their words are", async () => {
  const refusals = ["a", "\u200b", '"', "<", "id:", 'a<"@'].map(
    (piece) => `550 5.1.1 ${piece.repeat(2_000)}`,
  );
  const tookMs = await cpuMsOf(() => {
    // Twenty emails to fifty recipients, of each kind.
    for (let i = 0; i < 1_000; i++) refusals.forEach(toMessageError);
  });
  expect(tookMs).toBeLessThan(5_000);
});

test("the queue id is read from the replies of Postfix, Exim, smtp-server and SES, and not invented", () => {
  expect(toQueueId("250 2.0.0 Ok: queued as 4bXyZ12")).toBe("4bXyZ12");
  expect(toQueueId("250 OK id=1tAbCd-0000Ab-Cd")).toBe("1tAbCd-0000Ab-Cd");
  expect(toQueueId("250 OK: message queued as abc123")).toBe("abc123");
  const ses = "0102018f2f5e7a3b-7c1d2e3f-0a1b-4c5d-8e9f-001122334455-000000";
  expect(toQueueId(`250 Ok ${ses}`)).toBe(ses);
  for (const none of ["250 OK", "250 OK valid=yes", "250 Ok thanks"]) expect(toQueueId(none)).toBeUndefined();
});

test("one recipient too many for an envelope is tried again, beside those that were taken", () => {
  const to = (refusal: string, others: "accepted"[] = ["accepted"]) => {
    const recipients = new Map<string, "accepted" | { refusal: string }>(
      others.map((answer, index) => [`${index}@b.test`, answer]),
    );
    return toPartOutcome({ recipients: recipients.set("a@b.test", { refusal }), end: TAKEN }, "a@b.test", []);
  };
  for (const refusal of ["552 too many recipients", "552 5.5.3 too many", "554 5.5.3 too many"]) {
    expect(to(refusal).kind).toBe("deferred");
    expect(to(refusal, [])).toMatchObject({ kind: "rejected", bounced: true });
  }
  expect(to("452-4.5.3 Domain policy size per transaction exceeded").kind).toBe("deferred");
  for (const refusal of ["552 5.2.2 mailbox full", "550 5.1.1 no such user", "554 no"]) {
    expect(to(refusal)).toMatchObject({ kind: "rejected", bounced: true });
  }
});

test("a server is closing where 421 is its reply, and not a word in it", () => {
  expect(["421 4.3.2 closing", "421"].map(isServiceClosing)).toEqual([true, true]);
  expect(["554 5.3.2 no, as 421 said", "450 421", "4210"].map(isServiceClosing)).toEqual([
    false,
    false,
    false,
  ]);
});

test.each([
  ["454 Throttling failure: Maximum sending rate exceeded.", true],
  ["454 Throttling failure: Daily message quota exceeded.", true],
  ["451 4.7.1 Rate limit exceeded, slow down", true],
  ["421 4.7.0 Too many messages in this session", true],
  ["450 4.7.1 Your sending rate is too high", true],
  ["454 4.7.0 TLS not available due to temporary reason", false],
  ["451 4.7.1 Greylisted, try again later", false],
  ["452 4.3.1 Insufficient system storage", false],
  ["554 5.7.1 Throttling is for others", false],
  ["451 4.6.0 cannot read: Subject: rate limit of your card", false],
])("%p: we send too fast: %p", (reply, expected) => {
  const recipients: TransactionReport["recipients"] = new Map([["a@b.test", "accepted" as const]]);
  for (const kind of ["sender_refused", "message_refused"] as const)
    expect(isThrottled({ recipients, end: { kind, reply } })).toBe(expected);
  const refused = new Map([["a@b.test", { refusal: reply }]]);
  expect(isThrottled({ recipients: refused, end: { kind: "recipients_refused" } })).toBe(false);
});
