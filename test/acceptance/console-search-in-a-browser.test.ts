/** Records in the web console that are found by their name: in lists, and where one of many is to be chosen. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { admin } from "../admin.ts";
import { holdNext } from "../browser.ts";
import { browserConsole } from "../browser-console.ts";

const opened = browserConsole();
const { signedIn } = opened;

const make = (path: string, body: object) => admin<{ id: string }>(opened.service, path, body);

/** As if there were so many others before those that there are. */
async function crowd(page: Page, path: "accounts" | "connectors"): Promise<void> {
  const rows = Array.from({ length: 1_000 }, (_, index) => ({
    id: `${index}`,
    name: `${index}`,
    mode: "live",
  }));
  await page.route(`**/admin/v1/${path}?limit=500`, (asked) => asked.fulfill({ json: { data: rows } }));
}

/** What a screen reader was told last. */
const isSaid = (page: Page, said: string) =>
  page.locator("#said").getByText(said, { exact: true }).waitFor({ state: "attached" });

const removed = (path: string) => admin(opened.service, path, undefined, "DELETE");

test("a list of records is searched, and the search stays in the address and with the account that is chosen", async () => {
  const { account_id } = opened.service.sandbox;
  const body = { account_id, body: "Code" };
  for (const name of ["Order shipped", "Order paid", "Welcome"])
    await make("/sms-templates", { ...body, name });
  const { page, complaints, heading } = await signedIn("sms-templates");
  await heading("SMS templates");
  const shown = () => page.locator("tbody tr td:first-child").allTextContents();
  expect(await shown()).toContain("Welcome");
  const search = page.getByLabel("Search", { exact: true });
  expect(await search.getAttribute("placeholder")).toBe("part of its name or DLT template id");
  await search.fill(" oRDER ");
  await search.press("Enter");
  await page.getByRole("row", { name: "Welcome" }).waitFor({ state: "detached" });
  expect(await shown()).toEqual(["Order shipped", "Order paid"]);
  await page.locator("#filter-account_id").selectOption("Sandbox (sandbox)");
  await page.waitForURL(/account_id=/);
  await page.reload();
  await heading("SMS templates");
  expect(await search.inputValue()).toBe("oRDER");
  expect(await shown()).toEqual(["Order shipped", "Order paid"]);
  await search.fill("called like nobody");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("There is no SMS template like this.").waitFor();
  await page.goBack();
  await page.getByRole("row", { name: "Order paid" }).waitFor();
  expect(await search.inputValue()).toBe("oRDER");
  await search.fill("x".repeat(256));
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByRole("alert").getByText("search must be at most 255 characters").waitFor();
  expect(complaints).toEqual([]);
});

test("what is typed into a search while the list is read stays there", async () => {
  const { page, complaints, heading } = await signedIn("accounts");
  await heading("Accounts");
  const letGo = await holdNext(page, /\/admin\/v1\/accounts\?.*search=sand/);
  const search = page.getByLabel("Search", { exact: true });
  await search.fill("sand");
  await search.press("Enter");
  await page.locator("main[aria-busy]").waitFor();
  await search.pressSequentially("b");
  letGo();
  await page.locator("main[aria-busy]").waitFor({ state: "detached" });
  await page.keyboard.type("ox");
  expect(await search.inputValue()).toBe("sandbox");
  expect(complaints).toEqual([]);
});

test("a screen reader is told how many rows a list has once it is narrowed, or goes on, and not where it begins", async () => {
  const { account_id } = opened.service.sandbox;
  const body = { account_id, body: "Code", name: "Counted" };
  const made = await Promise.all(Array.from({ length: 52 }, () => make("/sms-templates", body)));
  const { page, complaints, heading, go } = await signedIn("sms-templates");
  await heading("SMS templates");
  const status = page.locator("#said");
  expect([await status.getAttribute("role"), await status.innerText()]).toEqual(["status", ""]);
  const search = page.getByLabel("Search", { exact: true });
  const lookFor = async (text: string) => {
    await search.fill(text);
    await search.press("Enter");
  };
  await lookFor("counted");
  await isSaid(page, "50 shown, and there is another page");
  await page.getByRole("link", { name: "Next page" }).click();
  await isSaid(page, "2 shown");
  await lookFor("called like nobody");
  await isSaid(page, "None shown");
  await lookFor("x".repeat(256));
  await page.getByRole("alert").waitFor();
  expect(await status.innerText()).toBe("");
  await go("messages?status=failed");
  await heading("Messages");
  expect(await status.innerText()).toBe("");
  await page.getByLabel("Status").selectOption("sent");
  await isSaid(page, "None shown");
  for (const { id } of made) await removed(`/sms-templates/${id}`);
  expect(complaints).toEqual([]);
});

test("connectors are searched too, and go on to be looked at again", async () => {
  const made = [
    await make("/connectors", { kind: "mx", name: "Primary" }),
    await make("/connectors", { kind: "mx", name: "spare" }),
  ];
  const { page, complaints, heading } = await signedIn("connectors");
  await heading("Connectors");
  await page.getByRole("link", { name: "spare" }).waitFor();
  await page.clock.install();
  await page.getByLabel("Search", { exact: true }).fill("prim");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByRole("link", { name: "spare" }).waitFor({ state: "detached" });
  const again = page.waitForRequest(/\/admin\/v1\/connectors\?search=prim/);
  await page.clock.fastForward(5_000);
  await again;
  expect(await page.locator("tbody tr").count()).toBe(1);
  await page.getByLabel("Search", { exact: true }).fill("called like nobody");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("There is no connector like this.").waitFor();
  for (const { id } of made) await removed(`/connectors/${id}`);
  expect(complaints).toEqual([]);
});

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

test("where the first that are found are not all, or not meant, one is told to type more, and nothing moves", async () => {
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
  await find.fill("a");
  await page.getByText("none so far: type more").waitFor();
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
