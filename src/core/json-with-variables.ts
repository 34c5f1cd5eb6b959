/**
 * JSON of `fields`, one of which at least is defined, with `variables` behind them. The engine writes an object that has
 * a name like "1" in its slow way, and everything around it too, which takes five times as long: so they are written apart.
 */
export function jsonWithVariables(
  fields: object,
  variables: Readonly<Record<string, string | number>> | undefined,
): string {
  const json = JSON.stringify(fields);
  return variables ? `${json.slice(0, -1)},"variables":${variablesJson(variables)}}` : json;
}

function variablesJson(variables: Readonly<Record<string, string | number>>): string {
  let json = "";
  // Not for…in, which is twice as slow where names are numbers.
  for (const name of Object.keys(variables)) {
    json += `${json === "" ? "" : ","}${JSON.stringify(name)}:${JSON.stringify(variables[name])}`;
  }
  return `{${json}}`;
}
