/** Collects the problems of a request body. */

/** A sentence for each field that is wrong, by its dotted name (`from.email`, `to.3`): the `details` of a 400. */
export type FieldErrors = Readonly<Record<string, string>>;

/** Makes the sentence that is shown under an array's own name: `bad` of its `total` entries are wrong. */
export type Summary = (bad: number, total: number) => string;

export interface BadEntry {
  readonly index: number;
  readonly total: number;
  /** The field that is wrong, for example `to.3.email`. */
  readonly at: string;
  readonly reason: string;
  /** The sentence for entries that are bad in this way; absent: that of `summarise`. */
  readonly summary?: Summary;
}

export interface ErrorCollector {
  /** Adds a problem. Only the first problem of a field is listed. */
  add(field: string, reason: string): void;
  /** Adds a problem of one entry of the array `field`. */
  addEntry(field: string, entry: BadEntry): void;
  /** Sets the sentence under the array's name for entries without a `summary` of their own. */
  summarise(field: string, summary: Summary): void;
  has(field: string): boolean;
  isEmpty(): boolean;
  list(): FieldErrors;
}

/** How many bad entries of an array are listed; any beyond that are only counted. */
const MAX_LISTED_ENTRIES = 20;

export function createErrors(): ErrorCollector {
  return new Problems();
}

/** A class, and maps made only when needed: every request makes two collectors, and most stay empty. */
class Problems implements ErrorCollector {
  private fields: Map<string, string> | undefined;
  private arrays: Map<string, BadEntries> | undefined;
  private summaries: Map<string, Summary> | undefined;

  add(field: string, reason: string): void {
    this.fields ??= new Map();
    if (!this.fields.has(field)) this.fields.set(field, reason);
  }

  addEntry(field: string, { index, total, at, reason, summary }: BadEntry): void {
    this.arrays ??= new Map();
    const array: BadEntries = this.arrays.get(field) ?? { bad: new Map(), ways: new Map(), total };
    this.arrays.set(field, array);
    const problems = array.bad.get(index) ?? [];
    array.bad.set(index, problems);
    problems.push([at, reason]);
    array.ways.set(summary, (array.ways.get(summary) ?? new Set()).add(index));
  }

  summarise(field: string, summary: Summary): void {
    this.summaries ??= new Map();
    this.summaries.set(field, summary);
  }

  has(field: string): boolean {
    return this.fields?.has(field) === true || this.arrays?.has(field) === true;
  }

  isEmpty(): boolean {
    return this.fields === undefined && this.arrays === undefined;
  }

  list(): FieldErrors {
    const listed = new Map(this.fields);
    for (const [field, array] of this.arrays ?? []) {
      if (!listed.has(field)) listed.set(field, this.summaryOf(field, array));
      for (const [at, reason] of firstProblems(array)) if (!listed.has(at)) listed.set(at, reason);
    }
    return Object.fromEntries(listed);
  }

  private summaryOf(field: string, { ways, total }: BadEntries): string {
    return [...ways]
      .map(([summary, { size }]) => (summary ?? this.summaries?.get(field) ?? plainSummary)(size, total))
      .join("; ");
  }
}

type Problem = readonly [at: string, reason: string];

interface BadEntries {
  /** What is wrong with each, by its index. */
  readonly bad: Map<number, Problem[]>;
  /** Indexes of bad entries, by their `summary`. */
  readonly ways: Map<Summary | undefined, Set<number>>;
  readonly total: number;
}

/** The problems of the bad entries that come first in the body, in whatever order they were found. */
function firstProblems({ bad }: BadEntries): readonly Problem[] {
  const inOrder = [...bad].sort(([index], [other]) => index - other);
  return inOrder.slice(0, MAX_LISTED_ENTRIES).flatMap(([, problems]) => problems);
}

function plainSummary(bad: number, total: number): string {
  return `${bad} of ${total} entries ${bad === 1 ? "is" : "are"} invalid`;
}
