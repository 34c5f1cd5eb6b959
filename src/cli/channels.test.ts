import { expect, test } from "bun:test";
import { Command } from "commander";
import type { CheckReach } from "../channels/channel.ts";
import type { Connector } from "../core/records/accounts.ts";
import { addAdminCommands } from "./admin/admin-commands.ts";
import { CONNECTOR_KINDS, checkConnector } from "./channels.ts";
import { readAdminTarget } from "./config.ts";
import { createSystemClock } from "./system-clock.ts";

test("no field of a connector is called like an option that the command line keeps for itself", () => {
  const program = new Command();
  addAdminCommands(program, readAdminTarget({}), { stdout() {}, stderr() {}, exit: process.exit });
  const connectors = program.commands.find((command) => command.name() === "connectors");
  const kept = connectors!.commands.flatMap(({ options }) => options.map(({ long = "" }) => fieldOf(long)));
  expect(kept).toContain("token");
  for (const { kind, config, secrets } of CONNECTOR_KINDS) {
    const { properties = {} } = config as { properties?: object };
    const clashes = Object.keys({ ...properties, ...secrets }).filter((name) => kept.includes(name));
    expect([kind, clashes]).toEqual([kind, []]);
  }
});

test("testing a connector whose kind, or whose configuration, only another version knows tells so", async () => {
  const network = {} as CheckReach["network"];
  const check = (kind: string, config: Connector["config"]) =>
    checkConnector(
      { id: "c", name: "n", kind, config, secrets: {}, isEnabled: true, createdAt: 0 },
      createSystemClock(),
      {
        network,
      },
    );
  expect(await check("pigeon", {})).toEqual({
    ok: false,
    detail: "this version knows no connectors of kind pigeon",
  });
  for (const { kind } of CONNECTOR_KINDS) {
    const { ok, detail } = await check(kind, { host: ["of", "another", "form"], max_connections: "many" });
    expect([kind, ok, detail]).toEqual([kind, false, "its configuration is not one that this version knows"]);
  }
});

function fieldOf(option: string): string {
  return option.replace(/^--(no-)?/, "").replaceAll("-", "_");
}
