import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { SANDBOX_QUEUES } from "../../src/core/records/routes.ts";
import { onEveryAdmin, type RunningAdmin } from "./running-admin.ts";

onEveryAdmin((startAdmin) => {
  const NUMBER = "+919876543210";

  test("an erasure is asked for, done by upkeep, and leaves a record without the number", async () => {
    await using admin = await startAdmin();
    const id = await acceptSms(admin);
    const asked = await admin.call("POST", "erasures", { recipient: "98765 43210" });
    expect(asked.status).toBe(202);
    const { digest, salt } = asked.json;
    const record = { id: asked.json.id, digest, salt, created_at: iso(admin) };
    expect(asked.json).toEqual({ ...record, status: "running", erased: 0, redacted: 0 });
    expect(digest).toBe(
      createHash("sha256")
        .update(salt + NUMBER)
        .digest("hex"),
    );
    while ((await admin.store.erasures.advance(admin.clock.now(), 100)) > 0);
    const done = { ...record, status: "done", erased: 1, redacted: 0, completed_at: iso(admin) };
    expect((await admin.call("GET", `erasures/${record.id}`)).json).toEqual(done);
    expect((await admin.call("GET", "erasures")).json).toEqual({ data: [done] });
    const query = { accountId: admin.accountId, channel: "sms", id } as const;
    expect(await admin.store.messages.find(query)).toBeUndefined();
  });

  test("whether a recipient was erased can be asked, from either end of the list", async () => {
    await using admin = await startAdmin();
    const ids: string[] = [];
    for (const recipient of [NUMBER, "Asha@Example.org", NUMBER]) {
      ids.push((await admin.call("POST", "erasures", { recipient })).json.id);
    }
    const found = async (query: string) => {
      const { json } = await admin.call("GET", `erasures?${query}`);
      return json.data.map((erasure: { id: string }) => erasure.id);
    };
    expect(await found("recipient=%2B919876543210")).toEqual([ids[0], ids[2]]);
    expect(await found("recipient=+919876543210&limit=1")).toEqual([ids[0]]);
    expect(await found(`recipient=9876543210&after=${ids[0]}`)).toEqual([ids[2]]);
    expect(await found("recipient=asha@example.ORG")).toEqual([ids[1]]);
    expect(await found("recipient=%2B14155550123")).toEqual([]);
    expect(await found("order=newest")).toEqual(ids.toReversed());
    expect(await found(`order=newest&after=${ids[1]}`)).toEqual([ids[0]]);
    expect(await found("order=newest&recipient=%2B919876543210&limit=1")).toEqual([ids[2]]);
    expect(await found(`order=newest&recipient=%2B919876543210&after=${ids[2]}`)).toEqual([ids[0]]);
    expect((await admin.call("GET", "erasures?recipient=nobody")).status).toBe(400);
    expect((await admin.call("GET", "erasures?order=latest")).json.details).toEqual({
      order: "must be one of oldest, newest",
    });
  });

  test("whether an address of an international domain was erased can be asked in either form", async () => {
    await using admin = await startAdmin();
    const forms = ["a@bücher.example", "a@xn--bcher-kva.example"];
    const ids: string[] = [];
    for (const recipient of forms) ids.push((await admin.call("POST", "erasures", { recipient })).json.id);
    for (const form of forms) {
      const { json } = await admin.call("GET", `erasures?recipient=${encodeURIComponent(form)}`);
      expect(json.data.map((erasure: { id: string }) => erasure.id)).toEqual(ids);
    }
  });

  test("whether an address with letters outside ASCII was erased can be asked with other capitals", async () => {
    await using admin = await startAdmin();
    const { json } = await admin.call("POST", "erasures", { recipient: "Éric@bücher.example" });
    for (const form of ["éric@BÜCHER.example", "ÉRIC@bücher.example"]) {
      const found = await admin.call("GET", `erasures?recipient=${encodeURIComponent(form)}`);
      expect(found.json.data.map((erasure: { id: string }) => erasure.id)).toEqual([json.id]);
    }
  });

  test("an erasure is in one account only, where one is named", async () => {
    await using admin = await startAdmin();
    const body = { recipient: NUMBER, account_id: admin.accountId };
    expect((await admin.call("POST", "erasures", body)).json.account_id).toBe(admin.accountId);
  });

  test("what is neither a number nor an address, and an account that is not there, are refused", async () => {
    await using admin = await startAdmin();
    const bad = await admin.call("POST", "erasures", { recipient: "nobody", account_id: "none" });
    expect([bad.status, Object.keys(bad.json.details).sort()]).toEqual([400, ["account_id", "recipient"]]);
    expect((await admin.call("POST", "erasures", {})).json.details).toEqual({ recipient: "required" });
    expect((await admin.call("GET", "erasures/nonsense")).status).toBe(404);
    expect((await admin.call("GET", "erasures", undefined, { Authorization: "Bearer x" })).status).toBe(401);
  });

  async function acceptSms({ store, accountId, clock }: RunningAdmin): Promise<string> {
    const id = "019bc180-0000-7000-8000-000000000001";
    const jobs = [{ queue: SANDBOX_QUEUES.sms }];
    const message = { id, recipient: NUMBER, status: "queued", parts: [], jobs } as const;
    await store.intake.accept({
      accountId,
      flow: "single",
      content: { channel: "sms", text: "hi" },
      messages: [{ ...message, expiresAt: clock.now() + 60_000 }],
    });
    return id;
  }

  function iso({ clock }: RunningAdmin): string {
    return new Date(clock.now()).toISOString();
  }
});
