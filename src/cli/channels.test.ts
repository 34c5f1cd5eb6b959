import { expect, test } from "bun:test";
import { Command } from "commander";
import { addAdminCommands } from "./admin/admin-commands.ts";
import { CONNECTOR_KINDS } from "./channels.ts";
import { readAdminTarget } from "./config.ts";

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

function fieldOf(option: string): string {
  return option.replace(/^--(no-)?/, "").replaceAll("-", "_");
}
