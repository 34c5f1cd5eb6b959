/** The web console where there are more accounts and connectors than it offers: they are found by their name, and called by it. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { admin } from "../admin.ts";
import { holdNext } from "../browser.ts";
import { browserConsole } from "../browser-console.ts";

const opened = browserConsole();
const { signedIn } = opened;

const make = (path: string, body: object) => admin<{ id: string }>(opened.service, path, body);

/** As if there were so many others before those that there are. */
async function crowd(page: Page, path: "accounts" | "connectors", mode = "live"): Promise<void> {
  const rows = Array.from({ length: 1_000 }, (_, index) => ({ id: `${index}`, name: `${index}`, mode }));
  const query = mode === "live" ? "" : `mode=${mode}&`;
  await page.route(`**/admin/v1/${path}?${query}limit=500`, (asked) =>
    asked.fulfill({ json: { data: rows } }),
  );
}

const removed = (path: string) => admin(opened.service, path, undefined, "DELETE");

test("an account beyond those that are offered is called by its name, on each page that leads to what it has", async () => {
  const { account_id } = opened.service.sandbox;
  const { page, complaints, heading, go } = await signedIn("settings");
  await heading("Settings");
  await crowd(page, "accounts");
  const chosen = () => page.locator("#filter-account_id option:checked").innerText();
  await go(`messages?account_id=${account_id}`);
  await heading("Messages");
  expect(await chosen()).toBe("Sandbox (sandbox)");
  for (const title of ["Suppressions", "Settings"]) {
    await go(`accounts/${account_id}`);
    await page.locator("main").getByRole("link", { name: title, exact: true }).click();
    await heading(title);
    expect([title, await chosen()]).toEqual([title, "Sandbox (sandbox)"]);
  }
  // It is remembered, and a sandbox account among the others.
  await go("inbound");
  await heading("Inbound SMS");
  expect(await chosen()).toBe("Sandbox (sandbox)");
  await page.locator("main").getByRole("link", { name: "Simulate one" }).first().click();
  await heading("Simulate an inbound SMS");
  expect(await page.locator("#field-account_id option:checked").innerText()).toBe("Sandbox");
  expect(complaints).toEqual([]);
});

test("accounts and connectors beyond those that are offered are called by their names in lists and on pages, or by their ids if they are gone", async () => {
  const { account_id } = opened.service.sandbox;
  const gone = await make("/accounts", { name: "Gone", mode: "live" });
  const spare = await make("/connectors", {
    kind: "smpp",
    name: "spare",
    config: { host: "smsc.test", system_id: "a" },
  });
  const number = { account_id, number: "+14155550123", connector_id: spare.id };
  const made = [
    `/inbound-numbers/${(await make("/inbound-numbers", number)).id}`,
    `/routes/${(await make("/routes", { channel: "sms", connector_ids: [spare.id] })).id}`,
  ];
  const erasures = [account_id, gone.id].map((of) =>
    make("/erasures", { recipient: "asha@x.test", account_id: of }),
  );
  const [erasure] = await Promise.all(erasures);
  await removed(`/accounts/${gone.id}`);
  const { page, complaints, heading, go } = await signedIn("settings");
  await heading("Settings");
  await crowd(page, "accounts");
  await crowd(page, "connectors");
  const linked = async (place: string, ...names: readonly string[]) => {
    await go(place);
    for (const name of names)
      await page.locator("main").getByRole("link", { name, exact: true }).first().waitFor();
  };
  await linked("inbound-numbers", "Sandbox", "spare");
  await linked(made[0]?.slice(1) ?? "", "Sandbox", "spare");
  await linked("erasures", "Sandbox", gone.id);
  await linked(`erasures/${erasure?.id}`, "Sandbox");
  await linked(`accounts/${account_id}`, "Sandbox");
  await go("routes");
  await page.getByRole("cell", { name: "spare" }).waitFor();
  await go(`receipts?connector_id=${spare.id}`);
  await heading("Parked receipts");
  expect(await page.locator("#filter-connector_id option:checked").innerText()).toBe("spare");
  for (const path of [...made, `/connectors/${spare.id}`]) await removed(path);
  expect(complaints).toEqual([]);
});

/** Chooses an account that is beyond those that are offered at first. */
async function chooseFound(page: Page): Promise<void> {
  await page.getByLabel("Find another account").fill("sand");
  await page.locator("#field-account_id").selectOption("Sandbox (sandbox)");
}

