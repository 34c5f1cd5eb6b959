import { hash } from "node:crypto";
import { isWellFormedApiKey, type KeyOwner } from "../core/records/api-key.ts";
import { createFreshCache } from "../core/work/fresh-cache.ts";
import { remember } from "../core/work/remember.ts";
import type { HandlerDeps } from "./app-deps.ts";
import { type ConsoleSessionDeps, createConsoleSessions } from "./console/console-sessions.ts";
import { invalidAdminToken, invalidApiKey } from "./errors.ts";
import { isSameSecret } from "./same-secret.ts";

export interface Authenticator {
  /** The owner of the request's key; refuses missing, malformed, unknown and revoked keys, all alike. */
  apiKey(headers: Headers): KeyOwner | Promise<KeyOwner>;
  /** Refuses a caller who has neither the admin token nor a session of the console. */
  admin(headers: Headers): Promise<undefined>;
}

/** The most keys that are cached. */
const MAX_KEYS = 10_000;

/** A revoked key or a replaced admin token is refused after a second at the latest, in every process. */
export function createAuthenticator(
  deps: Pick<HandlerDeps, "store" | "clock"> & ConsoleSessionDeps,
): Authenticator {
  const { store, clock } = deps;
  const sessions = createConsoleSessions(deps);
  const isFound = (found: unknown) => found !== undefined;
  // Unknown keys are not cached: a flood of them would displace the good ones.
  const owners = createFreshCache<KeyOwner | undefined>({ clock, maxEntries: MAX_KEYS, keeps: isFound });
  const adminDigests = createFreshCache<string | undefined>({ clock, maxEntries: 1, keeps: isFound });

  // The digest of each key, since computing one costs as much as reading the rest of the head. Known keys only, as above.
  const digests = new Map<string, string>();

  const find = async (key: string, digest: string): Promise<KeyOwner | undefined> => {
    // Not for cached keys, which have passed it: the checksum costs more than the digest.
    const owner = isWellFormedApiKey(key) ? await store.records.findKeyOwner(digest) : undefined;
    if (owner) remember(digests, [key, digest], MAX_KEYS);
    return owner;
  };

  const read = (key: string, digest: string): KeyOwner | Promise<KeyOwner> => {
    const owner = owners.get(digest, () => find(key, digest));
    return owner instanceof Promise ? owner.then(refuseUnknown) : refuseUnknown(owner);
  };

  return {
    apiKey(headers) {
      const key = presentedKey(headers);
      if (key === undefined) throw invalidApiKey();
      const digest = digests.get(key) ?? hash("sha256", key, "hex");
      return owners.peek(digest)?.value ?? read(key, digest);
    },
    async admin(headers) {
      if (!headers.has("authorization") && (await sessions.of(headers))) return undefined;
      const token = bearerToken(headers.get("authorization"));
      const expected = await adminDigests.get("", () => store.access.adminTokenDigest());
      if (!token || expected === undefined || !isSameSecret(hash("sha256", token, "hex"), expected)) {
        throw invalidAdminToken();
      }
      return undefined;
    },
  };
}

function refuseUnknown(owner: KeyOwner | undefined): KeyOwner {
  if (!owner) throw invalidApiKey();
  return owner;
}

/** The key in either header; `undefined` if there is none, or if the two differ. */
function presentedKey(headers: Headers): string | undefined {
  const authorization = headers.get("authorization");
  const apiKey = headers.get("x-api-key");
  if (authorization === null) return apiKey ?? undefined;
  const bearer = bearerToken(authorization);
  return apiKey === null || apiKey === bearer ? bearer : undefined;
}

const BEARER = /^bearer +([!-~]{1,512})$/i;

function bearerToken(authorization: string | null): string | undefined {
  if (authorization === null) return undefined;
  return authorization.startsWith("Bearer ") && !authorization.includes(" ", 7)
    ? authorization.slice(7)
    : BEARER.exec(authorization)?.[1];
}
