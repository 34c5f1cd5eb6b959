import { expect, test } from "bun:test";
import type { ConnectorKind, ConnectorStatus } from "../../src/channels/channel.ts";
import { httpConnectorKind } from "../../src/channels/sms/http/http-connector.ts";
import type { SmsSegments } from "../../src/core/sms/sms-segments.ts";
import { email, isoIn, liveAccount, sms } from "./builders.ts";
import { rewriteRecord } from "./rewrite-record.ts";
import { onEveryStore, type RunningApi } from "./running-api.ts";

const PATH = "/v1/sms/messages";

interface Verdict {
  readonly check: string;
  readonly verdict: string;
  readonly details?: object;
}

const verdicts = ({ checks }: { checks: readonly Verdict[] }) =>
  Object.fromEntries(checks.map(({ check, verdict }) => [check, verdict]));
const refusals = ({ checks }: { checks: readonly Verdict[] }) =>
  Object.assign({}, ...checks.map(({ details }) => details ?? {}));

/** A live account, and its requests. */
async function openLive(api: RunningApi) {
  const live = await liveAccount(api);
  const variables = { "1": "4821", "2": 5 };
  const send = (over: object, headers = {}) =>
    api.post(PATH, sms({ template_id: live.templateId, variables, ...over }), { key: live.key, headers });
  return { ...live, send, dryRun: (over: object = {}) => send({ dry_run: true, ...over }) };
}

const stored = async ({ store }: RunningApi) =>
  (await store.queue.backlog(10)).reduce((sum, { ready }) => sum + ready, 0);

