import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import {
  type Bounced,
  exchangeNdr,
  eximText,
  feedbackReport,
  gmailDsn,
  outOfOffice,
  postfixDsn,
  qmailText,
} from "../../../../test/fakes/bounce-mails.ts";
import type { Receipt } from "../../../core/messages/outcome.ts";
import { createReturnPaths } from "../part-address.ts";
import { toBounceReceipt } from "./bounce-receipts.ts";
import { findTarget } from "./find-target.ts";
import { readReturnMail } from "./return-mail.ts";

const target = { messageId: randomUUID(), part: 2 };

function receiptOf(mail: string): Receipt | undefined {
  return toBounceReceipt(readReturnMail(Buffer.from(mail)), target, 1_000);
}

describe("a mail that says the address does not exist is a hard bounce, from", () => {
  test.each<[string, (over?: Bounced) => string, string]>([
    ["Postfix", postfixDsn, "5.1.1"],
    ["Exchange Online", exchangeNdr, "5.1.10"],
    ["Gmail", gmailDsn, "5.1.1"],
    ["Exim, as text", eximText, "smtp.550"],
    ["qmail, as text", qmailText, "5.1.1"],
  ])("%s", (_, mail, code) => {
    expect(receiptOf(mail())).toMatchObject({
      connectorId: "return-path",
      target,
      status: "bounced",
      suppress: "hard_bounce",
      error: { code },
    });
  });

  test("a report with bare line feeds, or in the wrong part type", () => {
    expect(receiptOf(postfixDsn().replaceAll("\r\n", "\n"))).toMatchObject({ suppress: "hard_bounce" });
    const plain = postfixDsn().replace("message/delivery-status", "text/plain");
    expect(receiptOf(plain)).toMatchObject({ suppress: "hard_bounce" });
  });
});

test("no address stands in what is kept of a bounce", () => {
  const { error, raw } = receiptOf(postfixDsn()) ?? {};
  expect(`${error?.message} ${raw}`).toContain("User unknown");
  expect(`${error?.message} ${raw}`).not.toContain("@");
});

describe("the verdict follows the code and what it answered:", () => {
  test.each<[string, Bounced & { stage?: string }, string | undefined]>([
    ["a full mailbox is soft", { status: "5.2.2", reply: "552 5.2.2 mailbox full" }, "soft_bounce"],
    ["what a relay gave up on is soft", { status: "4.4.1", reply: "connection timed out" }, "soft_bounce"],
    [
      "what Exim gave up on is soft, whatever the far server called it",
      { status: "5.0.0", reply: "450 4.1.1 <ann@example.net>: User unknown: retry timeout exceeded" },
      "soft_bounce",
    ],
    ["a policy is the message's", { status: "5.7.1", reply: "550 5.7.1 blocked" }, undefined],
    ["a size is the message's", { status: "5.3.4", reply: "552 5.3.4 too big" }, undefined],
    [
      "content refused at DATA is the message's",
      { status: "5.0.0", reply: "550 no", stage: "end of DATA" },
      undefined,
    ],
    [
      "a mailbox that is missing at DATA is hard",
      { status: "5.0.0", reply: "554 30 This mailbox is disabled (554.30).", stage: "end of DATA" },
      "hard_bounce",
    ],
    ["a bare 550 at RCPT is hard", { status: "5.0.0", reply: "550 no" }, "hard_bounce"],
    ["a bare 554 at RCPT is the message's", { status: "5.0.0", reply: "554 no" }, undefined],
    ["the diagnostic is more telling than 5.0.0", { status: "5.0.0", reply: "550 5.1.1 no" }, "hard_bounce"],
    [
      "5.4.1 of Microsoft is hard",
      { status: "5.4.1", reply: "550 5.4.1 Recipient address rejected: Access denied" },
      "hard_bounce",
    ],
    ["5.4.1 of others is not", { status: "5.4.1", reply: "550 5.4.1 no answer from host" }, undefined],
    ["a refused relay is our fault", { status: "5.0.0", reply: "550 relaying denied" }, undefined],
  ])("%s", (_, over, suppress) => {
    const receipt = receiptOf(postfixDsn(over));
    expect(receipt?.status).toBe("bounced");
    expect(receipt?.suppress).toBe(suppress as Receipt["suppress"]);
  });
});

test("that it was Microsoft is told by the name of its server too", () => {
  const mail = postfixDsn({ status: "5.4.1", reply: "550 5.4.1 no" });
  expect(receiptOf(mail)?.suppress).toBeUndefined();
  const ofMicrosoft = mail.replace("dns; mx.example.net", "dns; shop.mail.protection.outlook.com");
  expect(receiptOf(ofMicrosoft)?.suppress).toBe("hard_bounce");
});

