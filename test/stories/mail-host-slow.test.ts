/** The settings of a connector are changed while a mail host takes its time over a mail, which does not go out a second time. */
import { afterEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type RawSmtp, startRawSmtp } from "../fakes/fake-smtp.ts";
import { type LiveMx, startLiveMx } from "../live-mx.ts";

onBothStores(() => {
  let server: RawSmtp;
  let mx: LiveMx;

  afterEach(async () => {
    await server.close();
    await mx.close();
  });

  test.each([
    ["is given a lower rate", { config: { max_per_second: 5 } }],
    ["is disabled", { is_enabled: false }],
  ])("a connector, one host of which answers after a minute, %s meanwhile", async (_, change) => {
    const [given, taken] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
    server = await startRawSmtp((verb) => {
      if (verb !== "DOT") return undefined;
      given.resolve();
      return taken.promise;
    });
    mx = await startLiveMx(server.port);
    const [connector] = (await admin<{ data: { connector_id: string }[] }>(mx.postrider, "/connectors")).data;
    const message = await mx.send("ann");
    await given.promise;
    await admin(mx.postrider, `/connectors/${connector?.connector_id}`, change, "PATCH");
    await mx.postrider.pass(60_000);
    taken.resolve(undefined);
    expect(await mx.end(message)).toBe("delivered");
    const attempts = (await mx.timeline(message)).filter(({ kind }) => kind === "attempt");
    expect(attempts.map(({ status }) => status)).toEqual(["delivered"]);
    expect(server.lines.filter((line) => line === "DATA")).toHaveLength(1);
  });
});
