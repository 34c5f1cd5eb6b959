/**
 * Sessions of the web console. A session is a cookie that says when it ends, signed with a key of this service and for the
 * password and the round of the day: no process has to remember it, all processes know it, and a new password or a new round
 * ends every session.
 */
import { createHmac, hash } from "node:crypto";
import { HOUR_MS } from "../../core/time/durations.ts";
import { createFreshCache } from "../../core/work/fresh-cache.ts";
import type { ConsoleSeal } from "../../store/store.ts";
import type { HandlerDeps } from "../app-deps.ts";
import { isSameSecret } from "../same-secret.ts";

export interface ConsoleSessions {
  /** A new session for whoever knows the password; `undefined` for anybody else. */
  open(password: string): Promise<ConsoleSession | undefined>;
  /**
   * The session whose cookie a request carries; `undefined` without one, and once it has ended or the password or the round is another
   * (a second later at most). Requests that any page can make a browser send do not count: see `CONSOLE_HEADER`.
   */
  of(headers: Headers): Promise<ConsoleSession | undefined>;
}

export interface ConsoleSession {
  readonly cookie: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** Browsers send a cookie to all ports of a host: with one name, signing in to one of two services there would sign out of the other. */
export function cookieNameOf(consoleKey: Uint8Array): string {
  const mark = createHmac("sha256", consoleKey).update("name of the cookie").digest("hex").slice(0, 8);
  return `postrider_console_${mark}`;
}

/** A page of another origin can add no such header unless it is allowed to, and nobody is. */
const CONSOLE_HEADER = "x-postrider-console";

/** A working day: the operator signs in once. */
export const SESSION_MS = 12 * HOUR_MS;

export type ConsoleSessionDeps = Pick<HandlerDeps, "clock" | "consoleKey"> & {
  readonly store: Pick<HandlerDeps["store"], "access">;
};

export function createConsoleSessions({ store, clock, consoleKey }: ConsoleSessionDeps): ConsoleSessions {
  const seals = createFreshCache<ConsoleSeal>({ clock, maxEntries: 1 });
  const readSeal = () => store.access.consoleSeal();
  const cookieName = consoleKey && cookieNameOf(consoleKey);

  const cookieOf = (expiresAt: number, { passwordDigest, round = "" }: ConsoleSeal, key: Uint8Array) => {
    const signature = createHmac("sha256", key).update(`console ${expiresAt} ${passwordDigest} ${round}`);
    return `${expiresAt}.${signature.digest("base64url")}`;
  };

  return {
    async open(password) {
      const seal = await readSeal();
      const { passwordDigest: digest } = seal;
      if (!consoleKey || digest === undefined || !isSameSecret(hash("sha256", password, "hex"), digest))
        return;
      const expiresAt = clock.now() + SESSION_MS;
      return { cookie: cookieOf(expiresAt, seal, consoleKey), expiresAt };
    },
    async of(headers) {
      const isOurPage = cookieName !== undefined && headers.has(CONSOLE_HEADER);
      const cookie = isOurPage ? readCookie(headers.get("cookie"), cookieName) : undefined;
      const expiresAt = Number.parseInt(cookie ?? "", 10);
      if (!consoleKey || cookie === undefined || !(expiresAt > clock.now())) return;
      const isOf = (seal: ConsoleSeal) =>
        seal.passwordDigest !== undefined && isSameSecret(cookie, cookieOf(expiresAt, seal, consoleKey));
      if (isOf(await seals.get("", readSeal))) return { cookie, expiresAt };
      // Whoever has just signed in with a new password is let in, also where the one before was read a moment ago.
      seals.forget();
      return isOf(await seals.get("", readSeal)) ? { cookie, expiresAt } : undefined;
    },
  };
}

function readCookie(header: string | null, name: string): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
