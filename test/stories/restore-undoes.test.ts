/** A restore undoes what was done since the backup, erasures too: they can be repeated before anything is sent. */
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { admin, reached, send } from "../admin.ts";
import { makeDataFolder, type PostriderProcess, runPostrider, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

const NUMBER = "+919812345678";
const AHEAD_MS = 3_600_000;

const folder = makeDataFolder();
let service: PostriderProcess | undefined;

afterEach(async () => {
  await stop();
  folder.remove();
});

async function stop(): Promise<void> {
  service?.kill("SIGTERM");
  await service?.exited;
}

interface Erasure {
  readonly id: string;
  readonly status: string;
  readonly erased: number;
}

async function erase(of: PostriderProcess): Promise<Erasure> {
  const { id } = await admin<Erasure>(of, "/erasures", { recipient: NUMBER });
  return until(
    () => admin<Erasure>(of, `/erasures/${id}`),
    ({ status }) => status === "done",
  );
}

test("who was erased since the backup is erased again before a restored service sends anything", async () => {
  const data = join(folder.path, "data");
  const first = await startPostrider({ dataFolder: data });
  service = first;
  const { api_key: apiKey, account_id } = first.sandbox;
  const accept = async (to: string, over = {}) => {
    const body = { to, dlt_template_id: "1107160000000000001", ...over };
    const answer = await send(first, { apiKey, path: "/v1/sms/messages", body });
    return { apiKey, path: `/v1/sms/messages/${answer.body.message_id}` };
  };
  const message = await accept(NUMBER, { schedule_at: new Date(Date.now() + AHEAD_MS).toISOString() });
  const copy = join(folder.path, "copy");
  expect(
    (await runPostrider({ dataFolder: data, command: "backup", args: ["--to", copy, "--with-key"] })).code,
  ).toBe(0);
  expect(await erase(first)).toMatchObject({ erased: 1 });
  await admin(first, "/opt-outs", { account_id, recipient: NUMBER });
  await stop();

  const elsewhere = join(folder.path, "elsewhere");
  expect((await runPostrider({ command: "restore", args: ["--from", copy, "--data", elsewhere] })).code).toBe(
    0,
  );
  service = await startPostrider({ dataFolder: elsewhere, args: ["--roles", "api,upkeep"] });
  await reached(service, message, "scheduled");
  expect(await admin(service, "/erasures")).toEqual({ data: [] });
  expect(await admin(service, `/opt-outs?account_id=${account_id}`)).toEqual({ data: [] });
  expect(await erase(service)).toMatchObject({ erased: 1 });
  const headers = { Authorization: `Bearer ${apiKey}` };
  expect((await fetch(service.url + message.path, { headers })).status).toBe(404);
}, 120_000);
