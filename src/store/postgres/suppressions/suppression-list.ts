import type { Suppression } from "../../../core/records/accounts.ts";
import type { StoredSettings } from "../../../core/records/settings.ts";
import { addressKey } from "../../../core/suppressions/address-key.ts";
import { countSoftBounce, isSoftLimit, type SoftBounces } from "../../../core/suppressions/suppression.ts";
import {
  deliveredTo,
  type LearntSuppression,
  learntFromParts,
  type PartsStep,
  toSuppression,
} from "../../suppressions/learnt-suppressions.ts";
import type { Session } from "../database/driver.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import type { LockedMessage } from "../messages/message-log.ts";
import { readSettings } from "../records/account-settings.ts";
import { nameOfAddress, readSoftBounces, type SoftChange, writeSoftBounces } from "./soft-bounces.ts";
import { addSuppressions } from "./suppression-rows.ts";

/**
 * Collects what the messages of one transaction tell about recipients, in order, and writes the lists at the end. Ignores
 * messages of sandbox accounts, whose bounces are simulated.
 */
export interface SuppressionList {
  learn(message: Teller, word: LearntSuppression): void;
  /** Adds the recipients that bounced in the step from `before` to `after`, and forgives those to whom it has delivered. */
  learnFromParts(message: Teller, step: PartsStep): void;
  /** Forgets soft bounces of an address, since a message was delivered to it. */
  forgive(message: Teller, email: string): void;
  write(): Promise<void>;
}

type Teller = Pick<LockedMessage, "id" | "accountId" | "accountMode">;

interface Heard {
  readonly messageId: string;
  readonly accountId: string;
  readonly email: string;
  /** Absent if a message was delivered. */
  readonly word?: LearntSuppression;
}

export function createSuppressionList(session: Session, erasedNames: ErasedNames): SuppressionList {
  const heard: Heard[] = [];
  const hear = (
    { id: messageId, accountId, accountMode }: Teller,
    email: string,
    word?: LearntSuppression,
  ) => {
    if (accountMode !== "live") return;
    heard.push({ messageId, accountId, email: addressKey(email), ...(word && { word }) });
  };
  const learn: SuppressionList["learn"] = (message, word) => hear(message, word.email, word);
  return {
    learn,
    learnFromParts(message, step) {
      for (const word of learntFromParts(step)) learn(message, word);
      for (const email of deliveredTo(step)) hear(message, email);
    },
    forgive: (message, email) => hear(message, email),
    async write() {
      if (heard.length === 0) return;
      const words = heard.filter(({ word }) => word);
      const settingsOf =
        words.length > 0
          ? await readSettings(
              session,
              words.map(({ accountId }) => accountId),
            )
          : () => ({});
      const softly = heard.filter(({ word }) => word?.reason === "soft_bounce");
      const known = await readSoftBounces(session, softly);
      const { suppressions, changes } = conclude(heard, { known, settingsOf });
      await writeSoftBounces(session, changes);
      if (suppressions.length === 0) return;
      await addSuppressions(session, suppressions, await erasedNames.formToList(session));
    },
  };
}

interface Known {
  readonly known: ReadonlyMap<string, SoftBounces>;
  readonly settingsOf: (accountId: string) => StoredSettings;
}

/** Goes through `heard` in order: after a delivery the count of soft bounces begins anew. */
function conclude(heard: readonly Heard[], { known, settingsOf }: Known) {
  const changes = new Map<string, SoftChange>();
  const suppressions: Suppression[] = [];
  const change = ({ accountId, email }: Heard, name: string, count?: SoftBounces) =>
    changes.set(name, { accountId, email, count });
  for (const each of heard) {
    const { word, accountId, messageId } = each;
    const name = nameOfAddress(each);
    if (!word) {
      change(each, name);
      continue;
    }
    const settings = settingsOf(accountId);
    if (word.reason === "soft_bounce") {
      const changed = changes.get(name);
      const count = countSoftBounce(changed ? changed.count : known.get(name), word.at);
      const isOver = isSoftLimit(count, settings);
      change(each, name, isOver ? undefined : count);
      if (!isOver) continue;
    }
    suppressions.push(toSuppression(word, { accountId, messageId, settings }));
  }
  return { suppressions, changes: [...changes.values()] };
}