test("a domain that a relay has found not to exist is gone for good; a fault of the DNS, or another name, says nothing", () => {
  const suppressed = (status: string, reply: string, recipient = "ann@example.net") =>
    receiptOf(postfixDsn({ status, recipient, reply: `Host or domain name not found. ${reply}` }))?.suppress;
  const error = "Name service error for";
  const gone = `${error} name=example.net type=A: Host not found`;
  expect(suppressed("5.4.4", gone)).toBe("hard_bounce");
  expect(suppressed("5.4.4", gone, "ann@Example.NET")).toBe("hard_bounce");
  expect(suppressed("5.4.4", `${error}\r\n    name=example.net type=AAAA: Host not found`)).toBe(
    "hard_bounce",
  );
  expect(suppressed("4.4.3", `${error} name=example.net type=MX: Host not found, try again`)).toBe(
    "soft_bounce",
  );
  for (const reply of [
    `${error} name=example.net type=MX: Host not found, try again`,
    `${error} name=example.net type=A: Host found but no data record of requested type`,
    // The relay's own next hop, or a host in the domain's MX record.
    `${error} name=relay.acme.example type=A: Host not found`,
    `${error} name=mx.example.net type=AAAA: Host not found`,
    "550 unable to route",
  ])
    expect(suppressed("5.4.4", reply)).toBeUndefined();
  const ofExchange = (name: string) =>
    `550 5.4.310 DNS domain ${name} does not exist [Message=InfoDomainNonexistent] [LastAttemptedServerName=${name}]`;
  expect(suppressed("5.4.310", ofExchange("example.net"))).toBe("hard_bounce");
  expect(suppressed("5.4.310", ofExchange("relay.acme.example"))).toBeUndefined();
  const nullMx = (name: string) =>
    receiptOf(postfixDsn({ status: "5.1.0", reply: `Domain ${name} does not accept mail (nullMX)` }));
  expect(nullMx("example.net")?.suppress).toBe("hard_bounce");
  expect(nullMx("relay.acme.example")?.suppress).toBeUndefined();
  const expanded = postfixDsn({ status: "5.4.4", reply: gone }).replace(/^Original-Recipient:.*/m, "$&x");
  expect(receiptOf(expanded)?.suppress).toBeUndefined();
});

test("the error says what the server said, and where it said nothing, that the message came back", () => {
  const mail = postfixDsn({ reply: "550 5.1.1 no such mailbox" });
  expect(receiptOf(mail)?.error?.message).toContain("no such mailbox");
  const wordless = mail.replace(/Diagnostic-Code: .*/, "").replace(/^<ann@example.net>: .*/m, "");
  expect(receiptOf(wordless)?.error).toEqual({ code: "5.1.1", message: "the message came back" });
});

test.each(["delivered", "relayed", "expanded"])("a report that it was %s is a delivery", (action) => {
  expect(receiptOf(postfixDsn({ action, status: "2.0.0", reply: "250 2.0.0 Ok" }))).toMatchObject({
    status: "delivered",
  });
});

test("a delay, an answer of nobody, a loop and a letter move nothing", () => {
  const loop = `${"Received: from a by b\r\n".repeat(100)}${postfixDsn()}`;
  const letter =
    "From: ann@example.net\r\nSubject: Re: Your order\r\n\r\nThank you! My old one gave error 550 5.1.1\r\n";
  const delay = postfixDsn({ action: "delayed", status: "4.4.1", reply: "timed out" });
  for (const mail of [delay, outOfOffice(), loop, letter, ""]) expect(receiptOf(mail)).toBeUndefined();
  expect(readReturnMail(Buffer.from(loop)).kind).toBe("loop");
  expect(readReturnMail(Buffer.from(outOfOffice())).kind).toBe("auto_reply");
});

test("of several recipients of one report the worst counts", () => {
  const mail = postfixDsn({ action: "delivered", status: "2.0.0", reply: "250 ok" }).replace(
    "\r\nFinal-Recipient",
    "\r\nFinal-Recipient: rfc822; x@example.net\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\nFinal-Recipient",
  );
  expect(receiptOf(mail)).toMatchObject({ status: "bounced", error: { code: "5.1.1" } });
});

test("an alias is suppressed only as far as all of those behind it are gone", () => {
  const suppressed = (action: string, ...statuses: readonly string[]) => {
    const others = statuses.map(
      (status) => `\r\nFinal-Recipient: rfc822; x@example.net\r\nAction: ${action}\r\nStatus: ${status}\r\n`,
    );
    const mail = postfixDsn().replace("\r\nFinal-Recipient", `${others.join("")}\r\nFinal-Recipient`);
    return receiptOf(mail)?.suppress;
  };
  expect(suppressed("failed", "5.1.1")).toBe("hard_bounce");
  expect(suppressed("failed", "5.2.2")).toBe("soft_bounce");
  expect(suppressed("failed", "5.7.1")).toBeUndefined();
  expect(suppressed("failed", "5.7.1", "5.2.2")).toBeUndefined();
  for (const action of ["delivered", "relayed", "expanded"])
    expect(suppressed(action, "2.0.0")).toBeUndefined();
  expect(suppressed("delayed", "4.4.1")).toBeUndefined();
});

describe("feedback", () => {
  test("is a complaint, whatever it is about; an opt-out is a wish, and praise is nothing", () => {
    const suppressed = (type: string) => receiptOf(feedbackReport({ type }))?.suppress;
    expect(["abuse", "fraud", "virus", "other", "new-word"].map(suppressed)).toEqual(
      Array(5).fill("complaint"),
    );
    expect(suppressed("opt-out")).toBe("unsubscribe");
    expect(suppressed("not-spam")).toBeUndefined();
  });

  test("names its recipient by the return path it quotes, and by none that was made up", () => {
    const paths = createReturnPaths(Buffer.alloc(32, 1));
    const forged = createReturnPaths(Buffer.alloc(32, 2)).address({ ...target, host: "x.example" });
    const returnPath = paths.address({ ...target, host: "bounces.acme.example" });
    const find = (text: string) => findTarget(Buffer.from(text), paths);
    expect(find(feedbackReport({ returnPath }))).toEqual(target);
    expect(find(feedbackReport({ returnPath: returnPath.replace("@", "=40") }))).toEqual(target);
    expect(find(feedbackReport({ returnPath: forged }))).toBeUndefined();
    expect(find(`${forged}\r\n${feedbackReport({ returnPath })}`)).toEqual(target);
    // Each costs a proof of its own, and a stranger can write thousands.
    expect(find(`${`${forged}\r\n`.repeat(49)}${feedbackReport({ returnPath })}`)).toEqual(target);
    expect(find(`${`${forged}\r\n`.repeat(50)}${feedbackReport({ returnPath })}`)).toBeUndefined();
  });
});
