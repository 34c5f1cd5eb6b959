/** Records and settings in the web console: a real browser, a real service. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { admin } from "../admin.ts";
import { browserConsole } from "../browser-console.ts";

const opened = browserConsole();
const { signedIn } = opened;

const press = (page: Page, name: string) =>
  page.locator("main").getByRole("button", { name, exact: true }).click();

const answer = (page: Page, name: string) =>
  page.getByRole("dialog").getByRole("button", { name, exact: true }).click();

const focused = (page: Page) => page.evaluate<string>("document.activeElement.textContent");

const make = (path: string, body: object) => admin<{ id: string }>(opened.service, path, body);

/** What the clipboard holds once the button says that it was copied. */
async function copied(page: Page, button: ReturnType<Page["locator"]>): Promise<string> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await button.getByRole("button", { name: "Copy" }).click();
  await button.getByRole("button", { name: "Copied" }).waitFor();
  return page.evaluate<string>("navigator.clipboard.readText()");
}

test("a setting is set and reset for one account, and counts for no other", async () => {
  const { account_id } = opened.service.sandbox;
  const value = async (query = "") =>
    (await admin<{ value: unknown; set_by: string }>(opened.service, `/settings/keep_bodies${query}`)).value;
  const { page, complaints, heading } = await signedIn("settings");
  await heading("Settings");
  const row = page.getByRole("row", { name: "keep_bodies" });
  await page.getByRole("row", { name: "public_url" }).waitFor();
  await page.getByLabel("Of").selectOption("Sandbox (sandbox)");
  // What only the instance has is not to be changed here.
  await page.getByRole("row", { name: "public_url" }).waitFor({ state: "detached" });
  expect(await row.innerText()).toMatch(/^keep_bodies\s+default\s+false/);
  await row.getByRole("link").click();
  await heading("keep_bodies");
  await page.getByText("For the account “Sandbox”.").waitFor();
  expect(await page.getByRole("button", { name: "Reset" }).count()).toBe(0);
  await page.getByLabel("Value").selectOption("true");
  await press(page, "Set");
  await page.getByText("keep_bodies: set").waitFor();
  expect(await row.innerText()).toMatch(/^keep_bodies\s+true of the account\s+false/);
  expect([await value(), await value(`?account_id=${account_id}`)]).toEqual([false, true]);
  await row.getByRole("link").click();
  await heading("keep_bodies");
  expect(await page.getByLabel("Value").inputValue()).toBe("true");
  await press(page, "Reset");
  await answer(page, "Reset");
  await page.getByText("keep_bodies: reset").waitFor();
  expect(await value(`?account_id=${account_id}`)).toBe(false);
  await admin(opened.service, "/settings/keep_bodies", { value: true }, "PUT");
  await row.getByRole("link").click();
  await heading("keep_bodies");
  // It is the instance's, which is another page's to reset.
  expect(await page.getByRole("button", { name: "Reset" }).count()).toBe(0);
  await admin(opened.service, "/settings/keep_bodies", { value: null }, "PUT");
  expect(complaints).toEqual([]);
});

interface Domain {
  readonly id: string;
  readonly dkim_selector: string;
  readonly records: readonly { readonly name: string; readonly value: string }[];
}

test("the DNS records of a domain are shown and copied whole, and what is wrong with them is told when they are verified", async () => {
  const { account_id } = opened.service.sandbox;
  const domain = await admin<Domain>(opened.service, "/domains", { account_id, domain: "nowhere.invalid" });
  const { page, complaints, heading } = await signedIn(`domains/${domain.id}`);
  await heading("nowhere.invalid");
  const records = page.getByRole("region", { name: "DNS records to publish" }).locator("tbody tr");
  expect(await records.count()).toBe(domain.records.length);
  const hidden = await records
    .locator("code")
    .evaluateAll((codes) => codes.filter((code) => code.scrollHeight > code.clientHeight + 1).length);
  expect(hidden).toBe(0);
  const [first] = domain.records;
  expect(await copied(page, records.first().locator(".copied").first())).toBe(first?.name ?? "");
  expect(await copied(page, records.first().locator(".copied").last())).toBe(first?.value ?? "");
  await press(page, "Verify");
  await page.getByRole("alert").getByText("Not verified yet").waitFor();
  await page.getByRole("alert").getByText(`${first?.name}: `).waitFor();
  await press(page, "New DKIM keys");
  await answer(page, "New DKIM keys");
  await page.getByText("New keys are made: publish their records.").waitFor();
  const renewed = await admin<Domain>(opened.service, `/domains/${domain.id}`);
  expect(renewed.dkim_selector).not.toBe(domain.dkim_selector);
  await records.filter({ hasText: renewed.dkim_selector }).first().waitFor();
  expect(complaints).toEqual([]);
});

