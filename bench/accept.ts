/**
 * Accepting over HTTP, beside a bare `Bun.serve` in the same run: single SMS with every check on, with
 * and without an idempotency key, batches of 1,000, and lookups. Rounds alternate, and medians of the pairs' ratios are printed.
 *
 *   bun bench/accept.ts [rounds] [seconds] [listeners | store-thread]
 */
import { makeDataFolder, type PostriderProcess, startPostrider } from "../test/postrider-process.ts";
import { startBare } from "./bare.ts";
import { heading, ms, ratio, whole } from "./report.ts";
import { getScript, type Load, type Measured, measure, median, postScript, requireWrk } from "./wrk.ts";

const ROUNDS = Number(process.argv[2] ?? 5);
const SECONDS = Number(process.argv[3] ?? 5);
const WAY = process.argv[4] ?? "1";
const ARGS = WAY === "store-thread" ? ["--store-thread"] : ["--listeners", WAY];
const CONNECTIONS = 64;
const PATH = "/v1/sms/messages";

/** A one-time password, as an Indian sender posts it. */
const single = JSON.stringify({
  to: "+919876543210",
  dlt_template_id: "1107160000000000001",
  dlt_entity_id: "1101160000000000001",
  variables: { "1": "123456" },
});
/** The same with everything else a request may carry. */
const full = JSON.stringify({
  ...JSON.parse(single),
  from: "ACMEIN",
  expire_after_seconds: 300,
  callback_url: "https://example.com/hooks/sms",
  tags: ["otp"],
  metadata: { order: "A-1001" },
});
const batch = JSON.stringify({
  to: Array.from({ length: 1_000 }, (_, index) => `+91${9_000_000_000 + index * 7}`),
  dlt_template_id: "1107160000000000001",
});

requireWrk();
console.log(heading(`Accepting and looking up (${ARGS.join(" ")}), against a bare Bun.serve`));
const bare = await startBare();
await withService(["--roles", "api"], async (service) => {
  const key = service.sandbox.api_key;
  const load = { connections: CONNECTIONS, seconds: SECONDS };
  const single64 = (body: string, idempotent: boolean) => ({
    ...load,
    script: postScript({ path: PATH, key, body, idempotent }),
  });
  await measure({ ...single64(single, true), url: service.url });
  await compare("single SMS, --roles api, 64 connections", service, single64(single, false));
  await compare("the same with an Idempotency-Key each", service, single64(single, true));
  await compare("the same with every optional field and a key", service, single64(full, true));
  const look = { ...load, script: getScript({ paths: await somePaths(service), key }) };
  await compare("lookup, beside the bare server answering a GET", service, look);
  await compare("lookup, beside the bare server parsing a body", service, look, single64(single, false));
});
await withService(["--roles", "api"], async (service) => {
  const script = postScript({ path: PATH, key: service.sandbox.api_key, body: batch, idempotent: true });
  const rounds: Measured[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push(await measure({ url: service.url, connections: 4, seconds: SECONDS, script }));
  }
  const perSecond = median(rounds.map((each) => each.perSecond)) * 1_000;
  console.log(
    `batches of 1,000, 4 connections: ${whole(perSecond)} recipients/s, p99 ${ms(median(rounds.map((each) => each.p99Ms)))}`,
  );
});
await withService([], async (service) => {
  const script = postScript({ path: PATH, key: service.sandbox.api_key, body: single, idempotent: true });
  await compare("single SMS with delivery to the simulator beside it", service, {
    connections: CONNECTIONS,
    seconds: SECONDS,
    script,
  });
});
bare.stop();

async function withService(
  args: readonly string[],
  run: (service: PostriderProcess) => Promise<void>,
): Promise<void> {
  const folder = makeDataFolder();
  const service = await startPostrider({
    dataFolder: folder.path,
    args: [...args, ...ARGS],
  });
  try {
    await run(service);
  } finally {
    service.kill("SIGKILL");
    await service.exited;
    folder.remove();
  }
}

/** `bareLoad`: what the bare server is asked, where it is not the same. */
async function compare(
  name: string,
  service: PostriderProcess,
  load: Omit<Load, "url">,
  bareLoad: Omit<Load, "url"> = load,
) {
  const pairs: { bare: Measured; ours: Measured }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    pairs.push({
      bare: await measure({ ...bareLoad, url: bare.url }),
      ours: await measure({ ...load, url: service.url }),
    });
  }
  const ours = pairs.map((pair) => pair.ours);
  const errors = ours.reduce((sum, each) => sum + each.errors, 0);
  console.log(
    [
      `${name}: ratio ${ratio(median(pairs.map((pair) => pair.ours.perSecond / pair.bare.perSecond)))}`,
      `${whole(median(ours.map((each) => each.perSecond)))}/s against ${whole(median(pairs.map((pair) => pair.bare.perSecond)))}/s`,
      `p50 ${ms(median(ours.map((each) => each.p50Ms)))}, p99 ${ms(median(ours.map((each) => each.p99Ms)))}`,
      ...(errors > 0 ? [`${errors} ERRORS`] : []),
    ].join(", "),
  );
}

async function somePaths(service: PostriderProcess): Promise<readonly string[]> {
  const to = Array.from({ length: 500 }, (_, index) => `+91${9_000_000_000 + index}`);
  const response = await fetch(service.url + PATH, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.sandbox.api_key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ ...JSON.parse(single), to }),
  });
  const { messages } = (await response.json()) as { messages: { message_id: string }[] };
  return messages.map((message) => `${PATH}/${message.message_id}`);
}
