/**
 * How many of a connector's slots a process is to have, of those that live: equal parts. What is left over goes to
 * those after a place that the connector's name decides, so that one process does not get it of every connector.
 */
export function fairShare(of: {
  readonly name: string;
  readonly slots: number;
  readonly process: string;
  readonly processes: readonly string[];
}): number {
  const line = [...new Set([...of.processes, of.process])].toSorted();
  const all = Math.floor(of.slots / line.length);
  const leftOver = of.slots % line.length;
  const place = (line.indexOf(of.process) + placeOf(of.name)) % line.length;
  return all + (place < leftOver ? 1 : 0);
}

function placeOf(name: string): number {
  let sum = 0;
  for (let index = 0; index < name.length; index++) sum = (sum * 31 + name.charCodeAt(index)) % 65_521;
  return sum;
}
