import { expect, test } from "bun:test";
import { CONSOLE_PASSWORD, onEveryAdmin, type RunningAdmin } from "./running-admin.ts";

const HOUR = 3_600_000;

/** A browser: it keeps the cookie, and says that the console asks. */
function browserAt({ url }: RunningAdmin) {
  let cookie: string | undefined;
  return {
    cookie: () => cookie,
    keep(value: string) {
      cookie = value;
    },
    async request(method: string, path: string, body?: object, headers: Record<string, string> = CONSOLE) {
      const response = await fetch(`${url}/admin/v1/${path}`, {
        method,
        headers: {
          ...headers,
          ...(cookie && { Cookie: `other=1; ${cookie}` }),
          ...(body && { "Content-Type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const set = response.headers.get("set-cookie");
      if (set) cookie = set.split(";")[0];
      const text = await response.text();
      return {
        status: response.status,
        set,
        headers: response.headers,
        json: text ? JSON.parse(text) : undefined,
      };
    },
  };
}

const CONSOLE = { "X-Postrider-Console": "1" };

const COOKIE = "postrider_console_[0-9a-f]{8}";
const DELETED = new RegExp(`^${COOKIE}=; Path=/admin/v1/; Max-Age=0; HttpOnly; SameSite=Strict$`);

onEveryAdmin((start) => {
  test("whoever knows the console's password gets a session of 12 hours, which the admin API takes", async () => {
    await using admin = await start();
    const browser = browserAt(admin);
    const opened = await browser.request("POST", "session", { password: CONSOLE_PASSWORD });
    expect(opened).toMatchObject({ status: 200 });
    expect(opened.json).toEqual({ expires_at: new Date(admin.clock.now() + 12 * HOUR).toISOString() });
    const rest = "; Path=/admin/v1/; Max-Age=43200; HttpOnly; SameSite=Strict";
    expect(opened.set).toMatch(new RegExp(`^${COOKIE}=\\d+\\.[\\w-]{43}${rest}$`));
    expect(await browser.request("GET", "session")).toMatchObject({ status: 200, json: opened.json });
    expect(await browser.request("GET", "accounts")).toMatchObject({ status: 200 });
    const account = { name: "made in the console", mode: "sandbox" };
    expect(await browser.request("POST", "accounts", account)).toMatchObject({ status: 201, json: account });
  });

  test("a session ends after 12 hours, and signing out deletes its cookie", async () => {
    await using admin = await start();
    const browser = browserAt(admin);
    await browser.request("POST", "session", { password: CONSOLE_PASSWORD });
    const { set, status } = await browser.request("DELETE", "session");
    expect({ set, status }).toEqual({
      status: 204,
      set: expect.stringMatching(DELETED),
    });
    expect(await browser.request("GET", "session")).toMatchObject({ status: 401 });
    await browser.request("POST", "session", { password: CONSOLE_PASSWORD });
    await admin.clock.advance(12 * HOUR - 1);
    expect(await browser.request("GET", "accounts")).toMatchObject({ status: 200 });
    await admin.clock.advance(1);
    expect(await browser.request("GET", "accounts")).toMatchObject({ status: 401 });
  });

  test("who signs in to two services of one host stays signed in to both, though a browser sends both all cookies", async () => {
    await using production = await start();
    await using staging = await start();
    const jar = new Map<string, string>();
    for (const admin of [production, staging]) {
      const browser = browserAt(admin);
      await browser.request("POST", "session", { password: CONSOLE_PASSWORD });
      const [name = "", value = ""] = browser.cookie()?.split("=") ?? [];
      jar.set(name, value);
    }
    const cookies = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    for (const admin of [production, staging]) {
      const browser = browserAt(admin);
      browser.keep(cookies);
      expect(await browser.request("GET", "accounts")).toMatchObject({ status: 200 });
    }
  });

  test("a session that was opened over HTTPS never leaves it", async () => {
    await using admin = await start();
    const https = { ...CONSOLE, Origin: "https://console.example.com" };
    for (const [method, body] of [["POST", { password: CONSOLE_PASSWORD }], ["DELETE"]] as const) {
      const { set } = await browserAt(admin).request(method, "session", body, https);
      expect(set).toEndWith("; HttpOnly; SameSite=Strict; Secure");
    }
  });

  test("a wrong password, and one of another type, open nothing", async () => {
    await using admin = await start();
    const browser = browserAt(admin);
    expect(await browser.request("POST", "session", { password: `${CONSOLE_PASSWORD} ` })).toMatchObject({
      status: 401,
      set: null,
      json: { code: 401, message: "invalid console password" },
    });
    const missing = {
      status: 400,
      json: { message: "validation failed", details: { password: "required" } },
    };
    expect(await browser.request("POST", "session", {})).toMatchObject(missing);
    expect(await browser.request("POST", "session", { password: 12 })).toMatchObject({
      status: 400,
      set: null,
    });
    // Whoever may be anybody has no need of a large body.
    const large = { password: "a".repeat(5_000) };
    expect(await browser.request("POST", "session", large)).toMatchObject({ status: 413 });
  });

  test("without the header that only the console adds, a session counts for nothing: no page can use it", async () => {
    await using admin = await start();
    const browser = browserAt(admin);
    await browser.request("POST", "session", { password: CONSOLE_PASSWORD });
    expect(await browser.request("GET", "accounts", undefined, {})).toMatchObject({
      status: 401,
      json: { message: "invalid or missing admin token" },
    });
    expect(await browser.request("POST", "accounts", { name: "a", mode: "live" }, {})).toMatchObject({
      status: 401,
    });
  });

  test("a cookie that is made up, changed, or beside a wrong token is refused", async () => {
    await using admin = await start();
    const browser = browserAt(admin);
    await browser.request("POST", "session", { password: CONSOLE_PASSWORD });
    const good = browser.cookie() ?? "";
    const wrongToken = { ...CONSOLE, Authorization: "Bearer pr_admin_wrong" };
    expect(await browser.request("GET", "accounts", undefined, wrongToken)).toMatchObject({ status: 401 });
    const [, expiresAt = ""] = /=(\d+)\./.exec(good) ?? [];
    const later = good.replace(expiresAt, String(Number(expiresAt) + 1));
    const [name = ""] = good.split("=");
    for (const bad of [later, good.slice(0, -1), `${good}A`, `${name}=`, `${name}=9e99.x`]) {
      browser.keep(bad);
      expect(await browser.request("GET", "accounts")).toMatchObject({ status: 401 });
    }
    browser.keep(good);
    expect(await browser.request("GET", "accounts")).toMatchObject({ status: 200 });
  });

  test("a new password is shown once, ends all sessions within a second, and opens new ones", async () => {
    await using admin = await start();
    const browser = browserAt(admin);
    await browser.request("POST", "session", { password: CONSOLE_PASSWORD });
    expect(await browser.request("GET", "accounts")).toMatchObject({ status: 200 });
    const { json } = await admin.call("POST", "console-password");
    expect(json).toEqual({ console_password: expect.stringMatching(/^[0-9A-Za-z]{24}$/) });
    const another = browserAt(admin);
    await another.request("POST", "session", { password: json.console_password });
    expect(await another.request("GET", "accounts")).toMatchObject({ status: 200 });
    await admin.clock.advance(1_000);
    expect(await browser.request("GET", "accounts")).toMatchObject({ status: 401 });
    const tryOld = await browser.request("POST", "session", { password: CONSOLE_PASSWORD });
    expect(tryOld).toMatchObject({ status: 401 });
    expect(await browser.request("POST", "session", { password: json.console_password })).toMatchObject({
      status: 200,
    });
    expect(await browser.request("GET", "accounts")).toMatchObject({ status: 200 });
  });

  test("all sessions end within a second of being ended, wherever they were opened, and the password stays", async () => {
    await using admin = await start();
    const [one, other] = [browserAt(admin), browserAt(admin)];
    for (const browser of [one, other])
      await browser.request("POST", "session", { password: CONSOLE_PASSWORD });
    const copied = one.cookie() ?? "";
    expect(await one.request("DELETE", "sessions", undefined, {})).toMatchObject({ status: 401 });
    expect(await one.request("DELETE", "sessions")).toMatchObject({
      status: 204,
      set: expect.stringMatching(DELETED),
    });
    await one.request("POST", "session", { password: CONSOLE_PASSWORD });
    expect(await one.request("GET", "accounts")).toMatchObject({ status: 200 });
    await admin.clock.advance(1_000);
    expect(await other.request("GET", "accounts")).toMatchObject({ status: 401 });
    expect(await one.request("GET", "accounts")).toMatchObject({ status: 200 });
    other.keep(copied);
    expect(await other.request("GET", "accounts")).toMatchObject({ status: 401 });
    expect(await admin.call("DELETE", "sessions")).toMatchObject({ status: 204 });
    await admin.clock.advance(1_000);
    expect(await one.request("GET", "accounts")).toMatchObject({ status: 401 });
  });

  test("whoever tries passwords is told to wait after ten, and others are not", async () => {
    await using admin = await start();
    const browser = browserAt(admin);
    for (let tries = 0; tries < 10; tries++) {
      expect(await browser.request("POST", "session", { password: "a" })).toMatchObject({ status: 401 });
    }
    const refused = await browser.request("POST", "session", { password: CONSOLE_PASSWORD });
    expect(refused).toMatchObject({ status: 429 });
    expect(refused.headers.get("retry-after")).toBe("5");
    const elsewhere = { ...CONSOLE, "X-Forwarded-For": "203.0.113.9" };
    const other = await browserAt(admin).request(
      "POST",
      "session",
      { password: CONSOLE_PASSWORD },
      elsewhere,
    );
    expect(other).toMatchObject({ status: 200 });
    await admin.clock.advance(5_000);
    expect(await browser.request("POST", "session", { password: CONSOLE_PASSWORD })).toMatchObject({
      status: 200,
    });
  });
});
