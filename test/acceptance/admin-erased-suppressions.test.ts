/** What operators see of suppressions and opt-outs whose recipient was erased. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { admin, liveAccount } from "../admin.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { typeInto } from "./typed-commands.ts";

const NUMBER = "+919876543210";
const EMAIL = "asha@example.net";
const DIGEST = /^erased:[0-9a-f]{64}$/;

let postrider: HeldPostrider;
let account: string;
let commands: ReturnType<typeof typeInto>;

beforeAll(async () => {
  postrider = await startHeldPostrider();
  account = (await liveAccount(postrider)).accountId;
  commands = typeInto(postrider.dataFolder);
  await add("suppressions", { email: EMAIL });
  await add("suppressions", { email: "ravi@example.net" });
  await add("opt-outs", { recipient: NUMBER });
  for (const recipient of [NUMBER, EMAIL]) await erase(recipient);
});

afterAll(() => postrider.close());

function add(kind: string, body: object) {
  return admin(postrider, `/${kind}`, { account_id: account, ...body });
}

async function erase(recipient: string): Promise<void> {
  const { id } = await admin<{ id: string }>(postrider, "/erasures", { recipient });
  const isDone = async () => (await admin(postrider, `/erasures/${id}`)).status === "done";
  await postrider.passUntil(isDone, 60_000);
}

const list = async (kind: string, query = "") =>
  (await admin<{ data: Record<string, unknown>[] }>(postrider, `/${kind}?account_id=${account}${query}`))
    .data;

test("a list says that the recipient was erased, and not who it was; by the name one finds the entry", async () => {
  const [erased, kept] = await list("suppressions");
  expect(erased).toMatchObject({ email: null, erased: true, digest: expect.stringMatching(DIGEST) });
  expect(kept).toMatchObject({ email: "ravi@example.net" });
  expect(kept).not.toHaveProperty("erased");
  expect(await list("suppressions", "&email=ASHA@example.net")).toEqual([erased!]);
  const [optOut] = await list("opt-outs", `&recipient=${encodeURIComponent(NUMBER)}`);
  expect(optOut).toMatchObject({ recipient: null, erased: true, digest: expect.stringMatching(DIGEST) });
  const shown = await commands.text("suppressions", "list", "--account", account);
  expect(shown).toContain("(erased)");
  expect(await commands.text("opt-outs", "list", "--account", account)).toContain("(erased)");
});

test("an erased recipient cannot be added again beside the erased entry", async () => {
  const refused = await add("suppressions", { email: EMAIL }).catch(String);
  expect(refused).toContain("409");
  expect(await add("opt-outs", { recipient: NUMBER }).catch(String)).toContain("409");
});

test("an export holds the digest, and can be imported again in the same instance", async () => {
  const ofAccount = ["--account", account];
  for (const [format, name] of [["csv", "list.csv"] as const, ["jsonl", "list.jsonl"] as const]) {
    const out = await commands.text("suppressions", "export", ...ofAccount, "--format", format);
    expect(out).not.toContain("asha");
    const path = join(postrider.dataFolder, name);
    writeFileSync(path, out);
    await commands.text("suppressions", "release", ...ofAccount, "--email", EMAIL);
    expect(await list("suppressions", `&email=${EMAIL}`)).toEqual([]);
    const report = await commands.text("suppressions", "import", ...ofAccount, "--file", path);
    expect(report).toBe("1 added, 1 there already, 0 refused\n");
    expect(await list("suppressions", `&email=${EMAIL}`)).toHaveLength(1);
  }
});

test("what looks like a digest and is none is refused", async () => {
  const entries = [{ email: "erased:abc" }];
  const report = await admin(postrider, "/suppressions/import", { account_id: account, entries });
  expect(report).toMatchObject({ added: 0, refused: [{ index: 0 }] });
});
