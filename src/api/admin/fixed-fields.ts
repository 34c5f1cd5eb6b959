import { isDeepStrictEqual } from "node:util";
import { Value } from "typebox/value";
import type { ErrorCollector } from "../../core/body/field-errors.ts";
import type { RecordKind } from "../../core/records/accounts.ts";
import { toStoredId } from "../../core/uuid.ts";
import { type RecordPlan, shownNames, shownSchema } from "./record-plan.ts";

/** A record as clients read it. */
export type Shown = Readonly<Record<string, unknown>>;

/**
 * A body without the fields that say what is shown already: whoever sends back what was read, with a change in it, means nothing by the
 * rest. Some of that may be refused by now, by a newer rule or since the account went live, and defaults that are shown are not set.
 */
export function withoutUnchanged(given: Shown, shown: Shown, meant: readonly string[] = []): Shown {
  const isUnchanged = (name: string) =>
    Object.hasOwn(shown, name) && !meant.includes(name) && isDeepStrictEqual(given[name], shown[name]);
  return Object.fromEntries(Object.entries(given).filter(([name]) => !isUnchanged(name)));
}

interface FixedFields {
  /** The body of a change. */
  readonly given: Shown;
  /** The fields that a change may have. */
  readonly changeable: Readonly<Record<string, unknown>>;
  /** The record as answers show it before the change. */
  readonly shown: Shown;
  readonly errors: Pick<ErrorCollector, "add">;
}

/**
 * Notes the fields that the record shows and no change takes: ignored, such a change would be answered with 200 and do nothing. One that
 * says what is shown already is no change: whoever sends back what was read, with a change in it, means nothing by the rest.
 */
export function refuseFixed<K extends RecordKind>(
  plan: RecordPlan<K>,
  { given, changeable, shown, errors }: FixedFields,
): void {
  const fixed = shownNames(plan).filter(
    (name) => Object.hasOwn(given, name) && !Object.hasOwn(changeable, name),
  );
  // Whoever sets the state alone means it; in a record that is sent back as a whole it is an older one.
  const moved = given.id === shown.id ? (plan.changesByItself ?? []) : [];
  for (const name of fixed) {
    if (moved.includes(name) && looksShown(plan, name, given[name])) continue;
    if (!saysTheSame(plan, name, { given: given[name] ?? undefined, shown: shown[name] ?? undefined }))
      errors.add(name, plan.instead?.[name] ?? insteadOf(name, plan));
  }
}

/**
 * The same for a new record. What is shown of another one may be given, as in a copy of it, and does not count; but what does not look
 * like that was meant: a password among `secrets`, which are shown as `set`.
 */
export function refuseUnlikeShown<K extends RecordKind>(
  plan: RecordPlan<K>,
  { given, taken, errors }: { readonly taken: object } & Pick<FixedFields, "given" | "errors">,
): void {
  for (const [name, reason] of Object.entries(plan.instead ?? {})) {
    const isMeant = Object.hasOwn(given, name) && !Object.hasOwn(taken, name);
    if (isMeant && !looksShown(plan, name, given[name])) errors.add(name, reason);
  }
}

/** Whether some record of the kind may have been shown with this value. `null` says that the field was absent. */
function looksShown<K extends RecordKind>(plan: RecordPlan<K>, name: string, value: unknown): boolean {
  const schema = shownSchema(plan).properties[name];
  return !schema || value === undefined || value === null || Value.Check(schema, value);
}

function saysTheSame<K extends RecordKind>(
  { toStored }: RecordPlan<K>,
  name: string,
  { given, shown }: { readonly given: unknown; readonly shown: unknown },
): boolean {
  if (typeof given !== "string") return isDeepStrictEqual(given, shown);
  const read = toStored?.[name] ?? toStoredId;
  return read(given) === shown;
}

function insteadOf<K extends RecordKind>(name: string, { idName, noun }: RecordPlan<K>): string {
  const isGivenByUs = name === "id" || name === idName || name === "created_at";
  return isGivenByUs ? "cannot be changed" : `cannot be changed: create another ${noun} instead`;
}
