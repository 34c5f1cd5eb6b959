/** A life cycle as its table of moves: from each status to those that may follow. */
export type Moves = Readonly<Record<string, readonly string[]>>;

export interface LifeCycle {
  readonly title: string;
  /** The file of the table. */
  readonly source: string;
  readonly moves: Moves;
  /** What each status means, by status. */
  readonly meanings: Readonly<Record<string, string>>;
  /** The statuses that a message can begin with. */
  readonly starts: readonly string[];
}

/** A page with a diagram and a table for each life cycle. */
export function lifeCyclesPage(title: string, cycles: readonly LifeCycle[]): string {
  return [`# ${title}`, ...cycles.map(section)].join("\n\n").concat("\n");
}

function section(cycle: LifeCycle): string {
  return [`## ${cycle.title}`, `Generated from \`${cycle.source}\`.`, diagram(cycle), table(cycle)].join(
    "\n\n",
  );
}

function diagram({ moves, starts }: LifeCycle): string {
  const lines = [
    ...starts.map((status) => `[*] --> ${status}`),
    ...Object.entries(moves).flatMap(([from, to]) => to.map((status) => `${from} --> ${status}`)),
    ...Object.keys(moves)
      .filter((status) => moves[status]?.length === 0)
      .map((status) => `${status} --> [*]`),
  ];
  return ["```mermaid", "stateDiagram-v2", ...lines.map((line) => `  ${line}`), "```"].join("\n");
}

function table({ moves, meanings, starts }: LifeCycle): string {
  const rows = Object.entries(moves).map(([from, to]) => {
    const name = starts.includes(from) ? `\`${from}\` (start)` : `\`${from}\``;
    const next = to.length > 0 ? to.map((status) => `\`${status}\``).join(", ") : "final";
    return `| ${name} | ${meanings[from] ?? ""} | ${next} |`;
  });
  return ["| Status | Meaning | Next status |", "|---|---|---|", ...rows].join("\n");
}
