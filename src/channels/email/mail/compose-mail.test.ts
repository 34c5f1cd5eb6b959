import { expect, test } from "bun:test";
import fc from "fast-check";
import PostalMime, { decodeWords } from "postal-mime";
import { cpuMsOf } from "../../../../test/cpu-time.ts";
import type { EmailContent } from "../../../core/messages/message.ts";
import { composeMail, type MailToCompose } from "./compose-mail.ts";

const CONTENT: EmailContent = {
  channel: "email",
  from: { email: "shop@acme.test", name: "Acme, Inc." },
  to: [{ email: "ann@example.test", name: "Ann Ö" }],
  subject: "Your order",
  bodyText: "Hello",
};

function mail(changes: Partial<EmailContent> = {}, dkim?: MailToCompose["dkim"]): MailToCompose {
  return {
    messageId: "01927a3e-0000-7000-8000-000000000001",
    createdAt: Date.UTC(2026, 0, 2, 3, 4, 5),
    content: { ...CONTENT, ...changes },
    ...(dkim && { dkim }),
  };
}

async function compose(changes: Partial<EmailContent> = {}, dkim?: MailToCompose["dkim"]): Promise<Buffer> {
  const composed = await composeMail(mail(changes, dkim));
  if (composed.kind !== "composed") throw new Error(composed.error.message);
  return composed.raw;
}

async function parse(changes: Partial<EmailContent> = {}) {
  return PostalMime.parse(await compose(changes));
}

function isWireSafe(raw: Buffer): boolean {
  const text = raw.toString("latin1");
  const lines = text.split("\r\n");
  return !/[\r\n]/.test(lines.join("")) && lines.every((line) => line.length <= 998) && text.endsWith("\r\n");
}

test("Message-ID and Date come from the message, and composing twice gives the same octets", async () => {
  const changes = { bodyHtml: "<p>Hello</p>" };
  const parsed = await parse(changes);
  expect(parsed.messageId).toBe("<01927a3e-0000-7000-8000-000000000001@acme.test>");
  expect(parsed.date).toBe("2026-01-02T03:04:05.000Z");
  expect((await compose(changes)).equals(await compose(changes))).toBe(true);
});

test("a subject of only spaces makes a mail without one, and no line of only spaces", async () => {
  const header = (await compose({ subject: " ".repeat(998) })).toString().split("\r\n\r\n")[0] ?? "";
  expect(header).not.toMatch(/^subject:/im);
  expect(header.split("\r\n").filter((line) => line.trim() === "")).toEqual([]);
});

test("the Date of a scheduled email is when it was asked to go out", async () => {
  const scheduledAt = Date.UTC(2026, 0, 9, 3, 4, 5);
  expect((await parse({ scheduledAt })).date).toBe("2026-01-09T03:04:05.000Z");
});

test("names, reply-to and custom headers arrive as they were given", async () => {
  const parsed = await parse({
    replyTo: "help@acme.test",
    cc: [{ email: "c1@x.test" }, { email: "c2@x.test", name: 'Quote " me' }],
    headers: { "X-Order-iD": "42", "List-Unsubscribe": "<https://acme.test/u>", "X-Note": "über" },
  });
  expect(parsed.from).toEqual({ address: "shop@acme.test", name: "Acme, Inc." });
  expect(parsed.to).toEqual([{ address: "ann@example.test", name: "Ann Ö" }]);
  expect(parsed.cc?.map(({ address }) => address)).toEqual(["c1@x.test", "c2@x.test"]);
  expect(parsed.cc?.[1]?.name).toBe('Quote " me');
  expect(parsed.replyTo?.[0]?.address).toBe("help@acme.test");
  const header = (name: string) => parsed.headers.find(({ key }) => key === name)?.value;
  expect([header("x-order-id"), header("list-unsubscribe"), header("x-note")]).toEqual([
    "42",
    "<https://acme.test/u>",
    "=?UTF-8?Q?=C3=BCber?=",
  ]);
  expect((await compose({ headers: { "X-Order-iD": "42" } })).toString()).toContain("\r\nX-Order-iD: 42\r\n");
});

test("a custom header in ASCII is on the wire as it was given, quotation marks included", async () => {
  const headers = {
    "List-Id": '"Acme, \\"the\\" shop" <news.acme.test>',
    "X-SMTPAPI": '{"unique_args":{"order":"42"}}',
    "X-Plain": "a ? b _ c = d",
    "X-Folded": `"${"one two ".repeat(20)}"`,
  };
  const raw = (await compose({ headers })).toString().replaceAll(/\r\n(?=[ \t])/g, "");
  for (const [name, value] of Object.entries(headers)) expect(raw).toContain(`\r\n${name}: ${value}\r\n`);
});

