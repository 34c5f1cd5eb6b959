/** The same fields, except that those that may be `undefined` may be absent instead. */
export type Present<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** Leaves out the fields that are `undefined`. Code that runs very often fills a `Writable` instead. */
export function present<T extends object>(fields: T): Present<T> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name];
  return kept as Present<T>;
}
