/** A large batch waits in line. Whoever sends one message does not wait behind it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

onBothStores(() => {
  const BATCH = 20_000;
  /** More than goes until a test has ended. */
  const LEAST = 1_000;
  const PER_REQUEST = 1_000;
  const WINDOW = 10;
  /** A slow machine takes a while for so many, and the connector waits the longer before it tries again. */
  const LIMIT_MS = 240_000;
  /** Less than a second for each of fifty windows. */
  const WITHOUT_PAUSES_MS = 30_000;

  let folder: ReturnType<typeof makeDataFolder>;
  let service: PostriderProcess;
  let smsc: FakeSmsc;
  let big: LiveSms;
  let small: LiveSms;

  beforeEach(async () => {
    folder = makeDataFolder();
    [service, smsc] = await Promise.all([
      startPostrider({ dataFolder: folder.path }),
      startFakeSmsc({ hangUp: true, holdSubmits: true, receipts: "none" }),
    ]);
  });

  afterEach(async () => {
    service.kill("SIGKILL");
    await Promise.all([service.exited, smsc.close()]);
    folder.remove();
  });

  async function openAccounts(options: {
    sharesRoute: boolean;
    window?: number;
    config?: Record<string, unknown>;
  }): Promise<void> {
    const { sharesRoute, window = WINDOW, config } = options;
    const connectors = [
      await connectSmsc(service, smsc, { window, response_timeout_ms: LIMIT_MS, ...config }),
    ];
    big = await openLiveSms(service, { connectors, sharesRoute });
    small = await openLiveSms(service, { connectors, sharesRoute });
  }

  async function sendBatch(size = BATCH): Promise<void> {
    for (let first = 0; first < size; first += PER_REQUEST) {
      const to = Array.from({ length: PER_REQUEST }, (_, index) => `+1${4_250_000_000 + first + index}`);
      const body = { to, template_id: big.templateId };
      const answer = await send(service, { apiKey: big.apiKey, path: "/v1/sms/messages", body });
      expect(answer.status).toBe(202);
    }
  }

  /** Answers what the SMSC holds, and holds what comes next. */
  function letOneWindowThrough(): void {
    smsc.release();
    smsc.dial.holdSubmits = true;
  }

  const submittedTo = () => smsc.submits.map(({ destination }) => `+${destination.address}`);
  const OTHERS = "+14155551401";
  const OWN = "+14155551402";

  test(
    "singles of another account and of its own go with the first window, before 20,000 of a batch",
    async () => {
      await openAccounts({ sharesRoute: true });
      await sendBatch();
      await small.send(OTHERS);
      await big.send(OWN);
      delete smsc.dial.hangUp;
      await smsc.until(() => smsc.submits.length === WINDOW);
      expect(submittedTo()).toContain(OTHERS);
      expect(submittedTo()).toContain(OWN);
    },
    LIMIT_MS,
  );

  test(
    "singles do not wait for a batch of their own sender, where that has a rate of its own",
    async () => {
      delete smsc.dial.hangUp;
      delete smsc.dial.holdSubmits;
      await openAccounts({ sharesRoute: true, config: { max_per_second_per_sender: 2 } });
      const to = Array.from({ length: PER_REQUEST }, (_, index) => `+1${4_250_000_000 + index}`);
      const body = { to, template_id: big.templateId };
      await send(service, { apiKey: big.apiKey, path: "/v1/sms/messages", body });
      const overtakenBy: number[] = [];
      for (let n = 0; n < 3; n++) {
        const before = smsc.submits.length;
        await smsc.until(() => smsc.submits.length >= before + 2);
        const own = `${OWN}${n}`;
        await big.send(own);
        const accepted = smsc.submits.length;
        await smsc.until(() => submittedTo().includes(own));
        overtakenBy.push(submittedTo().indexOf(own) - accepted);
      }
      // Both the rate and the claims are in real time: on a busy machine one of them may be late.
      expect(Math.min(...overtakenBy)).toBeLessThanOrEqual(3);
    },
    LIMIT_MS,
  );

  test(
    "routes that share a connector share its slots: one with a batch in line holds the other up for a window at the most",
    async () => {
      await openAccounts({ sharesRoute: false });
      await sendBatch(LEAST);
      const others = [1, 2, 3, 4].map((n) => `${OTHERS}${n}`);
      for (const to of others) await small.send(to);
      delete smsc.dial.hangUp;
      for (let window = 1; !others.every((to) => submittedTo().includes(to)); window++) {
        expect(window).toBeLessThanOrEqual(others.length + 1);
        await smsc.until(() => smsc.submits.length === window * WINDOW);
        if (window > 1) expect(submittedTo()).toContain(others[window - 2]!);
        letOneWindowThrough();
      }
    },
    LIMIT_MS,
  );

  test(
    "routes that share a connector share its slots, also where they come free one by one",
    async () => {
      await openAccounts({ sharesRoute: false, window: 1 });
      delete smsc.dial.hangUp;
      await sendBatch(LEAST);
      await smsc.until(() => smsc.submits.length === 1);
      for (let round = 1; round <= 10; round++) {
        const to = `+1415555${1600 + round}`;
        await small.send(to);
        const before = smsc.submits.length;
        for (let slot = 1; slot <= 2; slot++) {
          letOneWindowThrough();
          await smsc.until(() => smsc.submits.length === before + slot);
        }
        expect(submittedTo().slice(before)).toContain(to);
      }
    },
    LIMIT_MS,
  );

  for (const sharesRoute of [true, false]) {
    const where = sharesRoute ? "on one route" : "on routes that share a connector";

    test(
      `while the batch is under way, each single goes with the next window (${where})`,
      async () => {
        await openAccounts({ sharesRoute });
        delete smsc.dial.hangUp;
        await sendBatch(LEAST);
        await smsc.until(() => smsc.submits.length === WINDOW);
        for (let round = 1; round <= 20; round++) {
          const to = `+1415555${1500 + round}`;
          await (round % 2 === 0 ? big : small).send(to);
          letOneWindowThrough();
          await smsc.until(() => smsc.submits.length === (round + 1) * WINDOW);
          expect(submittedTo().slice(-WINDOW)).toContain(to);
        }
      },
      LIMIT_MS,
    );
  }

  test(
    "a route with nothing in line takes no slot from the others: 500 messages pass without a pause",
    async () => {
      await openAccounts({ sharesRoute: false });
      smsc.dial.holdSubmits = false;
      delete smsc.dial.hangUp;
      const to = Array.from({ length: PER_REQUEST / 4 }, (_, index) => `+1${4_250_000_000 + index}`);
      const startedMs = performance.now();
      for (const each of [big, small])
        await send(service, {
          apiKey: each.apiKey,
          path: "/v1/sms/messages",
          body: { to, template_id: each.templateId },
        });
      await smsc.until(() => smsc.submits.length === 2 * to.length);
      // Waiting out a poll of a second for every window would take longer.
      expect(performance.now() - startedMs).toBeLessThan(WITHOUT_PAUSES_MS);
    },
    LIMIT_MS,
  );
});