test("ids and URLs in angle brackets are left as they are, whatever stands beside them", async () => {
  const headers = {
    "List-Id": "Grüße, Shop <news.acme.test>",
    "List-Unsubscribe": "<https://acme.test/u?a=?b>, <mailto:u@acme.test> (abmelden, später)",
    "X-Close": "ü<a>ü",
  };
  const raw = (await compose({ headers })).toString().replaceAll(/\r\n(?=[ \t])/g, "");
  expect(raw).toContain("\r\nList-Id: =?UTF-8?Q?Gr=C3=BC=C3=9Fe=2C_Shop?= <news.acme.test>\r\n");
  expect(raw).toContain("\r\nList-Unsubscribe: <https://acme.test/u?a=?b>, <mailto:u@acme.test> =?UTF-8?");
  expect(raw).toContain("\r\nX-Close: =?UTF-8?B?w7w=?= <a> =?UTF-8?B?w7w=?=\r\n");
});

test("a custom header without a value is sent", async () => {
  const names = ["X-Empty", "In-Reply-To", "References", "List-Id"];
  const headers = { ...Object.fromEntries(names.map((name) => [name, ""])), "X-Blank": "  ", "X-A": "1" };
  const raw = (await compose({ headers })).toString();
  for (const name of [...names, "X-Blank"]) expect(raw).toMatch(new RegExp(`(?:^|\\r\\n)${name}:\\r\\n`));
  expect(await parse({ headers })).toMatchObject({ subject: "Your order", text: "Hello\n" });
});

test("blanks outside ASCII are part of a custom header's value, also at its ends and alone", async () => {
  for (const value of ["\u3000é\u00a0", "\u00a0a", "a\u2003", "\u3000", "ü\ufeff", "é \u3000 ü"]) {
    const raw = (await compose({ headers: { "X-Note": value } })).toString().replaceAll(/\r\n(?=[ \t])/g, "");
    expect(decodeWords(/\r\nX-Note: (.*)\r\n/.exec(raw)?.[1] ?? "")).toBe(value);
  }
  const beside = (await compose({ headers: { "List-Id": " \u3000é\u3000 <a.test>" } })).toString();
  expect(beside).toContain("\r\nList-Id: =?UTF-8?B?44CAw6njgIA=?= <a.test>\r\n");
});

test("text comes before HTML in a multipart/alternative", async () => {
  const raw = (await compose({ bodyHtml: "<p>Hëllo</p>" })).toString();
  expect(raw).toMatch(/Content-Type: multipart\/alternative;/);
  expect(raw.indexOf("text/plain")).toBeGreaterThan(0);
  expect(raw.indexOf("text/html")).toBeGreaterThan(raw.indexOf("text/plain"));
  const parsed = await parse({ bodyHtml: "<p>Hëllo</p>" });
  expect([parsed.text?.trim(), parsed.html?.trim()]).toEqual(["Hello", "<p>Hëllo</p>"]);
});

test("Bcc is nowhere in the message", async () => {
  const raw = (await compose({ bcc: [{ email: "secret@x.test", name: "Secret" }] })).toString();
  expect(raw).not.toMatch(/bcc|secret/i);
});

test("CR, LF and NUL are refused in every header value, and so are names that are not ours to give", async () => {
  for (const evil of ["a\r\nBcc: x@y.test", "a\rb", "a\nb", "a\0b"]) {
    for (const changes of [
      { subject: evil },
      { from: { email: "shop@acme.test", name: evil } },
      { from: { email: `shop@acme.test${evil}` } },
      { to: [{ email: "a@b.test", name: evil }] },
      { cc: [{ email: evil }] },
      { bcc: [{ email: `a@b.test${evil}` }] },
      { replyTo: `a@b.test${evil}` },
      { headers: { "X-A": evil } },
      { headers: { [`X-A${evil}`]: "1" } },
    ]) {
      expect((await composeMail(mail(changes))).kind).toBe("refused");
    }
  }
  for (const name of ["Bcc", "from", "Content-Type", "DKIM-Signature", "Resent-To", "X A", "X:A", "", "Ü"]) {
    expect((await composeMail(mail({ headers: { [name]: "1" } }))).kind).toBe("refused");
  }
});

test("the longest subjects arrive whole, in lines that servers take", async () => {
  for (const subject of [
    "x".repeat(998),
    "é".repeat(998),
    "😀".repeat(499),
    "ab ".repeat(332),
    "=?utf-8?Q?trap?=",
  ]) {
    const raw = await compose({ subject });
    expect(isWireSafe(raw)).toBe(true);
    expect((await PostalMime.parse(raw)).subject).toBe(subject.trim());
  }
});

test("a name that readers would take for encoded words arrives as it was given", async () => {
  const trap = "=?utf-8?q?Your=20Bank?=";
  for (const name of [trap, `a "${trap}" \\ b`, ` <${trap}`, `${"long ".repeat(30)}${trap}`]) {
    const from = { email: "shop@acme.test", name };
    const cc = [
      { email: '"=?x"@x.test' },
      { email: '"a b"@x.test', name },
      { email: "c@x.test", name: "C, =three" },
    ];
    const raw = await compose({ from, to: [from], cc });
    const parsed = await PostalMime.parse(raw);
    const names = [parsed.from, ...(parsed.to ?? []), ...(parsed.cc ?? [])].map((one) => one?.name);
    expect(names).toEqual([name, name, "", name, "C, =three"]);
    // Between quotation marks nothing is an encoded word, but many readers decode it all the same.
    expect(raw.toString()).not.toMatch(/=\?utf-8\?q\?Your/);
    expect(raw.toString()).toContain('<"=?x"@x.test>');
    expect(isWireSafe(raw)).toBe(true);
  }
});

