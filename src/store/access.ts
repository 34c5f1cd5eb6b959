import type { Account, ApiKey, PushApp } from "../core/records/accounts.ts";

/** How the instance is first given to its operator, and what operators prove themselves by from then on. */
export interface AccessStore {
  /** Creates the first account and the admin token, unless the database has an account already. True if it created them. */
  bootstrap(first: FirstStart): Promise<boolean>;
  /** Hex SHA-256 of the admin token; `undefined` before `bootstrap`. */
  adminTokenDigest(): Promise<string | undefined>;
  /** What the signatures of all console sessions cover, so that setting anything of it ends them. */
  consoleSeal(): Promise<ConsoleSeal>;
  /** Sets what is given of it. */
  setConsoleSeal(seal: ConsoleSeal): Promise<void>;
}

export interface ConsoleSeal {
  /** Hex SHA-256 of the console's password; absent if it has none yet. */
  readonly passwordDigest?: string;
  /** A random text; absent: none yet. */
  readonly round?: string;
}

export interface FirstStart {
  readonly account: Account;
  readonly apiKey: ApiKey;
  readonly pushApp: PushApp;
  readonly webhookSecret: string;
  readonly adminTokenDigest: string;
  readonly consolePasswordDigest: string;
  /**
   * A file that tells what was created. It is written within the transaction, readable by its owner only, and on disk before
   * the commit; if it cannot be written, nothing is stored.
   */
  readonly announce?: { readonly path: string; readonly text: string };
}
