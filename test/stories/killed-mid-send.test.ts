/** The process is killed while submit_sm wait for their answers. What becomes of the messages is the account's choice. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { reached } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { keptPort } from "../fakes/kept-port.ts";
import type { MessageAt } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

const LATER = fileURLToPath(new URL("../fakes/later.ts", import.meta.url));
const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));
const WINDOW_SECONDS = 600;

const RESENDING = "+14155550901";
const HOLDING = "+14155550902";
const TWO_SEGMENTS = "Your table is ready. ".repeat(9);

interface Reference {
  readonly components: {
    readonly schemas: { readonly DeliveryEvent: Schema<{ data: Schema<{ error: Described }> }> };
  };
}

interface Schema<Properties> {
  readonly properties: Properties;
}

interface Described {
  readonly description: string;
}

onBothStores(() => {
  let folder: ReturnType<typeof makeDataFolder>;
  let service: PostriderProcess;
  let smsc: FakeSmsc;
  let resending: LiveSms;
  let holding: LiveSms;
  let sent: MessageAt;
  let held: MessageAt;

  /** A message of each account is with the SMSC when the process ends; what comes after it is answered. */
  beforeAll(async () => {
    folder = makeDataFolder();
    const env = {
      PORT: String(await keptPort()),
      AHEAD_MS: "0",
      LEAP_MS: String(WINDOW_SECONDS * 1_000),
    };
    [service, smsc] = await Promise.all([
      startPostrider({ dataFolder: folder.path, env }),
      startFakeSmsc({ receipts: "after", holdSubmits: true }),
    ]);
    const config = { response_timeout_ms: 2_000, user_message_reference: true };
    const connectors = [await connectSmsc(service, smsc, config)];
    resending = await openLiveSms(service, { connectors });
    const holds = { connectors, settings: { on_unconfirmed: "hold" }, body: TWO_SEGMENTS };
    holding = await openLiveSms(service, holds);
    sent = await resending.send(RESENDING);
    held = await holding.send(HOLDING, { expire_after_seconds: WINDOW_SECONDS });
    await smsc.until(() => smsc.submits.length === 3);
    service.kill("SIGKILL");
    await service.exited;
    await smsc.until(() => smsc.connections() === 0);
    smsc.dial.holdSubmits = false;
    service = await startPostrider({ dataFolder: folder.path, preload: LATER, env });
  });

  afterAll(async () => {
    service.kill("SIGKILL");
    await Promise.all([service.exited, smsc.close()]);
    folder.remove();
  });

  const submitsTo = (number: string) =>
    smsc.submits.filter(({ destination }) => `+${destination.address}` === number);

  test("by default the message is sent again after the restart, and delivered", async () => {
    expect(await reached(service, sent, "delivered", "failed", "expired")).toMatchObject({
      status: "delivered",
    });
    const [lost, again] = submitsTo(RESENDING);
    expect(submitsTo(RESENDING)).toHaveLength(2);
    expect([again?.destination, again?.shortMessage]).toEqual([lost?.destination, lost?.shortMessage]);
  }, 180_000);

  test("where the account holds what is unconfirmed, it is not sent again, and fails at the end of its window", async () => {
    expect(await reached(service, held, "sending", "failed")).toMatchObject({ status: "sending" });
    const next = await holding.send("+14155550903");
    await reached(service, next, "delivered");
    await until(
      () => holding.timeline(held),
      ({ length }) => length >= 2,
    );
    // Word of one segment, by its reference, is no word of the other.
    await smsc.sendReceipt(submitsTo(HOLDING)[0]!);
    service.kill("SIGUSR2");
    expect(await reached(service, held, "failed", "expired", "delivered")).toMatchObject({
      status: "failed",
    });
    expect(submitsTo(HOLDING)).toHaveLength(2);
    const kinds = (await holding.timeline(held)).map(({ kind, error }) => [kind, error?.code]);
    expect(kinds).toEqual([
      ["interrupted", undefined],
      ["status", "unconfirmed"],
      ["late_answer", undefined],
      ["receipt", undefined],
      ["status", "unconfirmed"],
    ]);
  }, 180_000);

  test("wherever `failed` is explained, so is the code of what may have been sent all the same", async () => {
    const ended = (await holding.timeline(held)).findLast(({ status }) => status === "failed");
    const code = `\`${ended?.error?.code}\``;
    const page = (name: string) => readFileSync(`${DOCS}${name}`, "utf8").split("\n");
    const ofStatus = page("statuses.md").filter((line) => line.startsWith("| `failed` |"));
    const ofEvents = page("webhooks.md").filter(
      (line) => line.startsWith("| `") && /`\w+\.failed`/.test(line),
    );
    expect([ofStatus.length, ofEvents.length]).toEqual([2, 1]);
    const reference = (await (await fetch(`${service.url}/openapi.json`)).json()) as Reference;
    const { error } = reference.components.schemas.DeliveryEvent.properties.data.properties;
    for (const text of [...ofStatus, ...ofEvents, error.description]) {
      expect(text).toContain(code);
      expect(text).toContain("it may have been");
    }
  });
});
