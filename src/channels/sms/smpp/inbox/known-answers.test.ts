/** What a connector that is closed tells the store: which messages from handsets the SMSC cannot deliver again. */
import { afterEach, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { closeSmppRigs, openBoundSmppRig } from "../../../../../test/fakes/smpp-rig.ts";
import type { ChannelDeps } from "../../../channel.ts";

afterEach(closeSmppRigs);

const ENQUIRE_LINK = 0x15;

const saying = (text: string) => ({
  source: { ton: 1, npi: 1, address: "919876543210" },
  destination: { ton: 0, npi: 1, address: "56161" },
  shortMessage: Buffer.from(text),
});

/** A bound channel that takes a "yes"; "later" is stored once `store` is called, "refused" never. `spans`: what it has told. */
async function openWithYes(more: Partial<ChannelDeps> = {}) {
  const spans: unknown[] = [];
  const [given, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const deps: Partial<ChannelDeps> = {
    onInboundKnown: async (span) => void spans.push(span),
    ...more,
    async onInbound(messages) {
      if (messages.some(({ text }) => text === "refused")) throw new Error("the database is away");
      if (messages.every(({ text }) => text !== "later")) return;
      given.resolve();
      await held.promise;
    },
  };
  const rig = await openBoundSmppRig({ deps });
  expect(await rig.smsc.deliver(saying("yes"))).toBe(0);
  return { ...rig, spans, given: given.promise, store: held.resolve };
}

test("a connector that is closed says for which time nothing can be delivered again", async () => {
  const { channel, clock, spans } = await openWithYes();
  await channel.stop();
  expect(spans).toEqual([{ since: clock.now(), until: clock.now() }]);
});

test("a connector has stopped only once it is noted that nothing can be delivered again, or that cannot be noted", async () => {
  const [asked, noted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const onInboundKnown = () => {
    asked.resolve();
    return noted.promise;
  };
  const { channel } = await openWithYes({ onInboundKnown });
  let isStopped = false;
  const stopping = channel.stop().then(() => {
    isStopped = true;
  });
  await asked.promise;
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  expect(isStopped).toBe(false);
  noted.reject(new Error("the database is away"));
  await stopping;
});

test("a closed connector says of no time that all is answered while a message is not: it is delivered again, and has to be found, though others came with it", async () => {
  const { channel, clock, smsc, spans, given, store } = await openWithYes();
  void smsc.deliver(saying("later"));
  await given;
  let isStopped = false;
  const stopping = channel.stop().then(() => {
    isStopped = true;
  });
  // Long before storing takes too long. In between the SMSC answers the unbind.
  for (let ms = 0; !isStopped && ms < 6_000; ms += 500) {
    await clock.advance(500);
    if (smsc.bound().length > 0) await Promise.race([smsc.request(ENQUIRE_LINK), stopping]);
  }
  await stopping;
  expect(spans).toEqual([]);
  store();
});

test("a closed connector says of no time that all is answered where one was refused: it may have been stored, comes again, and has to be found", async () => {
  const { channel, smsc, spans } = await openWithYes();
  expect(await smsc.deliver(saying("refused"))).not.toBe(0);
  await channel.stop();
  expect(spans).toEqual([]);
});

test("a closed connector says of no time that all is answered where other processes have sessions of it: which of their answers have arrived is not known here", async () => {
  const share = { of: 1, held: () => new Set([0]), onChange() {} };
  const { channel, spans } = await openWithYes({ share });
  await channel.stop();
  expect(spans).toEqual([]);
});
