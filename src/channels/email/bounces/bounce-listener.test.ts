import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes, randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { feedbackReport, postfixDsn } from "../../../../test/fakes/bounce-mails.ts";
import { createHeldClock, type HeldClock } from "../../../../test/fakes/held-clock.ts";
import { mailBack } from "../../../../test/fakes/mail-back.ts";
import { testTls } from "../../../../test/fakes/test-tls.ts";
import type { Receipt } from "../../../core/messages/outcome.ts";
import { createReturnPaths, createUnsubscribeAddresses } from "../part-address.ts";
import { createUnsubscribeTokens, type Unsubscription } from "../unsubscribe-token.ts";
import { type BounceListener, type BounceListenerOptions, openBounceListener } from "./bounce-listener.ts";
import { createReturnMailHandler } from "./return-mail-handler.ts";

const key = randomBytes(32);
const returnPaths = createReturnPaths(key);
const unsubscribeAddresses = createUnsubscribeAddresses(key);
const unsubscribes = createUnsubscribeTokens(key);
const of = { messageId: randomUUID(), part: 1, host: "bounces.acme.example" };
const path = returnPaths.address(of);
const log = { info() {}, warn() {}, debug() {} };

let listener: BounceListener;
let clock: HeldClock;
let stored: Receipt[];
let wishes: Unsubscription[];
/** What the store does before it answers. */
let storing: () => Promise<void>;

beforeEach(async () => {
  [stored, wishes, storing, clock] = [[], [], async () => {}, createHeldClock()];
  listener = await open();
});

afterEach(() => listener.stop());

function open(over: Partial<BounceListenerOptions> = {}): Promise<BounceListener> {
  const handler = createReturnMailHandler({
    returnPaths,
    unsubscribeAddresses,
    unsubscribes,
    async receive(receipts) {
      await storing();
      stored.push(...receipts);
      return receipts.map(() => ({ kind: "applied" }) as const);
    },
    suppress: async (wish) => void wishes.push(wish),
  });
  return openBounceListener({ host: "127.0.0.1", port: 0, handler, clock, log, onMail() {}, ...over });
}

const back = (to: string | readonly string[], raw: string) => mailBack({ port: listener.port, to, raw });

describe("it takes mail for", () => {
  test("a return path that was made here, and stores what it says", async () => {
    expect(await back(path, postfixDsn())).toStartWith("250 2.0.0");
    expect(stored).toMatchObject([{ target: { messageId: of.messageId, part: 1 }, status: "bounced" }]);
  });

  test("postmaster and abuse, if it is a report that quotes a return path of ours", async () => {
    for (const name of ["abuse", "Postmaster"]) {
      expect(await back(`${name}@acme.example`, feedbackReport({ returnPath: path }))).toStartWith("250");
    }
    const complaint = () => ({ status: "complained", suppress: "complaint" });
    expect(stored).toMatchObject([complaint(), complaint()]);
  });

  test("a return path, with a bounce in plain words, if it comes from the null sender as bounces do", async () => {
    const subject = `=?utf-8?B?${Buffer.from("Unzustellbar: Ihre Bestellung").toString("base64")}?=`;
    const raw = `From: Mailsystem <system@example.net>\r\nSubject: ${subject}\r\n\r\n550 5.1.1 unbekannt\r\n`;
    await mailBack({ port: listener.port, to: path, raw, from: "ann@example.net" });
    expect(stored).toEqual([]);
    await back(path, raw);
    expect(stored).toMatchObject([{ status: "bounced", error: { code: "5.1.1" } }]);
  });

  test("an unsubscribe address whose subject is the link's token", async () => {
    const wish = { accountId: randomUUID(), messageId: of.messageId, email: "ann@example.net" };
    const mail = `Subject: ${unsubscribes.seal(wish)}\r\n\r\n\r\n`;
    expect(await back(unsubscribeAddresses.address(of), mail)).toStartWith("250");
    expect(wishes).toEqual([wish]);
    expect(stored).toEqual([]);
  });

  test("an unsubscribe address with any other subject, since it names the recipient too", async () => {
    const address = unsubscribeAddresses.address(of);
    for (const subject of ["unsubscribe", ""])
      expect(await back(address, `Subject: ${subject}\r\n\r\nNo more\r\n`)).toStartWith("250");
    const wish = () => ({ target: { messageId: of.messageId, part: 1 }, suppress: "unsubscribe" });
    expect([stored, wishes]).toMatchObject([[wish(), wish()], []]);
    for (const mail of [postfixDsn(), "Auto-Submitted: auto-replied\r\nSubject: Away\r\n\r\n"])
      expect(await back(address, mail)).toStartWith("250");
    expect(stored).toHaveLength(2);
  });

  test("an unsubscribe address whose subject a mail program has put into encoded words", async () => {
    const wish = { accountId: randomUUID(), messageId: of.messageId, email: "ann@example.net" };
    const halves =
      unsubscribes
        .seal(wish)
        .match(/^(.{60})(.*)$/)
        ?.slice(1) ?? [];
    const inWords = (write: (text: string) => string) => halves.map(write).join("\r\n ");
    const quoted = inWords((text) => `=?utf-8?q?${text.replaceAll("_", "=5F").replaceAll("-", "=2d")}?=`);
    const packed = inWords((text) => `=?UTF-8?B?${Buffer.from(text).toString("base64")}?=`);
    for (const subject of [quoted, packed]) {
      await back(unsubscribeAddresses.address(of), `Subject: ${subject}\r\n\r\n\r\n`);
    }
    expect(wishes).toEqual([wish, wish]);
  });
});

