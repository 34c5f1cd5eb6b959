/** Lists of records in the web console that are searched. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { admin } from "../admin.ts";
import { holdNext } from "../browser.ts";
import { browserConsole } from "../browser-console.ts";

const opened = browserConsole();
const { signedIn } = opened;

const make = (path: string, body: object) => admin<{ id: string }>(opened.service, path, body);

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
