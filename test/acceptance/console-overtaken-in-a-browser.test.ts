/** Two who change the same record in the web console, or one who changes what another has deleted. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { admin } from "../admin.ts";
import { browserConsole } from "../browser-console.ts";

const opened = browserConsole();
const { signedIn } = opened;

interface Made {
  readonly id: string;
  readonly name?: string;
  readonly value?: unknown;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly connector_ids?: readonly string[];
}

const make = (path: string, body: object) => admin<Made>(opened.service, path, body);
const change = (path: string, body: object) => admin<Made>(opened.service, path, body, "PATCH");
const save = (page: Page) => page.getByRole("button", { name: "Save" }).click();
const mx = (name: string) => make("/connectors", { kind: "mx", name });

test("whoever saves a field that another has saved since is told beside it, and replaces it by saving again", async () => {
  const [first, theirs, mine] = [await mx("first"), await mx("theirs"), await mx("mine")];
  const route = await make("/routes", { channel: "email", connector_ids: [first.id] });
  const path = `/routes/${route.id}`;
  const { page, complaints, heading } = await signedIn(`routes/${route.id}/edit`);
  await heading("Edit email all");
  await page.getByLabel("Connector 2", { exact: true }).selectOption(mine.id);
  await change(path, { connector_ids: [first.id, theirs.id], failover: "always" });
  await save(page);
  const told = "somebody else has changed it to “first, theirs” meanwhile: save again to replace that";
  await page.locator("#problem-connectors", { hasText: told }).waitFor();
  await page.getByRole("alert").getByText("Somebody else has saved this meanwhile").waitFor();
  expect((await admin<Made>(opened.service, path)).connector_ids).toEqual([first.id, theirs.id]);
  await save(page);
  await page.getByText("email all: saved").waitFor();
  // What was not changed in the form stays as the other has saved it.
  expect(await admin(opened.service, path)).toMatchObject({
    connector_ids: [first.id, mine.id],
    failover: "always",
  });
  expect(complaints).toEqual([]);
});

test("whoever saves a connector or a setting that another has saved since is told too, and nothing is said of what two have saved in different fields", async () => {
  const { id } = await mx("direct");
  const { page, complaints, heading, go } = await signedIn(`connectors/${id}/edit`);
  await heading("Edit direct");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("straight");
  await change(`/connectors/${id}`, { config: { ehlo_name: "mail.example.net" } });
  await save(page);
  await page.getByText("straight: saved").waitFor();
  await go(`connectors/${id}/edit`);
  await heading("Edit straight");
  await page.getByText("More settings").click();
  await page.getByLabel("EHLO name").fill("mine.example.net");
  await change(`/connectors/${id}`, { name: "renamed", config: { ehlo_name: "theirs.example.net" } });
  await save(page);
  await page.locator("#problem-ehlo_name", { hasText: "changed it to “theirs.example.net”" }).waitFor();
  await save(page);
  await page.getByText("renamed: saved").waitFor();
  expect((await admin<Made>(opened.service, `/connectors/${id}`)).config).toMatchObject({
    ehlo_name: "mine.example.net",
  });
  await go("settings/stop_words");
  await heading("stop_words");
  await page.getByLabel("Value").fill("STOP,HALT");
  await admin(opened.service, "/settings/stop_words", { value: "STOP,ARRET" }, "PUT");
  await page.getByRole("button", { name: "Set" }).click();
  await page.locator("#problem-value", { hasText: "changed it to “STOP,ARRET”" }).waitFor();
  await page.getByRole("button", { name: "Set" }).click();
  await page.getByText("stop_words: set").waitFor();
  expect((await admin<Made>(opened.service, "/settings/stop_words")).value).toBe("STOP,HALT");
  expect(complaints).toEqual([]);
});

test("of an account's own setting, nothing is said where only the instance's has been changed, and what is where it was reset", async () => {
  const { id } = await make("/accounts", { name: "Acme", mode: "live" });
  const ofAccount = `/settings/stop_words?account_id=${id}`;
  const put = (path: string, value: string | null) => admin(opened.service, path, { value }, "PUT");
  const { page, complaints, heading } = await signedIn(`settings/stop_words?account_id=${id}`);
  await heading("stop_words");
  await page.getByLabel("Value").fill("STOP,HALT");
  await put("/settings/stop_words", "STOP,ARRET");
  await page.getByRole("button", { name: "Set", exact: true }).click();
  await heading("Settings");
  await page.getByRole("link", { name: "stop_words" }).click();
  await heading("stop_words");
  await page.getByLabel("Value").fill("STOP");
  await put(ofAccount, null);
  await page.getByRole("button", { name: "Set", exact: true }).click();
  await page.locator("#problem-value", { hasText: "somebody else has emptied it" }).waitFor();
  await page.getByRole("button", { name: "Set", exact: true }).click();
  await heading("Settings");
  expect((await admin<Made>(opened.service, ofAccount)).value).toBe("STOP");
  expect(complaints).toEqual([]);
});

test("whoever changes or deletes what another has deleted is told that it is gone", async () => {
  const { id } = await make("/accounts", { name: "Short-lived", mode: "live" });
  const { page, complaints, heading, go } = await signedIn(`accounts/${id}/edit`);
  await heading("Edit Short-lived");
  await page.getByLabel("Name").fill("Longer-lived");
  await admin(opened.service, `/accounts/${id}`, undefined, "DELETE");
  await save(page);
  await page.getByRole("alert").getByText("It does not exist, or no longer.").waitFor();
  const other = await make("/accounts", { name: "Short-lived too", mode: "live" });
  await go(`accounts/${other.id}`);
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await heading("Short-lived too");
  await admin(opened.service, `/accounts/${other.id}`, undefined, "DELETE");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("Delete: It does not exist, or no longer.").waitFor();
  expect(complaints).toEqual([]);
});
