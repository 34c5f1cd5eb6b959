/** One connector of a route can never send some of its messages: it speaks SMPP 3.3, which carries no DLT ids. */
import { afterEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { openTwoSmscs, type TwoSmscs } from "../two-smscs.ts";

const INDIAN = "+919876543210";
const FOREIGN = "+14155550801";

onBothStores(() => {
  let two: TwoSmscs | undefined;
  afterEach(async () => {
    await two?.close();
    two = undefined;
  });

  const speaks33 = ({ postrider }: TwoSmscs, connector: string) =>
    admin(postrider, `/connectors/${connector}`, { config: { interface_version: "3.3" } }, "PATCH");

  /** A route whose first connector speaks 3.3, and whose template has a DLT id. */
  async function open(config: Record<string, unknown> = {}): Promise<TwoSmscs> {
    two = await openTwoSmscs(() => ({}), config);
    const { postrider, live, first, ids } = two;
    const entity = `/settings/default_dlt_entity_id?account_id=${live.accountId}`;
    await admin(postrider, entity, { value: "1101172974420810001" }, "PUT");
    const registered = { category: "service_explicit", dlt_template_id: "1107161234567890123" };
    await admin(postrider, `/sms-templates/${live.templateId}`, registered, "PATCH");
    await postrider.pass(2_000);
    await speaks33(two, ids[0]);
    await postrider.passUntil(() => first.binds.length === 2 && first.connections() === 1, 20_000);
    return two;
  }

  const counts = ({ first, second }: TwoSmscs) => [first.submits.length, second.submits.length];
  const errors = async ({ live }: TwoSmscs, message: Awaited<ReturnType<TwoSmscs["live"]["send"]>>) =>
    (await live.timeline(message)).flatMap(({ error }) => error?.code ?? []);

  test("the next one sends them at once, and the first all others", async () => {
    const { live, postrider } = await open();
    const message = await live.send(INDIAN);
    expect(await postrider.reached({ ...message, withinMs: 1_000 }, "delivered", "failed")).toBe("delivered");
    expect(await errors(two!, message)).toEqual(["smpp.no_tlvs"]);
    await postrider.reached(await live.send(FOREIGN), "delivered");
    expect(counts(two!)).toEqual([1, 1]);
    expect((await two!.health(two!.first)).score).toBe(1);
  });

  test("where the next one is busy they wait for it in its own queue, while the first goes on", async () => {
    const { live, postrider, second } = await open({ window: 1 });
    second.dial.holdSubmits = true;
    const messages = [await live.send(INDIAN), await live.send(INDIAN)];
    await postrider.passUntil(() => counts(two!)[1] === 1, 5_000);
    await postrider.pass(20_000);
    await postrider.reached(await live.send(FOREIGN), "delivered");
    for (const message of messages) expect((await errors(two!, message)).length).toBeLessThanOrEqual(2);
    second.dial.holdSubmits = false;
    second.release();
    for (const message of messages)
      expect(await postrider.reached({ ...message, withinMs: 2_000 }, "delivered", "failed")).toBe(
        "delivered",
      );
    expect(counts(two!)).toEqual([1, 2]);
  });

  test("where the next one is down they wait until it is back", async () => {
    const { live, postrider, second } = await open();
    second.dial.hangUp = true;
    second.dropAll();
    await two!.is(second, "down");
    const message = await live.send(INDIAN);
    await postrider.pass(20_000);
    expect(await postrider.status(message)).toBe("queued");
    delete second.dial.hangUp;
    await two!.is(second, "up");
    expect(await postrider.reached({ ...message, withinMs: 30_000 }, "delivered", "failed")).toBe(
      "delivered",
    );
    expect(counts(two!)).toEqual([0, 1]);
  });

  test("where none of the route can, they fail at once and say why", async () => {
    const { live, postrider, ids } = await open();
    await speaks33(two!, ids[1]);
    await postrider.passUntil(() => two!.second.binds.length === 2, 20_000);
    const message = await live.send(INDIAN);
    expect(await postrider.reached({ ...message, withinMs: 2_000 }, "delivered", "failed")).toBe("failed");
    expect(await errors(two!, message)).toContain("smpp.no_tlvs");
    expect(counts(two!)).toEqual([0, 0]);
  });
});