test("every line of a header begins with a field's name or continues a field, whatever blanks the values have", async () => {
  const anyValue = fc
    .array(
      fc.oneof(
        fc.constantFrom(...' \u00a0\u3000\ufeff\u2003<>=?"é', " ".repeat(80), "x".repeat(70), "<a@b>"),
        fc.string({ unit: "grapheme-ascii", maxLength: 80, size: "max" }),
        fc.string({ unit: "grapheme", maxLength: 20, size: "max" }),
      ),
      { maxLength: 12, size: "max" },
    )
    .map((pieces) => pieces.join("").replaceAll(CONTROLS, "").slice(0, 990));
  const property = fc.asyncProperty(anyValue, anyValue, async (first, second) => {
    const raw = await compose({
      subject: first || "x",
      from: { email: "shop@acme.test", name: second },
      headers: { "X-First": second, Comments: first, References: first, "In-Reply-To": second },
    });
    const [header = ""] = raw.toString().split("\r\n\r\n");
    expect(header.split("\r\n").filter((line) => !/^(?:[!-9;-~]+:|[ \t]+[^ \t])/.test(line))).toEqual([]);
    const parsed = await PostalMime.parse(raw);
    expect(parsed.messageId).toBe("<01927a3e-0000-7000-8000-000000000001@acme.test>");
  });
  await fc.assert(property, { numRuns: 300 });
});

const CONTROLS = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;

test("a header that cannot be folded is refused, not sent as an overlong line", async () => {
  expect((await composeMail(mail({ headers: { "X-Long": "x".repeat(1_000) } }))).kind).toBe("refused");
});

test("any text arrives as it was, and only CRLF ends a line on the wire", async () => {
  const anyText = fc.array(
    fc.oneof(
      fc.constantFrom(
        "\r",
        "\n",
        "\r\n",
        ".",
        "..",
        "\t",
        " ",
        "=",
        "€",
        "\n.\r",
        "From ",
        "x".repeat(1_100),
      ),
      fc.string({ unit: "grapheme", maxLength: 40, size: "max" }),
    ),
    { maxLength: 30, size: "max" },
  );
  const property = fc.asyncProperty(anyText, async (pieces) => {
    const bodyText = `${pieces.join("")}|`;
    const raw = await compose({ bodyText });
    expect(isWireSafe(raw)).toBe(true);
    const parsed = await PostalMime.parse(raw);
    expect(parsed.text?.replace(/\r\n/g, "\n").replace(/\n$/, "")).toBe(
      bodyText.replace(/\r\n|\r|\n/g, "\n"),
    );
  });
  await fc.assert(property, { numRuns: 60 });
});

test("a body that is cut into pieces is not changed by the cuts", async () => {
  for (const unit of ["😀\r\n", "é\r", "a😀", "\r\n", "plain words here "]) {
    for (const lead of ["", "x", "xy"]) {
      const bodyText = `${lead}${unit.repeat(Math.ceil(150_000 / unit.length))}|`;
      const { text } = await parse({ bodyText });
      expect(text?.trimEnd().replace(/\r\n/g, "\n") === bodyText.replace(/\r\n|\r|\n/g, "\n")).toBe(true);
    }
  }
});

test("a header that is one long blank is composed at once", async () => {
  // Longer than a request may have it, so that a pattern that tries each blank would take a quarter of a minute.
  const headers = { "X-Note": `é${" ".repeat(50_000)}b` };
  expect(await cpuMsOf(() => compose({ headers }))).toBeLessThan(5_000);
});

test("10 MiB do not hold up the loop", async () => {
  let turns = 0;
  let isDone = false;
  const turn = () => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  turn();
  const raw = await compose({ bodyText: "Grüße an alle. ".repeat(700_000) });
  isDone = true;
  expect(raw.length).toBeGreaterThan(10 * 1024 * 1024);
  expect(turns).toBeGreaterThan(100);
});

test("an international domain is written in ASCII; an international local part needs SMTPUTF8", async () => {
  const domain = await composeMail(mail({ to: [{ email: "ann@bücher.test" }] }));
  expect(domain).toMatchObject({ kind: "composed", needsSmtpUtf8: false });
  const local = await composeMail(mail({ to: [{ email: "jürgen@bücher.test" }] }));
  expect(local).toMatchObject({ kind: "composed", needsSmtpUtf8: true });
});

test("a key that cannot sign stops the message: it is never sent unsigned", async () => {
  const dkim = [{ domain: "acme.test", selector: "pr1", privateKey: "no key" }];
  expect(await composeMail(mail({}, dkim))).toMatchObject({ kind: "refused", error: { code: "smtp.dkim" } });
});
