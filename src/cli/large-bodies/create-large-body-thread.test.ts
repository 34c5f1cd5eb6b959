import { afterEach, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { makeDataFolder } from "../../../test/postrider-process.ts";
import { composeWhereFit } from "../../channels/email/mail/compose-large.ts";
import { composeMail } from "../../channels/email/mail/compose-mail.ts";
import { createSystemClock } from "../system-clock.ts";
import { createLargeBodyThread, type LargeBodyThread } from "./create-large-body-thread.ts";

const PROGRAM = new URL("../large-body-thread.ts", import.meta.url);

let largeBodies: LargeBodyThread;

afterEach(() => largeBodies.stop());

function mailOf(bodyText: string) {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 1_024 });
  return {
    messageId: "01927a3e-0000-7000-8000-000000000001",
    createdAt: Date.UTC(2026, 0, 2),
    content: {
      channel: "email",
      from: { email: "hello@acme.example" },
      to: [{ email: "ann@example.net" }],
      subject: "News",
      bodyText,
    },
    dkim: [{ domain: "acme.example", selector: "s1", privateKey }],
  } as const;
}

test("mail composed on the thread has the octets of mail composed here, signature and all", async () => {
  largeBodies = createLargeBodyThread({ program: PROGRAM, clock: createSystemClock() });
  const mail = mailOf("Ällis well, line for line.\r\n.\n".repeat(20_000));
  const made = await composeWhereFit(mail, largeBodies.compose);
  const here = await composeMail(mail);
  if (made.kind !== "composed" || here.kind !== "composed") throw new Error("refused");
  expect(Buffer.isBuffer(made.raw)).toBe(true);
  expect(made.raw.equals(here.raw)).toBe(true);
  expect(made.needsSmtpUtf8).toBe(false);
});

test("small mail is composed here, and what the thread refuses is refused", async () => {
  largeBodies = createLargeBodyThread({ program: PROGRAM, clock: createSystemClock() });
  const never = () => Promise.reject(new Error("asked"));
  expect(await composeWhereFit(mailOf("All is well."), never)).toMatchObject({ kind: "composed" });
  const broken = { ...mailOf("x".repeat(300_000)) };
  const forged = { ...broken, content: { ...broken.content, subject: "a\r\nBcc: eve@example.net" } };
  expect(await composeWhereFit(forged, largeBodies.compose)).toMatchObject({ kind: "refused" });
});

test("mail that is not large but takes several pieces is composed on the thread", async () => {
  largeBodies = createLargeBodyThread({ program: PROGRAM, clock: createSystemClock() });
  const never = () => Promise.reject(new Error("asked"));
  await expect(composeWhereFit(mailOf("Line for line.\n".repeat(5_000)), never)).rejects.toThrow("asked");
});

test("a body is read on the thread as it is here, and refused as it is here", async () => {
  largeBodies = createLargeBodyThread({ program: PROGRAM, clock: createSystemClock() });
  const read = (text: string) => largeBodies.readJson(new TextEncoder().encode(text).buffer);
  expect(await read('{"a":"ä"}')).toEqual({ text: '{"a":"ä"}', parsed: { json: { a: "ä" } } });
  expect((await read('{"a":1,"a":2}'))?.parsed).toHaveProperty("problem");
  expect(await largeBodies.readJson(new Uint8Array([0x7b, 0xff, 0x7d]).buffer)).toBeUndefined();
});

test("while a body of 10 MiB is read and composed on the thread, the event loop here goes on", async () => {
  largeBodies = createLargeBodyThread({ program: PROGRAM, clock: createSystemClock() });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const made = await composeWhereFit(mailOf("Ällis well.\n".repeat(800_000)), largeBodies.compose);
  clearInterval(timer);
  expect(made.kind).toBe("composed");
  expect(turns).toBeGreaterThan(20);
});

test("a thread that breaks or takes too long fails what it had, and the next task gets another", async () => {
  const folder = makeDataFolder();
  const program = join(folder.path, "program.ts");
  const clock = createHeldClock();
  largeBodies = createLargeBodyThread({ program: pathToFileURL(program), clock });
  const read = () => largeBodies.readJson(new ArrayBuffer(1)).catch((error) => String(error));
  const behave = (statement: string) =>
    writeFileSync(
      program,
      `import { parentPort } from "node:worker_threads";
      parentPort.on("message", ({ id }) => { ${statement} });`,
    );
  behave("throw new Error('broken')");
  expect(await read()).toContain("broken");
  behave("");
  const waiting = read();
  await clock.advance(60_000);
  expect(await waiting).toContain("too long");
  behave("parentPort.postMessage({ id, result: undefined });");
  expect(await read()).toBeUndefined();
  folder.remove();
});