describe("it does not take", () => {
  test("mail for any other address, or for a return path that somebody made up: it relays for nobody", async () => {
    const forged = createReturnPaths(randomBytes(32)).address(of);
    for (const to of ["ann@example.net", "abuser@acme.example", forged, `${path}@example.net`]) {
      expect(await back(to, postfixDsn())).toMatch(/^5\d\d/);
    }
    expect(stored).toEqual([]);
  });

  test("a letter to postmaster, which nobody would read", async () => {
    expect(await back("postmaster@acme.example", "Subject: Hello\r\n\r\nHi\r\n")).toStartWith("550 5.6.0");
  });

  test("a mail without an end", async () => {
    expect(await back(path, postfixDsn() + `${"x".repeat(70)}\r\n`.repeat(500_000))).toStartWith("552");
  }, 120_000);

  test("a password: AUTH is not offered, and STARTTLS only with a certificate", async () => {
    expect(await dialogue("EHLO a\r\nAUTH PLAIN AGEAYg==\r\nSTARTTLS\r\nQUIT\r\n")).not.toMatch(
      /AUTH|^220 Ready/m,
    );
    const secure = await open({ tls: testTls });
    expect(await mailBack({ port: secure.port, to: path, raw: postfixDsn() })).toStartWith("250");
    await secure.stop();
  });
});

test("a report with a mail of many megabytes behind it is read all the same", async () => {
  const quoted = `${"y".repeat(76)}\r\n`.repeat(100_000);
  expect(await back(path, postfixDsn() + quoted)).toStartWith("250");
  expect(stored).toHaveLength(1);
});

test("DATA is answered once the receipt is stored, and put off where it cannot be", async () => {
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  storing = async () => {
    await gate.promise;
    order.push("stored");
  };
  const answered = back(path, postfixDsn()).then((reply) => void order.push(reply.slice(0, 3)));
  setImmediate(() => gate.resolve());
  await answered;
  expect(order).toEqual(["stored", "250"]);
  storing = () => Promise.reject(new Error("disk full"));
  expect(await back(path, postfixDsn())).toStartWith("451 4.3.0");
});

test("a message that comes back more often than it has recipients is not logged any more, and others are", async () => {
  await listener.stop();
  const told: string[] = [];
  const info = ({ message_ids: ids }: Readonly<Record<string, unknown>>) => told.push(String(ids));
  listener = await open({ log: { ...log, info } });
  const other = { ...of, messageId: randomUUID() };
  const mail = (to: string) => `MAIL FROM:<>\r\nRCPT TO:<${to}>\r\nDATA\r\n${postfixDsn()}\r\n.\r\n`;
  await dialogue(`EHLO a\r\n${mail(path).repeat(60)}${mail(returnPaths.address(other))}QUIT\r\n`);
  expect(stored).toHaveLength(61);
  expect(told).toEqual([...Array(50).fill(of.messageId), other.messageId]);
});

test("what has come back is counted for a thousand messages at a time", async () => {
  await listener.stop();
  let told = 0;
  listener = await open({ log: { ...log, info: () => void told++ } });
  const mail = (to: string) => `MAIL FROM:<>\r\nRCPT TO:<${to}>\r\nDATA\r\n${postfixDsn()}\r\n.\r\n`;
  const toldOf = async (mails: string) => {
    const before = told;
    await dialogue(`EHLO a\r\n${mails}QUIT\r\n`);
    return told - before;
  };
  const others = Array.from({ length: 1_000 }, () => returnPaths.address({ ...of, messageId: randomUUID() }));
  expect(await toldOf(mail(path).repeat(60))).toBe(50);
  expect(await toldOf(mail(others[0] ?? "") + mail(path))).toBe(1);
  expect(await toldOf(others.slice(1).map(mail).join(""))).toBe(999);
  expect(await toldOf(mail(path))).toBe(1);
});

