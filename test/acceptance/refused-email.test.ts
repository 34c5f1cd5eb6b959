/** All that is wrong with an email is told at once, also what only the account's records know. */
import { expect, test } from "bun:test";
import { email, liveAccount } from "./builders.ts";
import { onEveryStore, type RunningApi } from "./running-api.ts";

const PATH = "/v1/emails/messages";
const NO_ROUTE = "no route of the account leads to this domain";

/** A live account whose only route leads to example.org; and the details of what it is refused. */
async function openLive(api: RunningApi) {
  const live = await liveAccount(api);
  const { accountId } = live;
  const [any] = await api.store.records.list("routes", { accountId, channel: "email" }, { limit: 1 });
  const { id, connectorIds } = any!;
  await api.store.records.update("routes", id, { match: "example.org" });
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
});
