/** The database works, but for one row: a page is damaged, or a constraint broken. Only that row's message is affected. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { changeRows, refuseChanges } from "../stored-rows.ts";

const BAD = "+14155550199";
const GOOD = ["+14155550101", "+14155550102", "+14155550103"];

onBothStores((store) => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let live: LiveSms;
  let connectors: readonly string[];

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "none" })]);
    connectors = [await connectSmsc(postrider, smsc)];
    live = await openLiveSms(postrider, { connectors });
    await postrider.passUntil(() => smsc.bound().length > 0, 20_000);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  const logged = (words: string) => postrider.logged.filter(({ msg }) => String(msg).startsWith(words));

  test("a message whose result cannot be stored is sent once, beside others, and has its fate once it can be", async () => {
    const allow = await refuseChanges(
      postrider.dataFolder,
      `NEW.recipient = '${BAD}' AND NEW.status = 'sent'`,
    );
    const [bad, ...good] = await Promise.all([BAD, ...GOOD].map((to) => live.send(to)));
    for (const message of good) expect(await postrider.reached(message, "sent")).toBe("sent");
    await postrider.pass(10 * 60_000);
    expect(smsc.submits).toHaveLength(4);
    expect(await postrider.status(bad!)).toBe("sending");
    const id = bad!.path.split("/").at(-1);
    expect(logged("a result cannot be stored")).toMatchObject([
      { message_id: id, err: { message: expect.stringContaining("damaged") } },
    ]);
    const { data } = await admin<{ data: unknown[] }>(postrider, "/alarms");
    expect(data).toMatchObject([{ name: "results_unstored" }]);
    await allow();
    expect(await postrider.reached({ ...bad!, withinMs: 61_000 }, "sent", "failed")).toBe("sent");
    expect((await live.timeline(bad!)).map(({ kind }) => kind)).toEqual(["attempt"]);
    await postrider.pass(5 * 60_000);
    expect(smsc.submits).toHaveLength(4);
  });

  test("a message that cannot be read keeps no other from being sent, is named in the log, and is sent once it can be", async () => {
    const schedule_at = new Date(postrider.now() + 60_000).toISOString();
    const [bad, ...good] = await Promise.all([BAD, ...GOOD].map((to) => live.send(to, { schedule_at })));
    const setError = (error: string) =>
      changeRows(postrider.dataFolder, `UPDATE messages SET error = ${error} WHERE recipient = '${BAD}'`);
    await setError("'nonsense'");
    for (const message of good)
      expect(await postrider.reached({ ...message, withinMs: 65_000 }, "sent")).toBe("sent");
    const id = bad!.path.split("/").at(-1);
    const told = [...logged("a claim failed"), ...logged("upkeep failed")];
    expect(JSON.stringify(told[0])).toMatch(new RegExp(`message ${id}, put off for 6\\d s`));
    await setError("NULL");
    expect(await postrider.reached({ ...bad!, withinMs: 70_000 }, "sent")).toBe("sent");
    expect(smsc.submits).toHaveLength(4);
  });

  test("a batch of 1,000 whose text cannot be read delays another account's messages by a second at most", async () => {
    const route = { connectors, sharesRoute: true };
    const [theirs, ours] = [await openLiveSms(postrider, route), await openLiveSms(postrider, route)];
    const schedule_at = new Date(postrider.now() + 60_000).toISOString();
    const sendBatch = ({ apiKey, templateId }: LiveSms, count: number) => {
      const to = Array.from({ length: count }, (_, at) => `+1415555${1_000 + at}`);
      const body = { to, template_id: templateId, schedule_at };
      return send(postrider, { apiKey, path: "/v1/sms/messages", body });
    };
    for (const { status } of [await sendBatch(theirs, 1_000), await sendBatch(ours, 200)])
      expect(status).toBe(202);
    const damage = "UPDATE contents SET envelope = 'nonsense' WHERE messages = 1000";
    await changeRows(postrider.dataFolder, damage);
    await postrider.pass(60_000);
    await postrider.passUntil(() => smsc.submits.length === 200, 1_000);
    expect(JSON.stringify(logged("a claim failed"))).toMatch(/and \d{2,} others of its batch, put off for/);
  });

  // The code of a damaged page: a trigger of SQLite gives none.
  if (store === "postgres")
    test("a request that meets a damaged page is answered 503, and the log says that the database is damaged", async () => {
      const schedule_at = new Date(postrider.now() + 60 * 60_000).toISOString();
      const [bad, good] = [await live.send(BAD, { schedule_at }), await live.send(GOOD[0]!, { schedule_at })];
      const allow = await refuseChanges(postrider.dataFolder, `NEW.recipient = '${BAD}'`);
      const cancel = async ({ path }: { path: string }) => {
        const answer = await send(postrider, { apiKey: live.apiKey, path: `${path}/cancel`, body: {} });
        return answer.status;
      };
      expect(await Promise.all([cancel(bad), cancel(good)])).toEqual([503, 200]);
      expect(logged("request failed")).toEqual([]);
      expect(JSON.stringify(logged("database unavailable"))).toContain("the database is damaged: damaged");
      await allow();
      expect(await cancel(bad)).toBe(200);
    });

  test("a receipt that cannot be stored keeps the SMSC from no other's acknowledgement", async () => {
    const messages = await Promise.all([BAD, ...GOOD].map((to) => live.send(to)));
    for (const message of messages) await postrider.reached(message, "sent");
    const allow = await refuseChanges(
      postrider.dataFolder,
      `NEW.recipient = '${BAD}' AND NEW.status = 'delivered'`,
    );
    const receive = () => Promise.all(smsc.submits.map((submit) => smsc.sendReceipt(submit)));
    expect((await receive()).toSorted()).toEqual([0, 0, 0, 0x64]);
    await allow();
    expect(await receive()).toEqual([0, 0, 0, 0]);
    for (const message of messages) expect(await postrider.status(message)).toBe("delivered");
  });

  test("an erasure of which a row cannot be erased says so, is not done, and is once it can be", async () => {
    const optOut = { account_id: live.accountId, recipient: BAD };
    await admin(postrider, "/opt-outs", optOut);
    const { data: before } = await admin<{ data: unknown[] }>(
      postrider,
      `/opt-outs?account_id=${live.accountId}`,
    );
    expect(before).toMatchObject([optOut]);
    const allow = await refuseChanges(postrider.dataFolder, "NEW.recipient LIKE 'erased:%'", "opt_outs");
    const { id } = await admin<{ id: string }>(postrider, "/erasures", { recipient: BAD });
    let shown: { readonly status?: string } = {};
    const isShown = (status: string) => async () => {
      shown = await admin<{ status: string }>(postrider, `/erasures/${id}`);
      return shown.status === status;
    };
    await postrider.passUntil(isShown("incomplete"), 60_000);
    expect(shown).toMatchObject({ passed_over: 1, erased: 0 });
    expect(shown).not.toHaveProperty("completed_at");
    expect(JSON.stringify(logged("upkeep failed"))).toContain(`erasure ${id}, a part of it put off`);
    await allow();
    await postrider.passUntil(isShown("done"), 2 * 60 * 60_000);
    expect(shown).not.toHaveProperty("passed_over");
  });
});
