/** For objects that are filled field by field, which takes a fifth of the time of `present` and a spread. */
export type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
