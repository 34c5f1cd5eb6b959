import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { eximText, postfixDsn } from "../../../../test/fakes/bounce-mails.ts";
import {
  eximDsn,
  internationalDsn,
  internationalEximDsn,
  openSmtpdDsn,
  sendmailDsn,
} from "../../../../test/fakes/worded-reports.ts";
import { toBounceReceipt } from "./bounce-receipts.ts";
import { reasonsInWords } from "./reasons-in-words.ts";
import { readReturnMail } from "./return-mail.ts";

const target = { messageId: randomUUID(), part: 0 };
const receiptOf = (mail: string) => toBounceReceipt(readReturnMail(Buffer.from(mail), true), target, 1_000);

test("OpenSMTPD's report says why in its words for people only, and is judged by them", () => {
  const verdict = (reply?: string) => {
    const { suppress, error } = receiptOf(openSmtpdDsn(reply === undefined ? {} : { reply })) ?? {};
    return [suppress, error?.code, error?.message];
  };
  expect(verdict()).toEqual([
    "hard_bounce",
    "5.1.1",
    "550 5.1.1 <address>: Recipient address rejected: User unknown",
  ]);
  expect(verdict("552 5.2.2 mailbox full")).toEqual(["soft_bounce", "5.2.2", "552 5.2.2 mailbox full"]);
  expect(verdict("550 5.7.1 blocked")).toEqual([undefined, "5.7.1", "550 5.7.1 blocked"]);
  expect(verdict("550 Unrouteable address")).toEqual(["hard_bounce", "smtp.550", "550 Unrouteable address"]);
  expect(verdict("Domain does not exist")).toEqual([undefined, "5.0.0", "Domain does not exist"]);
});

test("OpenSMTPD has given up a mail whose envelope has expired, though it says that it is delayed", () => {
  const delayed = { action: "delayed", status: "4.4.7" };
  expect(receiptOf(openSmtpdDsn({ ...delayed, reply: "Envelope expired" }))).toMatchObject({
    status: "bounced",
    suppress: "soft_bounce",
    error: { code: "4.4.7", message: "Envelope expired" },
  });
  expect(receiptOf(openSmtpdDsn({ ...delayed, reply: "450 4.2.0 later" }))).toBeUndefined();
});

test("the reason in an Exim report's words is told where no other server has refused the mail", () => {
  const verdict = (reply: string) => {
    const { suppress, error } = receiptOf(eximDsn({ reply })) ?? {};
    return [suppress, error?.message];
  };
  expect(verdict("Unrouteable address")).toEqual(["hard_bounce", "Unrouteable address"]);
  const nullMx = "an MX or SRV record indicated no SMTP service";
  expect(verdict(nullMx)).toEqual(["hard_bounce", nullMx]);
  expect(verdict("mailbox is full:\nretry timeout exceeded")).toEqual([
    "soft_bounce",
    "mailbox is full: retry timeout exceeded",
  ]);
  expect(verdict("retry timeout exceeded")).toEqual([undefined, "retry timeout exceeded"]);
});

test("an alias that leads to an address which is gone is suppressed only after days, since it may lead to others", () => {
  const user = "550 5.1.1 no such user";
  const suppressed = (mail: string) => receiptOf(mail)?.suppress;
  const forwarded = (alias: string) =>
    postfixDsn().replace(/^Original-Recipient:.*/m, `Original-Recipient: rfc822;${alias}`);
  expect(suppressed(forwarded("team@example.org"))).toBe("soft_bounce");
  expect(suppressed(forwarded("Ann@Example.NET"))).toBe("hard_bounce");
  const tagged = forwarded("ann+2Bshop@example.net").replace(
    /^Final-Recipient:.*/m,
    "Final-Recipient: rfc822; ann+shop@example.net",
  );
  expect(suppressed(tagged)).toBe("hard_bounce");
  const expanded = (alias: string) =>
    eximDsn({ reply: user }).replace(user, `(generated from ${alias})\r\n    ${user}`);
  expect(suppressed(expanded("ann@example.net"))).toBe("soft_bounce");
  expect(suppressed(expanded("team@example.org"))).toBe("hard_bounce");
  const ofOldExim = eximText().replace("    SMTP error", "    (generated from team@example.org)\r\n$&");
  expect(suppressed(ofOldExim)).toBe("soft_bounce");
  expect(suppressed(eximText().replace("created automatically", "generated"))).toBe("hard_bounce");
  expect(suppressed(sendmailDsn({ leadsTo: "bob@example.org" }))).toBe("soft_bounce");
  expect(suppressed(sendmailDsn())).toBe("hard_bounce");
});

