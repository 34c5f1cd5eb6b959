import { expect, test } from "bun:test";
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import fc from "fast-check";
import { dkimVerify } from "mailauth/lib/dkim/verify";
import { fieldsOf, signedText } from "./canonical.ts";
import { type DkimKey, signMail } from "./sign-mail.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ed25519 = generateKeyPairSync("ed25519");

const KEYS: readonly DkimKey[] = [
  { domain: "acme.test", selector: "pr1", privateKey: rsa.privateKey },
  { domain: "acme.test", selector: "pr1-ed", privateKey: ed25519.privateKey },
];

const ZONE: Readonly<Record<string, string>> = {
  "pr1._domainkey.acme.test": `v=DKIM1; k=rsa; p=${spki(rsa.publicKey).toString("base64")}`,
  "pr1-ed._domainkey.acme.test": `v=DKIM1; k=ed25519; p=${spki(ed25519.publicKey).subarray(-32).toString("base64")}`,
};

function spki(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

const HEADER = [
  "From: Shop <shop@acme.test>",
  "To: ann@example.test",
  "Subject: Your   order\r\n of today",
  "Date: Fri, 02 Jan 2026 03:04:05 +0000",
  "Message-ID: <1@acme.test>",
  "MIME-Version: 1.0",
  "Content-Type: text/plain",
].join("\r\n");

function mail(body: string, header = HEADER): Buffer {
  return Buffer.from(`${header}\r\n\r\n${body}`, "latin1");
}

/** What a verifier that is not ours says of every signature. */
async function verdicts(raw: Buffer | string): Promise<readonly string[]> {
  const resolver = async (name: string) => [[ZONE[name] ?? ""]];
  const { results } = await dkimVerify(raw, { resolver });
  return results.map(({ status }) => status.result);
}

async function signed(raw: Buffer): Promise<string> {
  return (await signMail(raw, KEYS))?.toString("latin1") ?? "";
}

test("both signatures hold for a body without a line end at its end", async () => {
  expect(await verdicts(await signed(mail("Hello\r\nthere")))).toEqual(["pass", "pass"]);
});

test("both signatures hold for a verifier that is not ours", async () => {
  const raw = await signed(mail("Hello  \t there \r\n\r\n  .\r\n\r\n\r\n"));
  expect(await verdicts(raw)).toEqual(["pass", "pass"]);
  expect(raw).toContain("a=rsa-sha256;");
  expect(raw).toContain("a=ed25519-sha256;");
});

test.each([
  ["a changed body", (raw: string) => raw.replace("Hello", "Hullo")],
  ["a changed subject", (raw: string) => raw.replace("order", "money")],
  ["a second From", (raw: string) => raw.replace("\r\nTo:", "\r\nFrom: evil@example.test\r\nTo:")],
  ["a From in front of all", (raw: string) => `From: evil@example.test\r\n${raw}`],
  ["a second Subject", (raw: string) => `Subject: You have won\r\n${raw}`],
  ["a Reply-To that was not there", (raw: string) => `Reply-To: evil@example.test\r\n${raw}`],
  ["another Content-Type", (raw: string) => `Content-Type: text/html\r\n${raw}`],
])("neither signature survives %s", async (_, change) => {
  const raw = change(await signed(mail("Hello\r\n")));
  expect(await verdicts(raw)).not.toContain("pass");
});

test("what servers do on the way is survived: other blanks, folds and cases, and fields of their own", async () => {
  const raw = await signed(mail("Hello there\r\n"));
  const carried = raw
    .replace("Your   order\r\n of today", "Your order  of\r\n\ttoday")
    .replace("\r\nTo:", "\r\nTO :")
    .replace("Hello there\r\n", "Hello  there \r\n\r\n");
  expect(await verdicts(`Received: by mx.test; today\r\n${carried}`)).toEqual(["pass", "pass"]);
});

test("any body is signed as a verifier reads it", async () => {
  const piece = fc.constantFrom(
    " ",
    "\t",
    "\r\n",
    "a",
    "bc",
    ".",
    "\u00e4",
    "x".repeat(70_000),
    "\r\n".repeat(50_000),
  );
  const property = fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
    const raw = await signed(mail(`${pieces.join("")}\r\n`));
    expect(await verdicts(Buffer.from(raw, "latin1"))).toEqual(["pass", "pass"]);
  });
  await fc.assert(property, { numRuns: 60 });
});