test("an account that was found is called by its name in the question before an erasure, and before an import", async () => {
  const { page, complaints, heading, go } = await signedIn("settings");
  await heading("Settings");
  await crowd(page, "accounts");
  await go("erasures/new");
  await heading("New erasure");
  await chooseFound(page);
  await page.getByLabel("Recipient").fill("asha@x.test");
  await page.getByRole("button", { name: "Erase" }).click();
  const question = page.getByRole("dialog");
  await question.getByText("asha@x.test in the account “Sandbox”? This cannot be undone.").waitFor();

  const { page: other, heading: isAt, go: to } = await signedIn("settings");
  await isAt("Settings");
  await crowd(other, "accounts");
  await to("suppressions/import");
  await isAt("Import suppressions");
  await chooseFound(other);
  const buffer = Buffer.from("asha@x.test\n");
  await other.getByLabel("File").setInputFiles({ name: "list.txt", mimeType: "text/plain", buffer });
  await other.getByRole("button", { name: "Check the file" }).click();
  await other.locator("dl.facts").getByText("Sandbox", { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

test("a sandbox account is found however many live ones there are before it", async () => {
  const { page, complaints, heading, go } = await signedIn("settings");
  await heading("Settings");
  await crowd(page, "accounts");
  await go("sandbox");
  await heading("Sandbox");
  expect(await page.locator("#filter-account_id option:checked").innerText()).toBe("Sandbox (sandbox)");
  await go("inbound/new");
  await heading("Simulate an inbound SMS");
  expect(await page.locator("#field-account_id option:checked").innerText()).toBe("Sandbox");
  expect(complaints).toEqual([]);
});

test("an account beyond those that are offered is found by a part of its name, above a list and in a form", async () => {
  const zimmer = await make("/accounts", { name: "Zimmer & Söhne", mode: "live" });
  const { page, complaints, heading, go } = await signedIn("settings");
  await heading("Settings");
  await crowd(page, "accounts");
  await go("senders");
  await heading("Senders");
  const find = page.getByLabel("Find another account");
  await find.fill("called like nobody");
  await page.getByText("none found").waitFor();
  // What is typed while an answer is awaited is looked for after it, and sends no form.
  const letGo = await holdNext(page, /\/admin\/v1\/accounts\?search=s&/);
  await find.fill("s");
  await find.pressSequentially("ÖHNE");
  letGo();
  await page.getByText("1 found").waitFor();
  await find.press("Enter");
  expect(await find.inputValue()).toBe("sÖHNE");
  await page.locator("#filter-account_id").selectOption("Zimmer & Söhne (live)");
  await page.waitForURL(new RegExp(`account_id=${zimmer.id}`));
  await page.getByText("There is no sender like this.").waitFor();
  // It is still there, and so is what it finds.
  await page.getByText("1 found").waitFor();
  expect(await find.inputValue()).toBe("sÖHNE");
  await find.fill("");
  await page.getByRole("option", { name: "999 (live)" }).waitFor({ state: "attached" });
  expect(await page.locator("#filter-account_id").inputValue()).toBe(zimmer.id);

  await go("senders/new");
  await heading("New sender");
  await find.fill("söhne");
  await page.locator("#field-account_id").selectOption("Zimmer & Söhne (live)");
  await page.getByLabel("Sender id").fill("ZIMMER");
  await page.getByRole("button", { name: "Create sender" }).click();
  await heading("ZIMMER");
  const { data } = await admin<{ data: { id: string }[] }>(
    opened.service,
    `/senders?account_id=${zimmer.id}`,
  );
  expect(data).toMatchObject([{ sender_id: "ZIMMER" }]);
  for (const { id } of data) await removed(`/senders/${id}`);
  await removed(`/accounts/${zimmer.id}`);
  expect(complaints).toEqual([]);
});

test("where the first that are found are not all, one is told to type more, and nothing moves", async () => {
  const { page, complaints, heading, go } = await signedIn("settings");
  await heading("Settings");
  await crowd(page, "accounts");
  const name = "a longer name than others";
  const rows = Array.from({ length: 100 }, (_, index) => ({ id: `a${index}`, name, mode: "live" }));
  await page.route("**/admin/v1/accounts?search=a&*", (asked) =>
    asked.fulfill({ json: { data: rows, next: "a99" } }),
  );
  const find = page.getByLabel("Find another account");
  await go("senders");
  await heading("Senders");
  const fields = [find, page.getByLabel("Search", { exact: true })];
  const places = () => Promise.all(fields.map((field) => field.boundingBox()));
  const before = await places();
  await find.fill("a");
  await page.getByText("100 so far: type more").waitFor();
  expect(await places()).toEqual(before);
  // As narrow as a page is whose letters are four times as large (WCAG 2.2, 1.4.10).
  await page.setViewportSize({ width: 320, height: 800 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
  const narrow = await places();
  await find.fill("");
  await page.getByText("100 so far: type more").waitFor({ state: "detached" });
  expect(await places()).toEqual(narrow);

  // What is no account is still to be chosen.
  await go("inbound");
  await heading("Inbound SMS");
  await find.fill("a");
  await page.getByText("100 so far: type more").waitFor();
  await page.locator("#filter-account_id").selectOption("numbers of no account");
  await page.waitForURL(/account_id=none/);
  await page.getByText("for numbers of no account").waitFor();

  await go(`inbound/new?account_id=${opened.service.sandbox.account_id}`);
  await heading("Simulate an inbound SMS");
  await find.waitFor({ state: "detached" });
  await crowd(page, "accounts", "sandbox");
  await page.reload();
  await find.fill("sand");
  await page.getByText("1 found").waitFor();
  expect(complaints).toEqual([]);
});

test("connectors beyond those that are offered are named and found in the form of a route", async () => {
  const spare = await make("/connectors", { kind: "mx", name: "spare" });
  const other = await make("/connectors", { kind: "mx", name: "other way" });
  const route = await make("/routes", { channel: "email", connector_ids: [spare.id] });
  const { page, complaints, heading, go } = await signedIn("settings");
  await heading("Settings");
  await crowd(page, "connectors");
  await go(`routes/${route.id}/edit`);
  await heading("Edit email all");
  const first = page.getByLabel("Connector 1", { exact: true });
  await first.locator("option:checked", { hasText: "spare (email)" }).waitFor({ state: "attached" });
  await page.getByLabel("Find another connector").fill("WAY");
  await page.getByText("1 found").waitFor();
  await page.getByLabel("Connector 2", { exact: true }).selectOption("other way (email)");
  await page.getByLabel("Connector 3", { exact: true }).selectOption("other way (email)");
  await page.getByLabel("Connector 3", { exact: true }).selectOption("");
  expect(await first.inputValue()).toBe(spare.id);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("email all: saved").waitFor();
  const { connectors } = await admin<{ connectors: unknown }>(opened.service, `/routes/${route.id}`);
  expect(connectors).toEqual([{ connector_id: spare.id }, { connector_id: other.id }]);
  for (const path of [`/routes/${route.id}`, `/connectors/${spare.id}`, `/connectors/${other.id}`])
    await removed(path);
  expect(complaints).toEqual([]);
});

test("the overview of a process that does not deliver gives no all-clear", async () => {
  const { page, complaints, heading } = await signedIn("settings");
  await heading("Settings");
  const answer = { json: { data: [], is_watching: false } };
  await page.route("**/admin/v1/alarms", (asked) => asked.fulfill(answer));
  await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
  await page.getByText("does not deliver, and so watches for no alarms").waitFor();
  expect(await page.getByText("No alarms.").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("the webhooks of a process that delivers none are not shown as if no host were paused", async () => {
  const { page, complaints, heading } = await signedIn("settings");
  await heading("Settings");
  const answer = { json: { data: [], is_delivering: false } };
  await page.route("**/admin/v1/webhooks/hosts", (asked) => asked.fulfill(answer));
  await page.getByRole("navigation").getByRole("link", { name: "Webhooks" }).click();
  await page.getByText("delivers no webhooks, and so pauses no host").waitFor();
  expect(await page.getByText("No host is paused.").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("where several processes may deliver, the overview says whose alarms it shows, or that there are none of", async () => {
  const { page, complaints, heading } = await signedIn("settings");
  await heading("Settings");
  const since = new Date().toISOString();
  const alarm = { name: "disk_low", subject: "/data", reason: "900 MB are free", since };
  const answers = [[alarm], []];
  await page.route("**/admin/v1/alarms", (asked) =>
    asked.fulfill({ json: { data: answers.shift() ?? [], is_watching: true, process: "sms-1:4711" } }),
  );
  await page.clock.install();
  await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
  await page.getByText("Of sms-1:4711. This is the process that answers").waitFor();
  await page.getByText("900 MB are free").waitFor();
  await page.clock.fastForward(5_000);
  await page.getByText("No alarms in sms-1:4711. This is the process that answers").waitFor();
  expect(complaints).toEqual([]);
});
