/** The event feed of a service that runs, and one that stops. */
import { afterEach, expect, test } from "bun:test";
import { send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

/** Who is not answered is told so after 30 s. */
const WAIT_MS = 28_000;

onBothStores((store) => {
  const folders: { remove: () => void }[] = [];

  afterEach(() => {
    for (const folder of folders.splice(0)) folder.remove();
  });

  for (const args of store === "sqlite" ? [[], ["--store-thread"]] : [[]]) {
    test(`who waits is answered by an event, and when the service stops: serve ${args.join(" ")}`, async () => {
      const service = await start(args);
      const startedAt = performance.now();
      const waiting = readEvents(service, "wait=30");
      const { id } = await sendSms(service);
      const page = await waiting;
      expect(page.data[0]).toMatchObject({ type: "sms.sent", data: { message_id: id } });
      expect(performance.now() - startedAt).toBeLessThan(WAIT_MS);
      // On PostgreSQL an event can be read a moment after the status that it tells of.
      let end = page;
      const typeOfLast = async () => {
        if (end.data.at(-1)?.type !== "sms.delivered")
          end = await readEvents(service, `after=${end.next}&wait=30`);
        return end.data.at(-1)?.type;
      };
      await until(typeOfLast, (type) => type === "sms.delivered");
      const last = readEvents(service, `after=${end.next}&wait=30`);
      const looks = performance.now();
      // It is waiting once another request that came after it is answered.
      await readEvents(service, "limit=1");
      service.kill("SIGTERM");
      expect(await last).toEqual({ data: [], next: end.next });
      expect(await service.exited).toBe(0);
      expect(performance.now() - looks).toBeLessThan(WAIT_MS);
    }, 120_000);
  }

  test("a reader that was away goes on where it was, also over a restart of the service", async () => {
    const first = await start([]);
    const sent = [await sendSms(first), await sendSms(first)];
    const page = await read(first, "", 4);
    first.kill("SIGKILL");
    await first.exited;
    const second = await startPostrider({ dataFolder: first.dataFolder });
    const later = await sendSms(second);
    const rest = await read(second, `after=${page.next}`, 2);
    const told = (events: readonly FeedItem[]) =>
      events.map((event) => `${event.data.message_id} ${event.type}`);
    const expected = sent.flatMap(({ id }) => [`${id} sms.sent`, `${id} sms.delivered`]);
    expect(told(page.data).toSorted()).toEqual(expected.toSorted());
    expect(told(rest.data)).toEqual([`${later.id} sms.sent`, `${later.id} sms.delivered`]);
    second.kill("SIGTERM");
    expect(await second.exited).toBe(0);
  }, 120_000);

  interface FeedItem {
    readonly type: string;
    readonly data: { readonly message_id: string };
  }

  interface Page {
    readonly data: readonly FeedItem[];
    readonly next: string;
  }

  async function start(args: readonly string[]): Promise<PostriderProcess> {
    const folder = makeDataFolder();
    folders.push(folder);
    return startPostrider({ dataFolder: folder.path, args });
  }

  async function readEvents({ url, sandbox }: PostriderProcess, query: string): Promise<Page> {
    const headers = { Authorization: `Bearer ${sandbox.api_key}` };
    return (await (await fetch(`${url}/v1/events?${query}`, { headers })).json()) as Page;
  }

  /** Reads on until there are so many. */
  async function read(service: PostriderProcess, from: string, count: number): Promise<Page> {
    const data: FeedItem[] = [];
    let query = from;
    const readOn = async () => {
      const page = await readEvents(service, `${query}&wait=5`);
      data.push(...page.data);
      query = `after=${page.next}`;
      return { data, next: page.next };
    };
    return until(readOn, () => data.length >= count);
  }

  async function sendSms(service: PostriderProcess): Promise<{ readonly id: string }> {
    const body = { to: "+919876543210", dlt_template_id: "1107160000000000001" };
    const { api_key } = service.sandbox;
    const answer = await send(service, { apiKey: api_key, path: "/v1/sms/messages", body });
    return { id: String(answer.body.message_id) };
  }
});
