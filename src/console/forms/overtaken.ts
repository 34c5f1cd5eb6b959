/** Two people who change one record: the second is told before what the first has saved is replaced. Pure. */
import { Failure } from "../client.ts";
import { type Field, type Row, toText } from "./fields.ts";

export interface Began {
  /** The record as it was when its form was opened. */
  readonly record: Row;
  /** The form's: those with choices show their values in other words. */
  readonly fields?: readonly Field[];
  /** The value of a field, where its text would say less; `undefined`: it does not. */
  readonly inWords?: (name: string, record: Row) => string | undefined;
}

/**
 * The function is to be given what is stored now and what the form would change, just before that is sent. It throws a failure that names each field
 * which somebody else has changed meanwhile, to another value. Whoever then sends the form again has been told, and replaces it.
 */
export function watchOthers({ record, fields = [], inWords }: Began): (now: Row, changes: Row) => void {
  let known = record;
  return (now, changes) => {
    const overtaken = Object.keys(changes).filter(
      (name) => !isSame(now[name], known[name]) && !isSame(now[name], changes[name]),
    );
    if (overtaken.length === 0) return;
    // Of other fields nothing is told yet: these may be changed in the form before it is sent again.
    known = { ...known, ...Object.fromEntries(overtaken.map((name) => [name, now[name]])) };
    const wordsOf = (name: string) => inWords?.(name, now) ?? chosenText(fields, name, now[name]);
    const details = overtaken.map((name) => [name, problemOf(wordsOf(name) ?? textOf(now[name]))]);
    throw new Failure(409, "somebody else has saved this meanwhile", Object.fromEntries(details));
  };
}

function problemOf(text: string): string {
  const what = text === "" ? "emptied it" : `changed it to “${text}”`;
  return `somebody else has ${what} meanwhile: save again to replace that`;
}

function chosenText(fields: readonly Field[], name: string, value: unknown): string | undefined {
  const choices = fields.find((field) => field.name === name)?.choices ?? [];
  return choices.find(([choice]) => choice === toText(value))?.[1];
}

function textOf(value: unknown): string {
  return Array.isArray(value) && value.every((one) => typeof one === "string")
    ? value.join(", ")
    : toText(value);
}

/** Absent, and cleared by `null`, are one. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
