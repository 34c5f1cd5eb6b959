import { describe, expect, test } from "bun:test";
import { type BounceKind, bounceKind, type Refusal } from "./bounce-kind.ts";

type Row = readonly [code: string, kind: BounceKind, rest?: Omit<Refusal, "code">];

const UNKNOWN = "550 User unknown";
const SENDER = "550 sender rejected: user unknown";

/** RFC 3463, RFC 5248 and RFC 7505: what is about the address, what is for now, and what is about message or sender. */
const BY_ENHANCED_CODE: readonly Row[] = [
  ...["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1", "5.7.13"].map((code) => [code, "hard"] as const),
  ...["5.2.2", "5.3.1", "5.4.5", "5.4.7"].map((code) => [code, "soft"] as const),
  ...["4.0.0", "4.1.1", "4.2.2", "4.4.7"].map((code) => [code, "soft"] as const),
  ...["4.7.0", "4.7.1", "4.7.28", "4.7.650"].map((code) => [code, "message"] as const),
  ...["5.1.7", "5.1.8", "5.3.4", "5.5.4", "5.6.0", "5.6.3", "5.7.0", "5.7.1", "5.7.26", "5.7.27"].map(
    (code) => [code, "message", { text: UNKNOWN }] as const,
  ),
];

/** Codes that say nothing by themselves: the words beside them count. */
const BY_WORDS: readonly Row[] = [
  ...["5.0.0", "5.1.0", "5.5.0"].flatMap((code): readonly Row[] => [
    [code, "hard", { text: UNKNOWN }],
    [code, "hard", { text: UNKNOWN, stage: "recipient" }],
    [code, "hard", { text: UNKNOWN, stage: "message" }],
    [code, "soft", { text: "550 mailbox full" }],
    [code, "message", { text: SENDER }],
    [code, "message", { text: "550 no" }],
    [code, "message"],
  ]),
  ["5.4.1", "hard", { server: "example-net.mail.protection.outlook.com" }],
  ["5.4.1", "hard", { text: "550 5.4.1 Recipient address rejected: Access denied." }],
  ["5.4.1", "message", { text: UNKNOWN }],
  ["5.1.1", "soft", { text: "550 User over quota" }],
  [
    "5.2.1",
    "soft",
    {
      text: "550 The user you are trying to contact is receiving mail at a rate that prevents additional messages",
    },
  ],
  ["5.5.0", "hard", { text: "550 Requested action not taken: mailbox unavailable (S2017062302)." }],
  ["5.4.5", "message", { text: "550 Daily user sending limit exceeded" }],
  ["5.2.2", "soft", { text: "552 mailbox full: too many messages" }],
  [
    "5.7.1",
    "message",
    { text: "Domain a.example does not accept mail (nullMX)", recipient: "ann@a.example" },
  ],
];

/** Put off until the end: the words tell of whom it was said. */
const BY_WORDS_OF_DELAYS: readonly Row[] = [
  [
    "smtp.421",
    "message",
    { text: "421 [TSS04] Messages from 192.0.2.1 temporarily deferred: your IP address" },
  ],
  ["smtp.450", "message", { text: "450 too many messages from your server, try again later" }],
  ["4.2.0", "message", { text: "450 Recipient address rejected: Greylisted for 300 seconds" }],
  ["4.7.1", "soft", { text: "450 mailbox full" }],
  [
    "4.2.2",
    "soft",
    { text: "452 The recipient's inbox is out of storage space, as its daily limit is reached" },
  ],
  ["4.2.1", "soft", { text: "450 The user you are trying to contact is receiving mail at a rate that" }],
  ["smtp.450", "soft", { text: "450 mailbox busy" }],
];

/** Without an enhanced code: RFC 5321 §4.2.3. */
const BY_REPLY_CODE: readonly Row[] = [
  ...["550", "551", "553"].flatMap((code): readonly Row[] => [
    [`smtp.${code}`, "hard", { stage: "recipient" }],
    [`smtp.${code}`, "hard", { text: UNKNOWN }],
    [`smtp.${code}`, "hard", { text: UNKNOWN, stage: "message" }],
    [`smtp.${code}`, "message", { text: "550 no", stage: "message" }],
    [`smtp.${code}`, "message", { text: SENDER, stage: "recipient" }],
    [`smtp.${code}`, "message", { text: "no" }],
  ]),
  ...["552", "554"].flatMap((code): readonly Row[] => [
    [`smtp.${code}`, "message", { text: "550 no", stage: "recipient" }],
    [`smtp.${code}`, "hard", { text: UNKNOWN, stage: "message" }],
  ]),
  ...["500", "521"].map(
    (code) => [`smtp.${code}`, "message", { text: UNKNOWN, stage: "recipient" }] as const,
  ),
  ...["421", "450", "451", "452"].map((code) => [`smtp.${code}`, "soft", { text: UNKNOWN }] as const),
  ["smtp.no_answer", "message"],
  ["expired", "message"],
];

