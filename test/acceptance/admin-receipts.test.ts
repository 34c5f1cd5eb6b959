import { afterAll, beforeAll, expect, test } from "bun:test";
import { onEveryAdmin, type RunningAdmin } from "./running-admin.ts";

const ONE = "01a1fe4d-214d-743f-a718-81d8f26abc37";
const OTHER = "01a1fe4d-214d-743f-a718-81d8f26abc38";

onEveryAdmin((startAdmin) => {
  let admin: RunningAdmin;

  beforeAll(async () => {
    admin = await startAdmin();
    const receipt = { status: "delivered", receivedAt: admin.clock.now() } as const;
    await admin.store.receipts.record([
      { ...receipt, connectorId: ONE, providerMessageId: "A1", recipient: "919812345678", raw: "id:a1" },
      { ...receipt, connectorId: OTHER, providerMessageId: "B2", otherId: "b-2", reference: 7 },
      { ...receipt, connectorId: ONE, providerMessageId: "C3", status: "failed" },
    ]);
  });

  afterAll(() => admin[Symbol.asyncDispose]());

  const list = async (query = "") => (await admin.call("GET", `receipts/parked?${query}`)).json;

  test("receipts that match nothing are shown as the provider sent them, their numbers masked", async () => {
    const { data } = await list();
    expect(data[0]).toEqual({
      id: expect.any(String),
      connector_id: ONE,
      received_at: new Date(admin.clock.now()).toISOString(),
      provider_message_id: "A1",
      recipient: "9198******78",
      status: "delivered",
      raw: "id:a1",
    });
    expect(data[1]).toMatchObject({ connector_id: OTHER, other_id: "b-2", reference: 7 });
    expect(data).toHaveLength(3);
  });

  test("parked receipts are found by connector, and paged", async () => {
    const first = await list(`connector_id=${ONE}&limit=1`);
    expect(first.data).toMatchObject([{ provider_message_id: "A1" }]);
    const second = await list(`connector_id=${ONE}&limit=1&after=${first.next}`);
    expect(second.data).toMatchObject([{ provider_message_id: "C3", status: "failed" }]);
    expect(second.next).toBeUndefined();
  });

  test("a connector's name is no id: it is refused, since an empty list would say that none are parked", async () => {
    const { status, json } = await admin.call("GET", "receipts/parked?connector_id=airtel");
    expect(status).toBe(400);
    expect(json.details).toEqual({ connector_id: "must be a UUID" });
  });

  test("parked receipts begin with the newest where that is asked for, and another order is refused with those that there are", async () => {
    const first = await list("order=newest&limit=2");
    expect(first.data).toMatchObject([{ provider_message_id: "C3" }, { provider_message_id: "B2" }]);
    const second = await list(`order=newest&limit=2&after=${first.next}`);
    expect(second.data).toMatchObject([{ provider_message_id: "A1" }]);
    expect(second.next).toBeUndefined();
    expect((await list("order=oldest")).data).toEqual((await list()).data);
    expect((await list("order=latest&after=x")).details).toEqual({
      order: "must be one of oldest, newest",
      after: "must be the `next` of an earlier page",
    });
  });

  test("what is no `next` of a page before is refused, however large a number it is", async () => {
    for (const after of ["99999999999999999999", "1e999", "abc"]) {
      const { status, json } = await admin.call("GET", `receipts/parked?after=${after}`);
      expect(status).toBe(400);
      expect(Object.keys(json.details)).toEqual(["after"]);
    }
  });
});