test("a field that is emptied is cleared", async () => {
  const { account_id } = opened.service.sandbox;
  const key = await make("/keys", { account_id, name: "Old" });
  const { page, complaints } = await signedIn(`keys/${key.id}/edit`);
  await page.getByLabel("Name").fill("");
  await press(page, "Save");
  await page.getByText(": saved").waitFor();
  expect((await admin(opened.service, `/keys/${key.id}`)).name).toBeUndefined();
  expect(complaints).toEqual([]);
});

test("what is deleted or revoked is gone, after a question that says what goes too", async () => {
  const { account_id } = opened.service.sandbox;
  const contact = await make("/contacts", { account_id, external_id: "ann" });
  const key = await make("/keys", { account_id, name: "Old" });
  const { page, complaints, heading, go } = await signedIn(`contacts/${contact.id}`);
  await heading("ann");
  await press(page, "Delete");
  await page.getByRole("dialog").getByText("Delete the contact “ann”, with its devices?").waitFor();
  await answer(page, "Cancel");
  await press(page, "Delete");
  await answer(page, "Delete");
  await heading("Contacts");
  await page.getByText("ann: deleted").waitFor();
  await go(`keys/${key.id}`);
  await press(page, "Revoke");
  await answer(page, "Revoke");
  await heading("API keys");
  await page.getByRole("row", { name: "Old" }).getByRole("link", { name: "Sandbox" }).waitFor();
  await go(`keys/${key.id}`);
  await page.locator("dt", { hasText: "Revoked at" }).waitFor();
  // Nothing is left to be revoked.
  expect(await page.getByRole("button", { name: "Revoke" }).count()).toBe(0);
  await make("/senders", { account_id, sender_id: "FIRST", is_default: true });
  await go("senders");
  await page.getByRole("row", { name: "FIRST" }).getByRole("cell", { name: "yes" }).waitFor();
  expect(complaints).toEqual([]);
});

test("a route says in words what it takes, and its form has a line for one connector more", async () => {
  const spare = await make("/connectors", { kind: "mx", name: "spare" });
  const other = await make("/connectors", { kind: "mx", name: "other" });
  const body = { channel: "email", sender: "example.com", connector_ids: [spare.id] };
  const route = await make("/routes", body);
  const { page, complaints, heading } = await signedIn("routes");
  await page.getByRole("link", { name: "email all, sender example.com" }).click();
  await heading("email all, sender example.com");
  await page.getByRole("link", { name: "Edit" }).click();
  await heading("Edit email all, sender example.com");
  // One field says which connectors, and how much of it each takes.
  expect(await page.locator("#field-connector_ids").count()).toBe(0);
  await page.getByLabel("Connector 2", { exact: true }).selectOption("other (email)");
  await page.getByLabel("Connector 3", { exact: true }).waitFor();
  await press(page, "Save");
  await page.getByText("email all, sender example.com: saved").waitFor();
  expect(await admin(opened.service, `/routes/${route.id}`)).toMatchObject({
    connectors: [{ connector_id: spare.id }, { connector_id: other.id }],
  });
  await page.getByRole("navigation").getByRole("link", { name: "Routes" }).click();
  const row = page.getByRole("row", { name: "spare, other" });
  await row.getByText("every live account").waitFor();
  for (const path of [`/routes/${route.id}`, `/connectors/${spare.id}`, `/connectors/${other.id}`])
    await admin(opened.service, path, undefined, "DELETE");
  expect(complaints).toEqual([]);
});

test("a weight that is no number is refused beside its field, and not left out", async () => {
  const made = await admin<{ id: string }>(opened.service, "/connectors", { kind: "mx", name: "weighed" });
  const { page, complaints, heading } = await signedIn("routes/new");
  await page.getByLabel("Channel").selectOption("email");
  await page.getByLabel("Connector 1", { exact: true }).selectOption("weighed (email)");
  await page.getByLabel("Weight of connector 1").fill("half");
  await page.getByRole("button", { name: "Create route" }).click();
  await page.locator("#problem-connectors", { hasText: "weight" }).waitFor();
  const first = page.getByLabel("Connector 1", { exact: true });
  expect(await first.getAttribute("aria-describedby")).toBe("problem-connectors hint-connectors");
  await page.getByLabel("Weight of connector 1").fill("50");
  await page.getByRole("button", { name: "Create route" }).click();
  await heading("email all");
  const { data } = await admin<{ data: { id: string; connectors: unknown }[] }>(opened.service, "/routes");
  expect(data.map(({ connectors }) => connectors)).toEqual([[{ connector_id: made.id, weight: 50 }]]);
  for (const { id } of data) await admin(opened.service, `/routes/${id}`, undefined, "DELETE");
  await admin(opened.service, `/connectors/${made.id}`, undefined, "DELETE");
  expect(complaints).toEqual([]);
});

