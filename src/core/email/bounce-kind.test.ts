import { describe, expect, test } from "bun:test";
import { type BounceKind, bounceKind, type Refusal } from "./bounce-kind.ts";

type Row = readonly [code: string, kind: BounceKind, rest?: Omit<Refusal, "code">];

const UNKNOWN = "550 User unknown";
const SENDER = "550 sender rejected: user unknown";

/** RFC 3463, RFC 5248 and RFC 7505: what is about the address, what is for now, and what is about message or sender. */
const BY_ENHANCED_CODE: readonly Row[] = [
  ...["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1", "5.7.13"].map((code) => [code, "hard"] as const),
  ...["5.2.2", "5.3.1", "5.4.5", "5.4.7"].map((code) => [code, "soft"] as const),
  ...["4.0.0", "4.1.1", "4.2.2", "4.4.7", "4.7.1"].map((code) => [code, "soft"] as const),
  ...[
    "5.1.7",
    "5.1.8",
    "5.3.4",
    "5.5.0",
    "5.5.4",
    "5.6.0",
    "5.6.3",
    "5.7.0",
    "5.7.1",
    "5.7.26",
    "5.7.27",
  ].map((code) => [code, "message", { text: UNKNOWN }] as const),
];

/** Codes that say nothing by themselves: the words beside them count. */
const BY_WORDS: readonly Row[] = [
  ...["5.0.0", "5.1.0"].flatMap((code): readonly Row[] => [
    [code, "hard", { text: UNKNOWN }],
    [code, "hard", { text: UNKNOWN, stage: "recipient" }],
    [code, "message", { text: UNKNOWN, stage: "message" }],
    [code, "message", { text: SENDER }],
    [code, "message", { text: "550 no" }],
    [code, "message"],
  ]),
  ["5.4.1", "hard", { server: "example-net.mail.protection.outlook.com" }],
  ["5.4.1", "hard", { text: "550 5.4.1 Recipient address rejected: Access denied." }],
  ["5.4.1", "message", { text: UNKNOWN }],
];

/** Without an enhanced code: RFC 5321 §4.2.3. */
const BY_REPLY_CODE: readonly Row[] = [
  ...["550", "551", "553"].flatMap((code): readonly Row[] => [
    [`smtp.${code}`, "hard", { stage: "recipient" }],
    [`smtp.${code}`, "hard", { text: UNKNOWN }],
    [`smtp.${code}`, "message", { text: UNKNOWN, stage: "message" }],
    [`smtp.${code}`, "message", { text: SENDER, stage: "recipient" }],
    [`smtp.${code}`, "message", { text: "no" }],
  ]),
  ...["552", "554", "500", "521"].map(
    (code) => [`smtp.${code}`, "message", { text: UNKNOWN, stage: "recipient" }] as const,
  ),
  ...["421", "450", "451", "452"].map((code) => [`smtp.${code}`, "soft", { text: UNKNOWN }] as const),
  ["smtp.no_answer", "message"],
  ["expired", "message"],
];

describe.each([
  ["enhanced code", BY_ENHANCED_CODE],
  ["words", BY_WORDS],
  ["reply code", BY_REPLY_CODE],
] as const)("by its %s", (_, rows) => {
  test.each(rows)("%s is %s (%p)", (code, kind, rest = {}) => {
    expect(bounceKind({ code, ...rest })).toBe(kind);
  });
});
