/** More mail for one domain than may be under way there, or than its host takes: it goes as soon as there is a place, others' at once. */
import { afterEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type RawSmtp, startRawSmtp } from "../fakes/fake-smtp.ts";
import { type LiveMx, startLiveMx } from "../live-mx.ts";
import { until } from "../until.ts";

onBothStores(() => {
  let server: RawSmtp;
  let mx: LiveMx;

  afterEach(async () => {
    await server.close();
    await mx.close();
  });

  test("what finds no place at a full domain comes back when there is one, and a mail to another domain does not wait", async () => {
    const [given, released] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
    /** Connections that carry a mail to the full domain. */
    const carrying = new Set<number>();
    let most = 0;
    server = await startRawSmtp(async (verb, line, connection) => {
      if (verb === "RCPT" && line.includes("@example.net")) carrying.add(connection);
      most = Math.max(most, carrying.size);
      if (verb !== "DOT" || !carrying.has(connection)) return undefined;
      given.resolve();
      await released.promise;
      carrying.delete(connection);
      return undefined;
    });
    mx = await startLiveMx(server.port, { max_connections_per_domain: 1 });
    mx.dns.mx.set("other.example", ["10 mx.example.net"]);
    const taken = () => server.lines.filter((line) => line.startsWith("RCPT")).length;

    const first = await mx.send("ann");
    await given.promise;
    // Two stand in line, and the others find it full.
    const queued = await Promise.all(["bob", "cid", "dan", "eve", "fay"].map((name) => mx.send(name)));
    const putOff = () => mx.postrider.logged.filter(({ msg, next }) => msg === "attempt" && next === "again");
    await until(putOff, ({ length }) => length === 3);
    // No time passes meanwhile.
    const elsewhere = await mx.send("bob@other.example");
    await until(taken, (count) => count === 2);

    released.resolve(undefined);
    await until(taken, (count) => count === 4);
    // The three have room in the domain's place and its line, where a message waits for ten seconds.
    await mx.postrider.passUntil(() => taken() === 7, 10_000);
    for (const message of [first, elsewhere, ...queued]) expect(await mx.end(message)).toBe("delivered");
    expect(taken()).toBe(7);
    expect(most).toBe(1);
  });

  test("mail for a host that takes fewer connections than are allowed goes over these, one after the other, and waits for no more", async () => {
    const open = new Set<number>();
    const refused = Promise.withResolvers<void>();
    server = await startRawSmtp(async (verb, _, connection) => {
      if (verb === "QUIT") open.delete(connection);
      if (verb === "DOT") await refused.promise;
      if (verb !== "GREETING") return undefined;
      if (open.size < 2) return void open.add(connection);
      refused.resolve();
      return { lastWords: "421 4.3.2 too many connections" };
    });
    mx = await startLiveMx(server.port);
    const names = Array.from({ length: 8 }, (_, n) => `ann${n}`);
    const queued = await Promise.all(names.map((name) => mx.send(name)));
    const taken = () => server.lines.filter((line) => line.startsWith("RCPT")).length;
    await refused.promise;
    // The host is asked for more connections after fifteen seconds, and a message waits in line for ten.
    await mx.postrider.passUntil(() => taken() === 8, 5_000);
    for (const message of queued) expect(await mx.end(message)).toBe("delivered");
    expect(taken()).toBe(8);
    // Three more were asked for at most, before the first was refused.
    expect(server.connections()).toBeWithin(3, 6);
  });
});
