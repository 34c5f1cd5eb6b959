/** The web console as an operator has it open: one service and one browser for all tests of a file. */
import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { complaintsOf, startBrowser } from "./browser.ts";
import { watchRequests } from "./described-requests.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "./postrider-process.ts";

export interface Console {
  readonly page: Page;
  readonly complaints: readonly string[];
  go(place: string): Promise<unknown>;
  heading(title: string): Promise<void>;
}

export interface BrowserConsole {
  readonly service: PostriderProcess;
  /** Opens the console in a window of its own, without a session. */
  open(place?: string): Promise<Console>;
  signIn(page: Page): Promise<void>;
  /** Opens it with the session that all of these share: one address may not sign in as often as there are tests. */
  signedIn(place?: string, options?: BrowserContextOptions): Promise<Console>;
  /** Another password was made, which has ended all sessions. */
  changePassword(to: string): void;
  /** All sessions have ended. */
  forgetSession(): void;
  /** Stops the service, and starts it again at the same address. */
  restart(whileGone: () => Promise<void>): Promise<void>;
}

type Cookies = Awaited<ReturnType<BrowserContext["storageState"]>>;

/** Starts and stops with the tests of the file that calls it. */
export function browserConsole(): BrowserConsole {
  const folder = makeDataFolder();
  let service: PostriderProcess;
  let browser: Browser;
  let password: string;
  let session: Cookies | undefined;
  const contexts: BrowserContext[] = [];
  const requests = watchRequests();

  beforeAll(async () => {
    [service, browser] = await Promise.all([startPostrider({ dataFolder: folder.path }), startBrowser()]);
    password = service.sandbox.console_password;
  });

  const stop = async () => {
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
  };

  afterAll(async () => {
    await browser.close();
    expect(await requests.undescribed(service.url)).toEqual([]);
    await stop();
    folder.remove();
  });

  // A page that is left open looks for news, and takes time from the next.
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });

  const open = async (place = "", options: BrowserContextOptions = {}): Promise<Console> => {
    const context = await browser.newContext(options);
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const complaints = complaintsOf(page);
    requests.watch(page);
    const go = (to: string) => page.goto(`${service.sandbox.console_url}#/${to}`);
    await go(place);
    return {
      page,
      complaints,
      go,
      heading: (name) => page.getByRole("heading", { name, exact: true, level: 1 }).waitFor(),
    };
  };

  const signIn = async (page: Page) => {
    await page.getByLabel("Console password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
  };

  return {
    get service() {
      return service;
    },
    open: (place) => open(place),
    signIn,
    async signedIn(place = "", options = {}) {
      const opened = await open(place, { ...options, ...(session && { storageState: session }) });
      if (session) return opened;
      await signIn(opened.page);
      await opened.page.getByRole("button", { name: "Sign out" }).waitFor();
      session = await opened.page.context().storageState();
      return opened;
    },
    changePassword(to) {
      password = to;
      session = undefined;
    },
    forgetSession() {
      session = undefined;
    },
    async restart(whileGone) {
      await stop();
      await whileGone();
      const env = { PORT: new URL(service.url).port };
      service = await startPostrider({ dataFolder: folder.path, env });
    },
  };
}