test("nothing older than TLS 1.2 is spoken (RFC 8996)", async () => {
  const secure = await open({ tls: testTls });
  for (const [version, agreed] of [
    ["TLSv1", undefined],
    ["TLSv1.1", undefined],
    ["TLSv1.2", "TLSv1.2"],
  ] as const) {
    const plain = await beforeTls(secure.port);
    const options = { minVersion: version, maxVersion: version, rejectUnauthorized: false };
    const socket = connectTls({ socket: plain, ...options });
    const met = Promise.withResolvers<string | undefined | null>();
    socket.once("secureConnect", () => met.resolve(socket.getProtocol()));
    socket.once("error", () => met.resolve(undefined));
    socket.once("close", () => met.resolve(undefined));
    expect([version, await met.promise]).toEqual([version, agreed]);
    socket.destroy();
  }
  await secure.stop();
});

describe("a peer has an end:", () => {
  test("a session that goes on and on is closed after ten minutes", async () => {
    const socket = await connected();
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await clock.advance(9 * 60_000);
    expect(socket.destroyed).toBe(false);
    await clock.advance(2 * 60_000);
    await closed;
  });

  test("one address has at most twenty connections", async () => {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => connected()));
    const one = connect(listener.port, "127.0.0.1");
    await new Promise((resolve) => one.once("close", resolve));
    expect(sockets.every(({ destroyed }) => !destroyed)).toBe(true);
    for (const socket of sockets) socket.destroy();
  });

  test("all addresses together have at most a hundred connections", async () => {
    const addresses = Array.from({ length: 100 }, (_, index) => `127.0.0.${2 + Math.floor(index / 20)}`);
    const sockets = await Promise.all(addresses.map(connected));
    const localAddress = "127.0.0.7";
    const one = connect({ port: listener.port, host: "127.0.0.1", localAddress });
    const greeting = await new Promise((resolve) => one.once("data", (said) => resolve(String(said))));
    expect(greeting).toStartWith("421 ");
    expect(sockets.every(({ destroyed }) => !destroyed)).toBe(true);
    for (const socket of [one, ...sockets]) socket.destroy();
  });

  test("over TLS the same holds while connections last, and no longer", async () => {
    const secure = await open({ tls: testTls });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => secured(secure.port)));
    const ended = Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve))),
    );
    expect(await mailBack({ port: secure.port, to: path, raw: postfixDsn() })).not.toStartWith("250");
    await clock.advance(11 * 60_000);
    await ended;
    for (let count = 0; count < 25; count++) {
      expect(await mailBack({ port: secure.port, to: path, raw: postfixDsn() })).toStartWith("250");
    }
    await secure.stop();
  });

  test("of more than a hundred recipients the rest is refused, and a line without an end is not read on", async () => {
    const rcpt = `RCPT TO:<${path}>\r\n`;
    const many = Array.from({ length: 120 }, (_, part) =>
      rcpt.replace(path, returnPaths.address({ ...of, part })),
    );
    expect(await dialogue(`EHLO a\r\nMAIL FROM:<>\r\n${many.join("")}QUIT\r\n`)).toMatch(/^452 /m);
    expect(await dialogue("x".repeat(1024 * 1024))).not.toMatch(/^250/m);
  });
});

/** A connection that has been greeted. */
async function connected(localAddress = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ port: listener.port, host: "127.0.0.1", localAddress }).on("error", () => {});
  await new Promise((resolve) => socket.once("data", resolve));
  return socket;
}

/** A connection that is encrypted. */
async function secured(port: number): Promise<Socket> {
  const plain = await beforeTls(port);
  const socket = connectTls({ socket: plain, rejectUnauthorized: false }).on("error", () => {});
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  return socket.resume();
}

/** A connection over which TLS can begin. */
async function beforeTls(port: number): Promise<Socket> {
  const plain = connect(port, "127.0.0.1").on("error", () => {});
  for (const line of ["EHLO a\r\n", "STARTTLS\r\n", ""]) {
    await new Promise((resolve) => plain.once("data", resolve));
    if (line !== "") plain.write(line);
  }
  return plain;
}

/** Everything the server says to these lines, until it closes. */
async function dialogue(text: string): Promise<string> {
  const socket = await connected();
  let said = "";
  socket.on("data", (chunk) => {
    said += chunk;
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(text);
  await closed;
  return said;
}
