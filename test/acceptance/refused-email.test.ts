/** All that is wrong with an email is told at once, also what only the account's records know. */
import { expect, test } from "bun:test";
import { email, liveAccount } from "./builders.ts";
import { rewriteRecord } from "./rewrite-record.ts";
import { onEveryStore, type RunningApi } from "./running-api.ts";

const PATH = "/v1/emails/messages";
const NO_ROUTE = "no route of the account leads to this domain";

/** A live account whose only route leads to example.org; and the details of what it is refused. */
async function openLive(api: RunningApi) {
  const live = await liveAccount(api);
  const { accountId } = live;
  const [any] = await api.store.records.list("routes", { accountId, channel: "email" }, { limit: 1 });
  const { connectorIds } = any!;
  await api.store.records.update("routes", any!, { match: "example.org" });
  const refused = async (over: Record<string, unknown>, key = live.key): Promise<Record<string, string>> => {
    const { status, json } = await api.post(PATH, email(over), { key });
    expect(status).toBe(400);
    return json.details;
  };
  return { ...live, connectorIds, refused };
}

onEveryStore((start) => {
  test("a domain that no route leads to and a link that cannot be offered are told along with the rest", async () => {
    await using api = await start();
    const { refused } = await openLive(api);
    const to = [{ email: "x" }, { email: "a@example.org" }, { email: "a@elsewhere.example" }];
    expect(await refused({ subject: "", unsubscribe: true, to, cc: [{ email: "b@else.example" }] })).toEqual({
      subject: "required",
      unsubscribe: expect.stringContaining("public_url"),
      to: "2 of 3 entries are invalid",
      "to.0.email": expect.stringContaining("email address"),
      "to.2.email": NO_ROUTE,
      cc: "1 of 1 entries is invalid",
      "cc.0.email": NO_ROUTE,
    });
  });

  test("an email that is to have attachments is refused, since it would be sent without them", async () => {
    await using api = await start();
    const { refused } = await openLive(api);
    const to = [{ email: "a@example.org" }];
    const attachments = [{ filename: "invoice.pdf", content: "JVBERi0=" }];
    expect(await refused({ to, attachments })).toEqual({
      attachments: "are not supported: link to the files instead",
    });
    for (const none of [[], null])
      expect((await api.post(PATH, email({ attachments: none }))).status).toBe(202);
  });

  test("nothing is told that mending the email might disprove, and a sandbox is told nothing of records", async () => {
    await using api = await start();
    const { accountId, connectorIds, refused } = await openLive(api);
    const route = { accountId, channel: "email", match: "example.net", connectorIds } as const;
    await api.add("routes", { ...route, sender: "example.com" });
    const over = { from: { email: "nobody" }, to: [{ email: "a@example.net" }] };
    expect(Object.keys(await refused(over))).toEqual(["from.email"]);
    const odd = { from: { email: "a@elsewhere.example" }, to: [{ email: "a@b.example" }], subject: "" };
    expect(await refused(odd, api.caller.key)).toEqual({ subject: "required" });
  });

  test("half an emoji, as of a text cut to a length, is told of as that and not as a line end", async () => {
    await using api = await start();
    const cut = "Sale 😀".slice(0, -1);
    const sent = email({ subject: cut, from: { email: "a@b.example", name: cut }, headers: { "X-A": cut } });
    const reason = "must not contain NUL or unpaired surrogates";
    expect((await api.post(PATH, sent)).json.details).toEqual({
      subject: reason,
      "from.name": reason,
      "headers.X-A": reason,
    });
  });

  test("a sender's domain is verified in every spelling; of old rows for two of them the verified one counts", async () => {
    await using api = await start();
    const { accountId, key } = await liveAccount(api);
    const [unicode, ascii] = ["bücher.example", "xn--bcher-kva.example"];
    const send = (domain: string) => api.post(PATH, email({ from: { email: `hello@${domain}` } }), { key });
    const add = (domain: string, over = {}) =>
      api.add("domains", { accountId, domain, ownershipToken: "t", dkimKeys: [], ...over });
    for (const stored of [unicode, ascii, unicode.normalize("NFD")]) {
      const row = await add(stored, { verifiedAt: api.clock.now() });
      await api.clock.advance(1_000);
      for (const sent of [unicode, ascii, "Bücher.EXAMPLE"]) expect((await send(sent)).status).toBe(202);
      await api.store.records.remove("domains", row.id);
    }
    const pending = await add("other.example");
    const verified = await add(ascii, { verifiedAt: api.clock.now() });
    // As they could be made side by side once.
    await api.store.records.update("domains", pending, { domain: unicode });
    await api.clock.advance(1_000);
    for (const sent of [unicode, ascii]) expect((await send(sent)).status).toBe(202);
    await api.store.records.remove("domains", verified.id);
    await api.clock.advance(1_000);
    for (const sent of [unicode, ascii])
      expect((await send(sent)).json.details).toEqual({ "from.email": "domain is not verified" });
  });

  test("a route leads to a domain, and from one, in every spelling", async () => {
    await using api = await start();
    const { accountId, key } = await liveAccount(api);
    const [any] = await api.store.records.list("routes", { accountId, channel: "email" }, { limit: 1 });
    const send = (from: string, to: string) =>
      api.post(PATH, email({ from: { email: `a@${from}` }, to: [{ email: `b@${to}` }] }), { key });
    const domain = { accountId, ownershipToken: "t", dkimKeys: [], verifiedAt: api.clock.now() };
    await api.add("domains", { ...domain, domain: "xn--bcher-kva.example" });
    const spellings = ["bücher.example", "xn--bcher-kva.example"];
    for (const match of spellings) {
      await rewriteRecord(api, "routes", { id: any!.id, match, sender: match });
      await api.clock.advance(1_000);
      for (const from of spellings)
        for (const to of spellings) expect((await send(from, to)).status).toBe(202);
      expect((await send("example.com", "bücher.example")).json.details["to.0.email"]).toBe(NO_ROUTE);
    }
  });
});
