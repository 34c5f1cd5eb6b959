/**
 * Finds variables that were meant for the service under a name that it does not read. Unnoticed, they would make it start with
 * an empty database: in another folder, or with SQLite in place of PostgreSQL.
 */

/** Words with `POSTRIDER_` before them, and the variable that is meant. Those of its own names need no entry. */
const USUAL_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^DATA_?(DIR|DIRECTORY|FOLDER|PATH)$/, "POSTRIDER_DATA"],
  [/^(SECRET_?KEY|MASTER_?KEY)$/, "POSTRIDER_SECRET"],
  [/^(DATABASE|DB|DB_?URL|POSTGRES_?URL)$/, "DATABASE_URL"],
];

/**
 * What to say of each, if the variable that is meant is not set: where both are, the other one may be for something else.
 *
 * @param known the names that the service reads
 */
export function misnamedVariables(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const meant = known.includes(name) || !value || isOfKubernetes(value) ? undefined : meantBy(name, known);
    return meant !== undefined && !env[meant] ? [`${name}: not read; the variable is ${meant}`] : [];
  });
}

function meantBy(name: string, known: readonly string[]): string | undefined {
  const word = /^POSTRIDER_(\w+)$/.exec(name)?.[1];
  if (word === undefined) return undefined;
  return known.includes(word) ? word : USUAL_NAMES.find(([pattern]) => pattern.test(word))?.[1];
}

/** Kubernetes sets `POSTRIDER_PORT` to such a value where a service is called `postrider`. */
function isOfKubernetes(value: string): boolean {
  return /^(tcp|udp|sctp):\/\//.test(value);
}
