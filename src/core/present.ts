/** For objects that are filled field by field: where it is hot, that costs a fifth of `present` and a spread. */
export type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** The same fields with those that are `undefined` left out: absent is absent. */
export type Present<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

export function present<T extends object>(fields: T): Present<T> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name];
  return kept as Present<T>;
}