test("the secrets that sign webhooks are copied unseen and followed by new ones, and a receiver is tested", async () => {
  const secrets = async () => {
    const path = `/webhooks/secret?account_id=${opened.service.sandbox.account_id}`;
    return (await admin<{ secrets: { secret: string }[] }>(opened.service, path)).secrets;
  };
  const [old] = await secrets();
  const { page, complaints, heading } = await signedIn("webhooks");
  await page.getByRole("link", { name: "Secrets and test" }).click();
  await heading("Webhook secrets");
  const rows = page.getByRole("region", { name: "Secrets" }).locator("tbody tr");
  expect(await rows.first().innerText()).not.toContain(old?.secret ?? "");
  expect(await copied(page, rows.first())).toBe(old?.secret ?? "");
  await press(page, "New secret");
  await answer(page, "New secret");
  await page.getByText("There is a new secret").waitFor();
  await rows.nth(1).waitFor();
  expect((await secrets()).map(({ secret }) => secret === old?.secret)).toEqual([false, true]);
  expect(await page.locator(".field code").innerText()).toBe("webhook.test");
  await page.getByLabel("URL").fill("https://127.0.0.1/hook");
  await press(page, "Send");
  await page.locator(".result.bad").getByText("Not delivered: 127.0.0.1 is in").waitFor();
  const tries = "**/admin/v1/webhooks/test";
  await page.route(tries, (route) => route.fulfill({ json: { ok: false, status: 401 } }));
  await press(page, "Send");
  await page.locator(".result.bad").getByText("status 401 · does the receiver have the secret").waitFor();
  await page.unroute(tries);
  await page.getByLabel("URL").fill("http://example.com/hook");
  await press(page, "Send");
  await page.locator("#problem-url", { hasText: "https" }).waitFor();
  expect(await page.locator(".result").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("an empty list says what belongs there, or that nothing is like what was asked for", async () => {
  const { page, complaints, heading } = await signedIn("opt-outs");
  await heading("Opt-outs");
  await page.getByText("There is no opt-out yet. No SMS is sent to a number that has opted out.").waitFor();
  await page.getByLabel("Recipient").fill("+919876543210");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("There is no opt-out like this.").waitFor();
  expect(await focused(page)).toBe("Show");
  // Who asks for what is shown already wants it read again.
  for (const again of [
    page.getByRole("button", { name: "Show" }),
    page.getByRole("navigation").getByRole("link", { name: "Opt-outs" }),
    page.getByRole("navigation").getByRole("link", { name: "Opt-outs" }),
  ]) {
    const reading = page.waitForRequest(/\/admin\/v1\/opt-outs/);
    await again.click();
    await reading;
  }
  expect(complaints).toEqual([]);
});

test.each([
  ["suppressions", "Suppressions", { email: "firstname.lastname@company.example" }, "manual"],
  ["opt-outs", "Opt-outs", { recipient: "+919812345678" }, "added by an operator"],
] as const)("in a narrow window the list of %s shows why, not the id", async (path, title, of, why) => {
  const { account_id } = opened.service.sandbox;
  await make(`/${path}`, { account_id, ...of });
  const { page, complaints, heading } = await signedIn(path);
  await heading(title);
  await page.setViewportSize({ width: 360, height: 800 });
  const list = await page.getByRole("region", { name: title }).boundingBox();
  const reason = await page.getByRole("cell", { name: why }).first().boundingBox();
  expect((reason?.x ?? 0) + (reason?.width ?? 400)).toBeLessThanOrEqual((list?.x ?? 0) + (list?.width ?? 0));
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(complaints).toEqual([]);
});

test("the test of an mx connector asks the hosts of the domain that is given", async () => {
  const made = await admin<{ id: string }>(opened.service, "/connectors", { kind: "mx", name: "direct" });
  const { page, complaints, heading } = await signedIn(`connectors/${made.id}`);
  await heading("direct");
  const domain = page.getByLabel("Domain whose mail hosts are tested");
  await domain.fill("no domain");
  await domain.press("Enter");
  await page.getByRole("alert").getByText("Test: Validation failed: domain").waitFor();
  await domain.fill("nowhere.invalid");
  await domain.press("Enter");
  await page.locator(".result.bad").getByText("The test failed: nowhere.invalid").waitFor();
  await admin(opened.service, `/connectors/${made.id}`, undefined, "DELETE");
  expect(complaints).toEqual([]);
});
