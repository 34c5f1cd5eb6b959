import { expect, test } from "bun:test";
import { CONNECTOR, createWorld, sent } from "../../src/store/contract/world.contract.ts";
import { onEveryAdmin, type RunningAdmin } from "./running-admin.ts";

/** Messages of another account than the one of the first start. */
async function withMessages(admin: RunningAdmin) {
  const world = await createWorld(admin.store);
  world.clock.now = admin.clock.now();
  const [first = "", second = ""] = await world.sms({ to: ["+919812345678", "+919812345679"] });
  const email = await world.email({ parts: [{ status: "pending", address: "a@x.test" }], jobs: [] });
  return { world, accountId: world.account.id, first, second, email };
}

onEveryAdmin((start) => {
  test("an account's messages of a channel are listed for operators, page by page, as List SMS lists them", async () => {
    await using admin = await start();
    const { accountId, first, second, email } = await withMessages(admin);
    const of = `messages?account_id=${accountId}&channel`;
    const page = await admin.call("GET", `${of}=sms&limit=1`);
    expect(page).toMatchObject({ status: 200, json: { data: [{ message_id: second, channel: "sms" }] } });
    const rest = await admin.call("GET", `${of}=sms&after=${page.json.next}`);
    expect(rest.json).toMatchObject({
      data: [{ message_id: first, account_id: accountId, status: "queued" }],
    });
    expect(rest.json.next).toBeUndefined();
    expect((await admin.call("GET", `${of}=email`)).json).toMatchObject({ data: [{ message_id: email }] });
    expect((await admin.call("GET", `${of}=sms&status=delivered`)).json).toEqual({ data: [] });
    const found = await admin.call("GET", `${of}=sms&to=${encodeURIComponent("+919812345678")}`);
    expect(found.json.data).toMatchObject([{ message_id: first }]);
  });

  test("why a message has failed is shown in the list as in the message itself, and of no other one", async () => {
    await using admin = await start();
    const { world, accountId, first, second } = await withMessages(admin);
    const unreachable = { code: "receipt.undeliv", message: "the handset could not be reached" };
    const deferred = { code: "smpp.0x00000058", message: "throttled" };
    const [one, other] = await world.claim(2);
    await world.settle(one!);
    await world.receive(`p-${first}`, { status: "undelivered", error: unreachable });
    const next = { kind: "again", dueAt: world.clock.now + 1_000 } as const;
    await world.settle(other!, { outcomes: [{ kind: "deferred", error: deferred }], next });
    const list = async (query: string) =>
      (await admin.call("GET", `messages?account_id=${accountId}&channel=${query}`)).json.data;
    const listed = await list("sms");
    expect(listed.map((row: { error?: unknown }) => row.error)).toEqual([undefined, unreachable]);
    expect(await list("sms&status=undelivered")).toEqual([listed[1]]);
    for (const [index, id] of [second, first].entries())
      expect((await admin.call("GET", `messages/${id}`)).json).toEqual(listed[index]);
    expect(await list("email")).toEqual([expect.not.objectContaining({ error: expect.anything() })]);
  });

  test("an attempt at an email says whom it was for, or how many came to what, with an error of its own", async () => {
    await using admin = await start();
    const { world } = await withMessages(admin);
    const addresses = ["a@x.test", "b@x.test", "c@x.test"];
    const parts = addresses.map((address) => ({ status: "pending", address }) as const);
    const jobs = [
      { queue: "first", parts: [0] },
      { queue: "second", parts: [1, 2] },
    ];
    const id = await world.email({ parts, jobs });
    const unknown = { code: "5.1.1", message: "no such user" };
    const busy = { code: "4.2.2", message: "mailbox busy" };
    const [one] = await world.claim(1, "first");
    await world.settle(one!, { outcomes: [{ kind: "rejected", bounced: true, error: unknown }] });
    const [other] = await world.claim(1, "second");
    await world.settle(other!, {
      outcomes: [undefined, sent("p-b"), { kind: "deferred", error: busy }],
      next: { kind: "again", dueAt: world.clock.now },
    });
    await world.store.queue.stage(world.clock.now, 10);
    const [again] = await world.claim(1, "second");
    await world.settle(again!, { outcomes: [undefined, undefined, sent("p-c")] });
    const { data } = (await admin.call("GET", `messages/${id}/timeline`)).json;
    const attempts = data.filter(({ kind }: { kind: string }) => kind === "attempt");
    const shown = attempts.map(({ at: _, position: __, ...entry }: Record<string, unknown>) => entry);
    const connector = CONNECTOR;
    expect(shown).toEqual([
      { kind: "attempt", status: "bounced", recipient: "a@x.test", error: unknown, detail: { connector } },
      { kind: "attempt", status: "queued", error: busy, detail: { connector, sent: 1, deferred: 1 } },
      { kind: "attempt", status: "sent", recipient: "c@x.test", detail: { connector } },
    ]);
    const { status, error } = (await admin.call("GET", `messages/${id}`)).json;
    expect({ status, error }).toEqual({ status: "bounced", error: unknown });
  });

  test("a list without account or channel, or with a status of the other channel, says what is wrong", async () => {
    await using admin = await start();
    const details = async (path: string) => (await admin.call("GET", path)).json.details;
    expect(await details("messages?channel=sms")).toEqual({ account_id: "required" });
    expect(await details(`messages?account_id=${admin.accountId}`)).toEqual({ channel: "required" });
    expect(await details(`messages?account_id=${admin.accountId}&channel=fax`)).toHaveProperty("channel");
    const unclear = await details("messages?limit=0&after=x&to=y&status=z");
    expect(Object.keys(unclear).toSorted()).toEqual(["after", "channel", "limit"]);
    const opened = await details(`messages?account_id=${admin.accountId}&channel=sms&status=bounced`);
    expect(opened).toEqual({ status: expect.stringContaining("must be one of ") });
  });

  test("a message of any account and channel is found by its id alone", async () => {
    await using admin = await start();
    const { accountId, first, email } = await withMessages(admin);
    expect(await admin.call("GET", `messages/${first.toUpperCase()}`)).toMatchObject({
      status: 200,
      json: { channel: "sms", message_id: first, account_id: accountId, to: "+919812345678", from: "ACME" },
    });
    expect(await admin.call("GET", `messages/${email}`)).toMatchObject({
      status: 200,
      json: { channel: "email" },
    });
    for (const unknown of [admin.accountId, "no-id"]) {
      const answer = await admin.call("GET", `messages/${unknown}`);
      expect(answer).toMatchObject({ status: 404, json: { code: 404, message: "message not found" } });
    }
  });

  test("queues say how much is ready to be sent, and since when", async () => {
    await using admin = await start();
    expect((await admin.call("GET", "queues")).json).toEqual({ data: [] });
    const { world } = await withMessages(admin);
    const oldest_ready_at = new Date(world.clock.now).toISOString();
    const of = { queue: "queue-a", ready: 2, has_more: false, oldest_ready_at };
    expect((await admin.call("GET", "queues")).json).toEqual({ data: [of] });
  });
});
