/** The suppression list in bulk: in, out, and one address off it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { admin, liveAccount } from "../admin.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { typeInto } from "./typed-commands.ts";

let postrider: HeldPostrider;
let account: string;
let commands: ReturnType<typeof typeInto>;

beforeAll(async () => {
  postrider = await startHeldPostrider();
  account = (await liveAccount(postrider)).accountId;
  commands = typeInto(postrider.dataFolder);
});

afterAll(() => postrider.close());

function file(name: string, text: string): string {
  const path = join(postrider.dataFolder, name);
  writeFileSync(path, text);
  return path;
}

const importFile = (path: string, ...more: string[]) =>
  commands.run(["suppressions", "import", "--account", account, "--file", path, ...more]);

test("a CSV file is taken; what is wrong with a line is said with its number, and the others are added", async () => {
  const path = file(
    "list.csv",
    "Email,reason,expires_at\nAnn@example.net,hard_bounce,\n=b@example.net,,2027-01-01T00:00:00Z\nnobody,,\ncid@example.net,whim,\n",
  );
  const { out, code } = await importFile(path);
  expect(out).toBe(
    "line 4: not an email address\nline 5: no such reason: whim\n2 added, 0 there already, 2 refused\n",
  );
  expect(code).toBe(1);
  expect((await importFile(file("plain.csv", "ann@example.net\ndan@example.net\n"))).out).toBe(
    "1 added, 1 there already, 0 refused\n",
  );
});

test("the export of another service is taken, whose reasons are what servers said, with the one that is given for all", async () => {
  const other = (await liveAccount(postrider)).accountId;
  const path = file(
    "bounces.csv",
    'status,reason,email,created\n5.1.1,"550 5.1.1 no such user",eve@example.net,1700000000\n',
  );
  const take = (...more: string[]) =>
    commands.run(["suppressions", "import", "--account", other, "--file", path, ...more]);
  expect((await take()).out).toContain("line 2: no such reason: 550 5.1.1 no such user\n");
  expect((await take("--reason", "hard_bounce")).out).toBe("1 added, 0 there already, 0 refused\n");
  const { data } = await admin<{ data: Row[] }>(postrider, `/suppressions?account_id=${other}`);
  expect(data).toMatchObject([{ email: "eve@example.net", reason: "hard_bounce" }]);
  expect((await take("--reason", "bounced")).err).toContain("hard_bounce, soft_bounce, complaint");
});

type Row = Readonly<Record<string, unknown>>;

test("a long list shows progress", async () => {
  const other = (await liveAccount(postrider)).accountId;
  const rows = Array.from({ length: 11_000 }, (_, index) => `person${index}@example.net`);
  const path = file("long.csv", rows.join("\n"));
  const { out, err } = await commands.run(["suppressions", "import", "--account", other, "--file", path]);
  expect(err).toBe("10000 of 11000 entries\n11000 of 11000 entries\n");
  expect(out).toBe("11000 added, 0 there already, 0 refused\n");
});

test("what is exported can be imported, as CSV and as JSON lines, and is the same again", async () => {
  const { out: csv } = await commands.run(["suppressions", "export", "--account", account]);
  const other = (await liveAccount(postrider)).accountId;
  const { out: lines } = await commands.run([
    "suppressions",
    "export",
    "--account",
    account,
    "--format",
    "jsonl",
  ]);
  for (const [name, text] of [
    ["again.csv", csv],
    ["again.jsonl", lines],
  ] as const) {
    const path = file(name, text);
    expect(readFileSync(path, "utf8")).toContain("ann@example.net");
    const { code } = await commands.run(["suppressions", "import", "--account", other, "--file", path]);
    expect(code).toBe(0);
  }
  const listed = async (id: string) => {
    const { data } = await admin<{
      data: { email: string; reason: string; source: string; expires_at?: string }[];
    }>(postrider, `/suppressions?account_id=${id}`);
    return data.map(({ email, reason, source, expires_at }) => ({ email, reason, source, expires_at }));
  };
  expect(await listed(other)).toEqual(await listed(account));
  expect((await listed(account)).map(({ email }) => email)).toContain("=b@example.net");
});

test("what begins with an apostrophe is the same after an export as CSV, beside what got one to be no formula", async () => {
  const [from, to] = [await liveAccount(postrider), await liveAccount(postrider)];
  const written = ["=b@example.net", "'=b@example.net", "''+c@example.net", "'dan@example.net"];
  const lines = file("odd.jsonl", written.map((email) => JSON.stringify({ email })).join("\n"));
  const run = (verb: string, ...more: string[]) => commands.run(["suppressions", verb, "--account", ...more]);
  await run("import", from.accountId, "--file", lines);
  const { out } = await run("export", from.accountId);
  await run("import", to.accountId, "--file", file("odd.csv", out));
  const { data } = await admin<{ data: { email: string }[] }>(
    postrider,
    `/suppressions?account_id=${to.accountId}`,
  );
  expect(data.map(({ email }) => email).toSorted()).toEqual(written.toSorted());
});

test("what spreadsheets save is read, with semicolons or as Unicode text; another encoding is refused, not guessed at", async () => {
  const rows = '\uFEFF"Email";Reason\r\nzoë@example.net;complaint\r\n';
  const take = async (name: string, octets: string | Uint8Array) => {
    const path = join(postrider.dataFolder, name);
    writeFileSync(path, octets);
    return importFile(path);
  };
  expect((await take("semicolons.csv", rows)).out).toStartWith("1 added");
  const unicode = Buffer.from(rows.replaceAll(";", "\t").replace("zoë", "zoé"), "utf16le");
  expect((await take("unicode.txt", unicode)).out).toStartWith("1 added");
  const { code, err } = await take("western.csv", Buffer.from("email\nzoë@example.net\n", "latin1"));
  expect([code, err]).toEqual([2, expect.stringContaining("is not UTF-8: save it as CSV (UTF-8)")]);
  const { out } = await commands.run(["suppressions", "export", "--account", account]);
  expect(out).toMatch(/^zoë@example.net,complaint,import,/m);
  expect(out).toMatch(/^zoé@example.net,complaint,import,/m);
  expect(out).not.toContain("\uFFFD");
});

test("an address is released by its name", async () => {
  const release = () =>
    commands.run(["suppressions", "release", "--account", account, "--email", "DAN@example.net"]);
  expect((await release()).out).toContain("may be written to again");
  expect((await release()).code).not.toBe(0);
});

test("more than a request takes is sent in pieces", async () => {
  const addresses = Array.from({ length: 2_500 }, (_, index) => `user${index}@example.org`);
  expect((await importFile(file("long.csv", addresses.join("\n")))).out).toStartWith("2500 added");
});

test("an address of an international domain is on the list once, and found and released in either form", async () => {
  const account = (await liveAccount(postrider)).accountId;
  const list = file("both.csv", "a@bücher.example\na@xn--bcher-kva.example\nA@BÜCHER.example\n");
  const { out } = await commands.run(["suppressions", "import", "--account", account, "--file", list]);
  expect(out).toBe("1 added, 2 there already, 0 refused\n");
  const listed = async (email: string) => {
    const path = `/suppressions?account_id=${account}&email=${encodeURIComponent(email)}`;
    return (await admin<{ data: { email: string }[] }>(postrider, path)).data.map((entry) => entry.email);
  };
  for (const form of ["a@bücher.example", "a@xn--bcher-kva.example", "a@Bücher.Example"]) {
    expect(await listed(form)).toEqual(["a@xn--bcher-kva.example"]);
  }
  const words = ["suppressions", "release", "--account", account, "--email", "a@bücher.example"];
  expect((await commands.run(words)).code).toBe(0);
  expect(await listed("a@xn--bcher-kva.example")).toEqual([]);
});

test("a line that is no entry is named by its number, and one that is no JSON stops the import", async () => {
  const odd = file("odd.jsonl", '{"email":"odd@example.net"}\nnull\n[1]\n"x"\n');
  const { code, out } = await importFile(odd);
  expect([
    code,
    out
      .split("\n")
      .slice(0, 3)
      .map((line) => line.split(":")[0]),
  ]).toEqual([1, ["line 2", "line 3", "line 4"]]);
  expect(out).toContain("1 added");
  const broken = await importFile(file("broken.jsonl", '{"email":"x@example.net"}\n{"email":\n'));
  expect([broken.code, broken.err]).toEqual([2, expect.stringContaining("line 2: JSON")]);
});

test("a JSON array and a file that is not there are called that, with nothing added", async () => {
  const array = file("array.json", '[{"email":"array@example.net"}]');
  expect(await importFile(array)).toMatchObject({
    code: 2,
    err: expect.stringContaining("write JSON lines"),
  });
  expect(await importFile("")).toEqual({
    code: 2,
    out: "",
    err: 'error: "" cannot be read: there is no such file\n',
  });
});

test("a problem that repeats the file's own text never drives the terminal", async () => {
  const reason = "\u001b]0;owned\u0007\u009b2J";
  const { out, code } = await importFile(file("evil.csv", `email,reason\nevil@example.net,${reason}\n`));
  expect(out).toBe("line 2: no such reason: �]0;owned��2J\n0 added, 0 there already, 1 refused\n");
  expect(code).toBe(1);
  const asJson = await importFile(
    file("evil.jsonl", JSON.stringify({ email: "e@example.net", reason: "a\n\u009b" })),
  );
  expect(asJson.out).toStartWith("line 1: no such reason: a⏎�\n");
});

test("an export that is refused prints nothing but the reason, and releasing who is not listed is no usage error", async () => {
  const { code, out, err } = await commands.run(["suppressions", "export", "--account", "nobody"]);
  expect([code, out, err]).toEqual([1, "", "error: validation failed\n  --account: no such account\n"]);
  const release = ["suppressions", "release", "--account", account, "--email", "nobody@example.net"];
  expect(await commands.run(release)).toMatchObject({
    code: 1,
    err: 'error: "nobody@example.net" is not on the list\n',
  });
});

test("a source longer than a suppression may have is refused with its entry, and an empty one is none", async () => {
  const entries = [
    { email: "long@example.net", source: "s".repeat(256) },
    { email: "full@example.net", source: "s".repeat(255) },
    { email: "empty@example.net", source: "" },
  ];
  const report = await admin(postrider, "/suppressions/import", { account_id: account, entries });
  expect(report).toEqual({
    added: 2,
    kept: 0,
    refused: [{ index: 0, reason: "source is longer than 255 characters" }],
  });
  const { data } = await admin<{ data: { source: string }[] }>(
    postrider,
    `/suppressions?account_id=${account}&email=empty@example.net`,
  );
  expect(data).toEqual([expect.objectContaining({ source: "import" })]);
});

test("an address that is too long is refused by itself; a JSON lines file may begin with a byte order mark", async () => {
  const account = (await liveAccount(postrider)).accountId;
  const lines = [
    { email: "a@example.net", source: null },
    { email: `${"x".repeat(400)}@example.net` },
    { email: "c@example.net", reason: "z".repeat(400) },
    { email: "d@example.net" },
  ];
  const list = file("long.jsonl", `\ufeff${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  const { out } = await commands.run(["suppressions", "import", "--account", account, "--file", list]);
  expect(out.split("\n")).toEqual([
    "line 2: not an email address",
    expect.stringMatching(/^line 3: no such reason: z+$/),
    "2 added, 0 there already, 2 refused",
    "",
  ]);
  const { data } = await admin<{ data: { source: string }[] }>(
    postrider,
    `/suppressions?account_id=${account}`,
  );
  expect(data.map(({ source }) => source)).toEqual(["import", "import"]);
});

test("a line with text that cannot be stored is named by its number, and the others are added", async () => {
  const account = (await liveAccount(postrider)).accountId;
  const nul = file("nul.csv", "email,source\nann@example.net,a\nb\0@example.net,b\ncid@example.net,c\0\n");
  const take = (path: string) =>
    commands.run(["suppressions", "import", "--account", account, "--file", path]);
  expect((await take(nul)).out.split("\n")).toEqual([
    "line 3: email must not contain NUL or unpaired surrogates",
    "line 4: source must not contain NUL or unpaired surrogates",
    "1 added, 0 there already, 2 refused",
    "",
  ]);
  const half = file(
    "half.jsonl",
    '{"email":"dan@example.net"}\n{"email":"eve@example.net","reason":"\\ud800"}\n',
  );
  expect((await take(half)).out.split("\n")).toEqual([
    "line 2: reason must not contain NUL or unpaired surrogates",
    "1 added, 0 there already, 1 refused",
    "",
  ]);
});

test.each([
  ["nothing.csv", ""],
  ["head.csv", "email,reason\n"],
  ["blank.jsonl", "\n\n"],
])(
  "a file without entries is said to be so, and its account is looked at all the same: %s",
  async (name, text) => {
    const path = file(name, text);
    expect(await importFile(path)).toEqual({
      code: 0,
      out: `nothing was imported: "${path}" holds no entries\n`,
      err: "",
    });
    expect(JSON.parse((await importFile(path, "--json")).out)).toEqual({ added: 0, kept: 0, refused: [] });
    const nobody = "01890000-0000-7000-8000-000000000000";
    expect(await commands.run(["suppressions", "import", "--account", nobody, "--file", path])).toEqual({
      code: 1,
      out: "",
      err: "error: validation failed\n  --account: no such account\n",
    });
  },
);
