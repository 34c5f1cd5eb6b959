/** What a connector is, and how it is. Pure. */
export interface Connector {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly channel?: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, "set">>;
  readonly callback_url?: string;
  readonly callback_path?: string;
  readonly is_enabled: boolean;
  readonly status: {
    readonly state: string;
    readonly since?: string;
    readonly reason?: string;
    readonly binds?: { readonly up: number; readonly of: number };
    readonly rate?: { readonly per_second: number; readonly is_reduced: boolean };
    readonly health?: { readonly score: number; readonly problems: readonly string[] };
    readonly alarm?: string;
  };
  readonly created_at: string;
}

export function stateOf({ is_enabled: isEnabled, status }: Connector): string {
  return isEnabled ? status.state : "disabled";
}

export function reasonOf({ is_enabled: isEnabled, status }: Connector): string | undefined {
  if (!isEnabled) return undefined;
  const { binds, health } = status;
  const some =
    binds && binds.up < binds.of && status.state === "up"
      ? `${binds.up} of ${binds.of} binds are up`
      : undefined;
  const problems = health?.problems
    .filter((problem) => problem !== "down")
    .map((word) => word.replaceAll("_", " "));
  return status.reason ?? some ?? (problems?.join(", ") || undefined);
}