test("whom the mail could not be delivered to is told, since the one who got it may be another, and only if it is an address", () => {
  const told = (mail: string) => receiptOf(mail)?.recipient;
  const field = (name: string, value: string) => (mail: string) =>
    mail.replace(new RegExp(`^${name}:.*`, "m"), `${name}: rfc822; ${value}`);
  expect(told(eximText({ recipient: "bob@example.org" }))).toBe("bob@example.org");
  expect(told(field("Final-Recipient", "bob@example.org")(eximDsn()))).toBe("bob@example.org");
  expect(told(field("Original-Recipient", "team@example.org")(postfixDsn()))).toBe("team@example.org");
  const tagged = postfixDsn({ recipient: "ann+shop@example.net" });
  expect(told(field("Original-Recipient", "ann+2Bshop@example.net")(tagged))).toBe("ann+shop@example.net");
  for (const none of ["ann", "ann@example.net (user unknown)"])
    expect(told(field("Final-Recipient", none)(eximDsn()))).toBeUndefined();
});

test("an international address is read in each form in which servers report it, and so are the words about it", () => {
  const recipient = "用户@example.net";
  const verdict = (mail: string) => {
    const { recipient, suppress, error } = receiptOf(mail) ?? {};
    return [recipient, suppress, error?.message];
  };
  const words = "550 5.1.1 用户不存在";
  const raw = internationalDsn({ recipient, reply: words });
  expect(verdict(raw)).toEqual([recipient, "hard_bounce", words]);
  const escaped = raw.replaceAll("utf-8; 用户", "utf-8; \\x{7528}\\x{6237}");
  expect(verdict(escaped)).toEqual([recipient, "hard_bounce", words]);
  expect(verdict(raw.replaceAll("用户@", "\\x{1F4E6}@"))[0]).toBe("📦@example.net");
  for (const none of ["\\x{00}", "\\x{D800}", "\\x{DFFF}", "\\x{40}", "\\x{9F}", "\\x{110000}", "\\300\\200"])
    expect(verdict(raw.replaceAll("用户@", `${none}@`))[0]).toBe(`${none}@example.net`);
  const ofExim = internationalEximDsn({ recipient });
  expect(verdict(ofExim)).toEqual([recipient, "hard_bounce", "Unrouteable address"]);
  const octal = String.raw`\347\224\250\346\210\267\344\270\215\345\255\230\345\234\250`;
  const diagnosed = ofExim.replace("Status: 5.0.0", `$&\r\nDiagnostic-Code: smtp; 550 5.1.1 ${octal}`);
  expect(verdict(diagnosed)).toEqual([recipient, "hard_bounce", words]);
  const ofOldExim = eximText({ recipient: "\\347\\224\\250\\346\\210\\267@example.net" });
  expect(verdict(ofOldExim).slice(0, 2)).toEqual([recipient, "hard_bounce"]);
});

test("words in another character set than UTF-8 spoil nothing of what is beside them", () => {
  const mail = internationalDsn({ recipient: "用户@example.net", reply: "550 5.1.1 KEIN" });
  const octets = Buffer.from(mail.replaceAll("KEIN", "\u00a0KEIN"));
  const latin = Buffer.from(
    octets.toString("latin1").replaceAll("\u00c2\u00a0KEIN", "unzul\u00e4ssig"),
    "latin1",
  );
  const { recipient, suppress, error } = toBounceReceipt(readReturnMail(latin, true), target, 1_000) ?? {};
  expect([recipient, suppress, error?.message]).toEqual([
    "用户@example.net",
    "hard_bounce",
    "550 5.1.1 unzulässig",
  ]);
});

test("Exim says why an alias has bounced below the address that it leads to", () => {
  const alias = eximDsn({ recipient: "all@example.net", reply: "unknown user" }).replace(
    "  all@example.net\r\n",
    "  bob@example.net\r\n    (generated from All@example.net)\r\n",
  );
  expect(receiptOf(alias)).toMatchObject({
    recipient: "all@example.net",
    suppress: "soft_bounce",
    error: { code: "5.0.0", message: "unknown user" },
  });
});

test("each recipient has a reason of its own, up to an empty line or a line that is indented no deeper", () => {
  const words = [
    "We could not reach them: ask ann@example.net",
    "ann@example.net wrote",
    "  Ann@Example.net",
    "    host mx.example.net:",
    "    550 no",
    "  <bob@example.net>: 552 full",
    "      ",
    "    unlike this",
    "Bob@example.net: said twice",
    "cy@example.net:",
  ].join("\r\n");
  expect([...reasonsInWords(words)]).toEqual([
    ["ann@example.net", "host mx.example.net: 550 no"],
    ["bob@example.net", "552 full"],
    ["cy@example.net", ""],
  ]);
});