describe.each([
  ["enhanced code", BY_ENHANCED_CODE],
  ["words", BY_WORDS],
  ["words of what was put off", BY_WORDS_OF_DELAYS],
  ["reply code", BY_REPLY_CODE],
] as const)("by its %s", (_, rows) => {
  test.each(rows)("%s is %s (%p)", (code, kind, rest = {}) => {
    expect(bounceKind({ code, ...rest })).toBe(kind);
  });
});

/** Replies to RCPT TO, without an enhanced code, as servers word them. */
const WORDINGS: Readonly<Record<BounceKind, readonly string[]>> = {
  message: [
    "550 Access denied - Invalid HELO name (See RFC2821 4.1.1.1)",
    "550 Administrative prohibition",
    "550 Reverse DNS lookup for host 192.0.2.1 failed permanently",
    "550 Client host rejected: cannot find your hostname, [192.0.2.1]",
    "550 no PTR Record found.",
    "550 JunkMail rejected - [192.0.2.1] is in an RBL on zen.example.org",
    "550 Rejected: 192.0.2.1 listed at bl.example.org",
    "550 Rejected: 192.0.2.1 is in a black list at bl.example.org",
    "550 Callback setup failed while verifying <address> no such user",
    "550 Server access forbidden by your IP 192.0.2.1",
    "550 We do not accept mail from dynamic IPs",
    "550 SMTP AUTH is required for message submission on port 587",
    "550 You are not authorized to send mail",
    "550 Encryption required",
    "550 Domain acme.example does not resolve",
    "550 Domain acme.example has exceeded the max emails per hour (57/50 (114%)) allowed.",
    "550 You have exceeded your hourly sending quota",
    "550 too many invalid recipients",
    "550 Greylisted, come back later",
    "550 Email rejected due to security policies",
    "553 that domain isn't in my list of allowed rcpthosts",
    "550 not local host example.net, not a gateway",
  ],
  soft: [
    "550 Mailbox is full",
    "550 mailbox quota exceeded",
    "550 <address> is over quota",
    "550 not enough storage space in mailbox",
    "552 Requested mail action aborted: exceeded storage allocation",
    "554 recipient reached disk quota",
  ],
  hard: [
    "550 <address> User not listed in public Name & Address Book",
    "550 <address>: Recipient address rejected: User unknown in relay recipient table",
    "550 Recipient address rejected: Access denied",
    "550 Requested action not taken: mailbox unavailable",
    "550 Benutzer unbekannt",
    "551 User not local",
    "553 badrcptto",
  ],
};

describe.each(Object.entries(WORDINGS) as [BounceKind, readonly string[]][])(
  "%s by its words",
  (kind, texts) => {
    test.each(texts)("%s", (text) => {
      const code = `smtp.${text.slice(0, 3)}`;
      expect(bounceKind({ code, text, stage: "recipient" })).toBe(kind);
    });
  },
);

test.each([
  "554 delivery error: dd This user doesn't have a yahoo.com account (<address>) [0]",
  "554 30 Sorry, your message to <address> cannot be delivered. This mailbox is disabled (554.30).",
  "554 delivery error: dd This account has been disabled or discontinued [#102].",
  "552 1 Requested mail action aborted, mailbox not found",
  "554 delivery error: dd <address> is no longer valid.",
])("in answer to the message it is hard: %s", (text) => {
  expect(bounceKind({ code: `smtp.${text.slice(0, 3)}`, text, stage: "message" })).toBe("hard");
});

test.each([
  "554 Message to <address> was rejected: invalid MIME",
  "550 Invalid address in a header of the message",
  "554 Transaction failed",
  "552 message too big",
])("in answer to the message it is about the message: %s", (text) => {
  expect(bounceKind({ code: `smtp.${text.slice(0, 3)}`, text, stage: "message" })).toBe("message");
});
