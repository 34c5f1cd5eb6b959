/** A relay whose name has several addresses. */
import { afterEach, expect, test } from "bun:test";
import { dnsCache } from "nodemailer/lib/shared";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { smtpConnector } from "../../../../test/fakes/smtp-relay.ts";
import { smtpConnectorKind } from "./smtp-connector.ts";

const HOST = "several.relay.test";

afterEach(() => {
  dnsCache.delete(HOST);
});

test.each(["opportunistic", "implicit"])(
  "where each of them refuses, the check names all instead of giving no reason (TLS %s)",
  async (tls) => {
    const addresses = ["127.0.0.8", "127.0.0.9"];
    // As if it had just been looked up.
    dnsCache.set(HOST, { value: { addresses } });
    const { ok, detail } = await smtpConnectorKind.check(
      smtpConnector(1, { host: HOST, tls }),
      createHeldClock(),
    );
    expect(ok).toBe(false);
    for (const each of addresses) expect(detail).toContain(`connect ECONNREFUSED ${each}:1`);
  },
);