onEveryStore((start) => {
  test("a dry run answers 200 with everything that would become of the message", async () => {
    await using api = await start({
      deps: {
        connectorStatus: () => ({
          state: "up",
          since: 0,
          health: { score: 0.456, problems: ["slow_receipts"] },
        }),
      },
    });
    const { dryRun, templateId, routeId } = await openLive(api);
    const { status, json } = await dryRun({ to: "9876543210" });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      dry_run: true,
      would_send: true,
      to: "+919876543210",
      from: "ACMECO",
      template_id: templateId,
      dlt_template_id: "1107161234567890123",
      dlt_entity_id: "1101172974420810001",
      status: "queued",
      encoding: "gsm7",
      segments: 1,
      units: "Your code is 4821, valid for 5 minutes.".length,
      route: {
        route_id: routeId,
        failover: "safe",
        connectors: [
          {
            connector_id: expect.any(String),
            name: expect.stringMatching(/^c-/),
            state: "up",
            health: { score: 0.45, problems: ["slow_receipts"] },
          },
        ],
      },
    });
    expect(verdicts(json)).toMatchObject({ variables: "passed", dlt: "passed", route: "passed" });
    expect(verdicts(json).sender).toBe("not_applicable");
  });

  test("a dry run stores nothing, and takes no idempotency key", async () => {
    await using api = await start();
    const { dryRun, send } = await openLive(api);
    const key = { "Idempotency-Key": "one" };
    expect((await send({ dry_run: true }, key)).status).toBe(200);
    expect((await dryRun({ to: ["+919876543210", "+919876543211"] })).status).toBe(200);
    expect(await stored(api)).toBe(0);
    const real = await send({}, key);
    expect([real.status, real.headers.get("idempotent-replayed")]).toEqual([202, null]);
    expect(await stored(api)).toBe(1);
    const after = await send({ dry_run: true }, key);
    expect([after.status, after.headers.get("idempotent-replayed")]).toEqual([200, null]);
  });

  test("a dry run that is refused says so, also under a key by which something was sent", async () => {
    await using api = await start();
    const headers = { "Idempotency-Key": "one" };
    for (const [path, sent, tried] of [
      [PATH, sms(), sms({ dry_run: true, to: "12" })],
      ["/v1/emails/messages", email(), email({ dry_run: true })],
    ] as const) {
      expect((await api.post(path, sent, { headers })).status).toBe(202);
      const { status, json } = await api.post(path, tried, { headers });
      expect([status, json.message]).toEqual([400, "validation failed"]);
    }
  });

  test("false is as if it were not there, and anything but a boolean is refused", async () => {
    await using api = await start();
    expect((await api.post(PATH, sms({ dry_run: false }))).status).toBe(202);
    expect((await api.post(PATH, sms({ dry_run: null }))).status).toBe(202);
    const { status, json } = await api.post(PATH, sms({ dry_run: "yes" }));
    expect([status, Object.keys(json.details)]).toEqual([400, ["dry_run"]]);
  });

  test("a body that is no request is a 400 in a dry run too", async () => {
    await using api = await start();
    const { status, json } = await api.post("/v1/sms/send", { to: "12", dry_run: true });
    expect([status, json.message]).toEqual([400, "validation failed"]);
    expect(Object.keys(json.details)).toEqual(["template_id", "dlt_template_id", "to"]);
  });

  test("every refusal of a real request is a verdict here, with the same words", async () => {
    await using api = await start();
    const { send, dryRun } = await openLive(api);
    const cases = [
      { variables: { "1": "x".repeat(41), "2": "5" } },
      { variables: { "1": "1" } },
      { from: "NOBODY" },
      { to: "+14155550123" },
      { dlt_template_id: "110799999999" },
      { from: "NOBODY", variables: {}, to: "+14155550123", dlt_template_id: "110799999999" },
    ];
    for (const over of cases) {
      const real = await send(over);
      const { status, json } = await dryRun(over);
      expect([real.status, status, json.would_send]).toEqual([400, 200, false]);
      expect(refusals(json)).toEqual(real.json.details);
    }
    const { json } = await dryRun({ to: "+14155550123" });
    expect(verdicts(json)).toMatchObject({ route: "refused", variables: "passed", dlt: "not_applicable" });
    expect(json).not.toHaveProperty("route");
  });

  test("each recipient of a batch has its own verdicts, in order, however many are refused", async () => {
    await using api = await start();
    const { dryRun } = await openLive(api);
    const to = ["+919876543210", ...Array.from({ length: 40 }, (_, n) => `+141555501${10 + n}`)];
    const { status, json } = await dryRun({ to });
    expect([status, json.would_send]).toEqual([200, false]);
    expect(json.messages.map((each: { to: string }) => each.to)).toEqual(to);
    expect(json.messages.map((each: { would_send: boolean }) => each.would_send)).toEqual(
      to.map((_, index) => index === 0),
    );
    expect(refusals(json.messages[40])).toEqual({ to: expect.stringContaining("no route") });
    const good = await dryRun({ to: ["+919876543210"] });
    expect(good.json).toMatchObject({ would_send: true, messages: [{ would_send: true }] });
  });

  test("encoding and segments are those of the text as it would go out", async () => {
    await using api = await start();
    const { dryRun } = await openLive(api);
    const wide = await dryRun({ variables: { "1": "४८२१", "2": "5" } });
    expect(wide.json).toMatchObject({
      encoding: "ucs2",
      segments: 1,
      forces_ucs2: ["४", "८", "२", "१"],
    });
    expect((await dryRun()).json).not.toHaveProperty("forces_ucs2");
    const long = await dryRun({ variables: { "1": "४".repeat(40), "2": "5" } });
    expect(long.json).toMatchObject({ encoding: "ucs2", segments: 2 });
  });

  test("encoding and segments are those over the first connector of the route that is healthy, or over the first if none is", async () => {
    const scores = new Map<string, number>();
    const segments: ConnectorKind["segments"] = ({ config }) => config.segments as SmsSegments;
    const connectorKinds = [{ ...httpConnectorKind, segments }];
    const connectorStatus = (id: string): ConnectorStatus | undefined =>
      scores.has(id)
        ? { state: "up", since: 0, health: { score: scores.get(id)!, problems: [] } }
        : undefined;
    await using api = await start({ deps: { connectorStatus, connectorKinds } });
    const { dryRun, accountId } = await openLive(api);
    const ids: string[] = [];
    for (const units of [1, 2, 3]) {
      const config = { segments: { encoding: "gsm7", parts: [], units } };
      const made = { name: `over ${units}`, kind: "http", config, secrets: {}, isEnabled: true };
      ids.push((await api.add("connectors", made)).id);
    }
    await api.add("routes", { accountId, channel: "sms", match: "9198", connectorIds: ids });
    const unitsWith = async (...given: readonly number[]) => {
      for (const [index, id] of ids.entries()) scores.set(id, given[index]!);
      return (await dryRun()).json.units;
    };
    expect(await unitsWith()).toBe(1);
    expect(await unitsWith(0.5, 1, 1)).toBe(1);
    expect(await unitsWith(0.49, 0.5, 1)).toBe(2);
    expect(await unitsWith(0.1, 0.4, 0.3)).toBe(1);
  });

  test("the route is that of the sender that goes out and of the template's category", async () => {
    await using api = await start();
    const { dryRun, accountId, templateId } = await openLive(api);
    const { store } = api;
    const [{ connectorIds = [] } = {}] = await store.records.list("routes", { accountId }, { limit: 1 });
    const to = { accountId, channel: "sms", match: "91", connectorIds } as const;
    const bySender = await api.add("routes", { ...to, sender: "ACMECO", failover: "always" });
    const weights = { [connectorIds[0]!]: 3 };
    const byBoth = await api.add("routes", {
      ...to,
      sender: "ACMECO",
      category: "service_implicit",
      weights,
    });
    await api.add("routes", { ...to, category: "promotional" });
    expect((await dryRun()).json.route).toMatchObject({ route_id: bySender.id, failover: "always" });
    await rewriteRecord(api, "smsTemplates", { id: templateId, category: "service_implicit" });
    await api.clock.advance(2_000);
    expect((await dryRun()).json).toMatchObject({
      category: "service_implicit",
      route: { route_id: byBoth.id, connectors: [{ weight: 3, state: "unknown" }] },
    });
  });

  test("how long a promotional message would wait is counted from its time, which may be at night", async () => {
    await using api = await start();
    const { dryRun, templateId } = await openLive(api);
    await rewriteRecord(api, "smsTemplates", { id: templateId, category: "promotional" });
    await api.clock.advance(2_000);
    // Half past five in the afternoon in India, and half past ten.
    expect((await dryRun()).json).not.toHaveProperty("deferred_until");
    const { json } = await dryRun({ schedule_at: isoIn(api, 5 * 3_600_000), expire_after_seconds: 60 });
    expect(json).toMatchObject({
      status: "scheduled",
      deferred_until: "2026-01-16T04:30:00.000Z",
      expires_at: isoIn(api, 5 * 3_600_000 + 60_000),
    });
  });

  test("a sandbox judges as little as it does of real requests", async () => {
    await using api = await start();
    const { status, json } = await api.post(PATH, sms({ dry_run: true, schedule_at: isoIn(api, 60_000) }));
    expect([status, json.would_send, json.status]).toEqual([200, true, "scheduled"]);
    expect(json.route.connectors).toMatchObject([{ connector_id: "sandbox:sms" }]);
    expect(json).not.toHaveProperty("segments");
    expect(json.template_id).toBe(sms().template_id);
    expect(await stored(api)).toBe(0);
  });

  test("an email has no dry run: asked for one, it is refused with its other problems, and nothing is sent", async () => {
    await using api = await start();
    for (const path of ["/v1/emails/messages", "/v1/emails/send"]) {
      const { status, json } = await api.post(path, email({ dry_run: true, subject: "" }));
      expect(status).toBe(400);
      expect(json.details).toEqual({
        dry_run: "is available for SMS only: nothing was sent",
        subject: "required",
      });
      expect((await api.post(path, email({ dry_run: true }))).status).toBe(400);
      const vague = await api.post(path, email({ dry_run: "true" }));
      expect(vague.json.details).toEqual({ dry_run: "must be a boolean" });
    }
    expect(await stored(api)).toBe(0);
    for (const meant of [false, null]) {
      expect((await api.post("/v1/emails/messages", email({ dry_run: meant }))).status).toBe(202);
    }
    expect(await stored(api)).toBe(2);
  });
});
