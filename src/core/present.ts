/** For objects that are filled field by field. In hot places that costs a fifth of `present` and a spread. */
export type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** The type of the same fields, of which those that may be `undefined` may be absent instead. */
export type Present<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** The same fields without those that are `undefined`: what is absent is left out. */
export function present<T extends object>(fields: T): Present<T> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name];
  return kept as Present<T>;
}
