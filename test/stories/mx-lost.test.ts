/** Mail hosts that hang up, or never come to an end. */
import { afterEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmtp, type RawSmtp, startFakeSmtp, startRawSmtp } from "../fakes/fake-smtp.ts";
import { type LiveMx, startLiveMx } from "../live-mx.ts";

onBothStores(() => {
  let smtp: FakeSmtp | RawSmtp;
  let mx: LiveMx;

  afterEach(async () => {
    await smtp.close();
    await mx.close();
  });

  test("a host that drops the connection in the middle of a message gets it whole the next time", async () => {
    const server = await startFakeSmtp();
    smtp = server;
    mx = await startLiveMx(server.port);
    server.dial.drop = "during";
    const message = await mx.send("ann");
    expect(await mx.firstError(message)).toBe("smtp.connection_lost");
    delete server.dial.drop;
    expect(await mx.end(message, 300_000)).toBe("delivered");
    expect(server.received).toHaveLength(1);
  });

  test("a host that drips an answer without end costs one attempt, and holds up no other domain", async () => {
    const server = await startRawSmtp((verb, line) =>
      verb === "RCPT" && line.includes("example.net") ? "250-wait" : undefined,
    );
    smtp = server;
    mx = await startLiveMx(server.port, { max_connections_per_domain: 1, send_timeout_ms: 60_000 });
    mx.dns.mx.set("quick.example", ["10 mx.example.net"]);
    const slow = await mx.send("ann");
    await server.heard("RCPT");
    const quick = await mx.send("bob@quick.example");
    expect(await mx.end(quick, 45_000)).toBe("delivered");
    await mx.postrider.passUntil(async () => (await mx.postrider.status(slow)) === "queued", 70_000);
    const error = (await mx.timeline(slow)).findLast((entry) => entry.error)?.error;
    expect(error?.message).toBe("it took too long");
  });

  test("more messages to a slow domain than may be on their way wait in the queue, and others pass them", async () => {
    let release = () => {};
    const held = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    const server = await startRawSmtp((verb, line) =>
      verb === "MAIL" || !line.includes("@example.net") ? undefined : held,
    );
    smtp = server;
    mx = await startLiveMx(server.port, { max_connections: 4, max_connections_per_domain: 1 });
    mx.dns.mx.set("quick.example", ["10 mx.quick.example"]);
    mx.dns.a.set("mx.quick.example", ["127.0.0.1"]);
    const slow = [];
    for (const name of ["a", "b", "c", "d", "e", "f"]) slow.push(await mx.send(name));
    await server.heard("RCPT");
    expect(await mx.end(await mx.send("zoe@quick.example"), 60_000)).toBe("delivered");
    expect(server.lines.filter((line) => line.includes("@example.net"))).toHaveLength(1);
    release();
    for (const message of slow) expect(await mx.end(message, 300_000)).toBe("delivered");
  });
});
