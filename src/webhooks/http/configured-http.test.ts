import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createConfiguredHttp } from "./configured-http.ts";

test("a change of the ranges, or of the name servers, counts within a second", async () => {
  const clock = createHeldClock();
  let settings: Record<string, string> = {};
  const asked: (string | undefined)[] = [];
  const http = createConfiguredHttp({
    records: { settings: async () => settings },
    clock,
    openResolver(servers) {
      asked.push(servers);
      return { resolve4: async () => ["127.0.0.1"], resolve6: async () => [] };
    },
    onError() {},
  });
  const reasonAfter = async (changed: Record<string, string>) => {
    settings = changed;
    await clock.advance(1_000);
    // Nobody listens there.
    const outcome = await http.post({
      url: "https://hooks.test:1/",
      headers: {},
      body: "",
      signal: new AbortController().signal,
    });
    return "reason" in outcome ? outcome.reason : outcome.kind;
  };
  expect(await reasonAfter({})).toBe("refused_address");
  expect(await reasonAfter({ dns_servers: "192.0.2.1" })).toBe("refused_address");
  expect(asked).toEqual([undefined, "192.0.2.1"]);
  const dns_servers = "192.0.2.1";
  expect(await reasonAfter({ dns_servers, webhook_allowed_ranges: "127.0.0.0/8" })).not.toBe(
    "refused_address",
  );
  expect(await reasonAfter({ dns_servers })).toBe("refused_address");
  http.close();
});
