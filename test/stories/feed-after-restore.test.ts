/** A reader of the event feed, and a service that is restored from a backup older than what the reader has read. */
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { reached, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { makeDataFolder, type PostriderProcess, runPostrider, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

onBothStores(() => {
  const folders: ReturnType<typeof makeDataFolder>[] = [];
  const services: PostriderProcess[] = [];

  afterEach(async () => {
    for (const service of services.splice(0)) {
      service.kill("SIGKILL");
      await service.exited;
    }
    for (const folder of folders.splice(0)) folder.remove();
  });

  test("misses nothing of what happens after the restore, however much that is, and however often it is done", async () => {
    const original = await start(newFolder());
    await readEvents(original, "");
    const copy = join(newFolder(), "copy");
    const args = ["--to", copy, "--with-key"];
    expect((await runPostrider({ dataFolder: original.dataFolder, command: "backup", args })).code).toBe(0);
    let cursor = await readAfterMore(original, 3, "");
    for (const more of [5, 7]) {
      const dataFolder = newFolder();
      const restored = await runPostrider({ dataFolder, command: "restore", args: ["--from", copy] });
      expect(restored).toMatchObject({ code: 0 });
      cursor = await readAfterMore(await start(dataFolder, original), more, cursor);
    }
  }, 240_000);

  function newFolder(): string {
    const folder = makeDataFolder();
    folders.push(folder);
    return folder.path;
  }

  async function start(dataFolder: string, original?: PostriderProcess): Promise<PostriderProcess> {
    const sandbox = original?.sandbox;
    const service = await startPostrider({ dataFolder, ...(sandbox && { sandbox }) });
    services.push(service);
    return service;
  }

  /**
   * Sends that many messages, the last when the others are delivered, and expects to read of all of them after the cursor. Resolves with
   * the next one; the service is killed.
   */
  async function readAfterMore(service: PostriderProcess, count: number, cursor: string): Promise<string> {
    const ids = await Promise.all(Array.from({ length: count - 1 }, () => sendSms(service)));
    const last = await sendSms(service);
    let next = cursor;
    const told: string[] = [];
    const read = async () => {
      const page = await readEvents(service, next);
      next = page.next;
      told.push(
        ...page.data.filter(({ type }) => type === "sms.delivered").map(({ data }) => data.message_id),
      );
      return told.length;
    };
    await until(read, () => told.includes(last));
    expect(ids.filter((id) => !told.includes(id))).toEqual([]);
    service.kill("SIGKILL");
    await service.exited;
    return next;
  }

  async function readEvents({ url, sandbox }: PostriderProcess, after: string): Promise<Page> {
    const query = new URLSearchParams({ wait: "5", ...(after !== "" && { after }) });
    const headers = { Authorization: `Bearer ${sandbox.api_key}` };
    const response = await fetch(`${url}/v1/events?${query}`, { headers });
    expect(response.status).toBe(200);
    return (await response.json()) as Page;
  }

  async function sendSms(service: PostriderProcess): Promise<string> {
    const apiKey = service.sandbox.api_key;
    const body = { to: "+919876543210", dlt_template_id: "1107160000000000001" };
    const sent = await send(service, { apiKey, path: "/v1/sms/messages", body });
    const id = String(sent.body.message_id);
    await reached(service, { apiKey, path: `/v1/sms/messages/${id}` }, "delivered");
    return id;
  }
});

interface Page {
  readonly data: readonly { readonly type: string; readonly data: { readonly message_id: string } }[];
  readonly next: string;
}