test("an address that ends in an octet which is a no-break space in other character sets is signed whole", async () => {
  const header = Buffer.from(HEADER.replace("ann@example.test", "用户@例え.コム"));
  expect(header.toString("latin1")).toContain("\u00a0\r\n");
  const raw = (await signMail(Buffer.concat([header, Buffer.from("\r\n\r\nHello\r\n")]), KEYS)) ?? "";
  expect(await verdicts(raw)).toEqual(["pass", "pass"]);
  const [to = ""] = header.toString("latin1").match(/(?<=To: ).*/) ?? [];
  expect(signedText(fieldsOf(header.toString("latin1")), ["To"], "b:")).toBe(`to:${to}\r\nb:`);
});

test("the same message and keys give the same octets, in lines of at most 76 characters", async () => {
  const raw = await signed(mail("Hello\r\n"));
  expect(await signed(mail("Hello\r\n"))).toBe(raw);
  const added = raw.slice(0, raw.indexOf("From: Shop"));
  expect(Math.max(...added.split("\r\n").map((line) => line.length))).toBeLessThanOrEqual(76);
});

test("with a key that cannot sign nothing is signed", async () => {
  const broken = { domain: "acme.test", selector: "pr1", privateKey: "no key" };
  expect(await signMail(mail("Hello\r\n"), [...KEYS, broken])).toBeUndefined();
  const { privateKey } = generateKeyPairSync("x25519");
  expect(await signMail(mail("Hello\r\n"), [{ ...broken, privateKey }])).toBeUndefined();
});

/** RFC 8463, appendix A: message, keys and signatures. */
const RFC_8463 = {
  fields: [
    "From: Joe SixPack <joe@football.example.com>",
    "To: Suzie Q <suzie@shopping.example.net>",
    "Subject: Is dinner ready?",
    "Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)",
    "Message-ID: <20030712040037.46341.5F8J@football.example.com>",
  ].join("\r\n"),
  body: "Hi.\r\n\r\nWe lost the game.  Are you hungry yet?\r\n\r\nJoe.\r\n",
  names: "from : to : subject : date : message-id : from : subject : date".split(" : "),
  signature: [
    "DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;",
    " d=football.example.com; i=@football.example.com;",
    " q=dns/txt; s=brisbane; t=1528637909; h=from : to :",
    " subject : date : message-id : from : subject : date;",
    " bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;",
    " b=",
  ].join("\r\n"),
  bodyHash: "2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=",
  seed: "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=",
  b: "/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11BusFa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==",
};

test("RFC 8463 appendix A comes out as it is printed", async () => {
  const { fields, names, signature, seed, b } = RFC_8463;
  // RFC 8410: what stands before the 32 octets of a private key.
  const pkcs8 = Buffer.concat([
    Buffer.from("302e020100300506032b657004220420", "hex"),
    Buffer.from(seed, "base64"),
  ]);
  const privateKey = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  const digest = createHash("sha256")
    .update(signedText(fieldsOf(fields), names, signature))
    .digest();
  expect(sign(null, digest, privateKey).toString("base64")).toBe(b);
  expect(verify(null, digest, createPublicKey(privateKey), Buffer.from(b, "base64"))).toBe(true);
  const ours = await signMail(mail(RFC_8463.body, fields), KEYS);
  expect(ours?.toString()).toContain(`bh=${RFC_8463.bodyHash};`);
});
