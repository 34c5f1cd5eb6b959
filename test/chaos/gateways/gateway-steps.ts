/** Carries out the steps of a plan with HTTP gateways. */
import { changeConnector } from "../connector-changes.ts";
import { operate } from "../operating.ts";
import { disturbFleet, newRequest, repeat, send } from "../steps.ts";
import type { GatewayStep, OfGateway } from "./gateway-plan.ts";
import type { GatewayWorld } from "./gateway-world.ts";

/** Resolves when the step is done. Never rejects because a process does not answer. */
export async function takeGatewayStep(world: GatewayWorld, step: GatewayStep): Promise<void> {
  switch (step.kind) {
    case "send":
      return send(world, newRequest(world, step));
    case "send again":
    case "cancel":
    case "look up":
      return repeat(world, step);
    case "drop":
    case "restart gateway":
    case "invent report":
    case "forge report":
      return disturbGateway(world, step);
    case "change settings":
    case "disable":
      return changeConnector(world, step);
    case "reorder":
    case "reorder and kill":
    case "set":
    case "replay webhooks":
      return operate(world, step);
    case "write":
      return world.write(step);
    default:
      return disturbFleet(world.fleet, step);
  }
}

async function disturbGateway({ fleet, gateways }: GatewayWorld, step: OfGateway): Promise<void> {
  const gateway = gateways[step.gateway % gateways.length];
  fleet.note(`${step.kind} at the ${gateway?.name} gateway`);
  switch (step.kind) {
    case "drop":
      return gateway?.dropAll();
    case "restart gateway":
      return gateway?.restart(step.ms);
    case "invent report":
      return gateway?.inventReport();
    default:
      return gateway?.forgeReport();
  }
}
