import type { KeyOwner } from "../core/records/api-key.ts";
import type { Call } from "./endpoint.ts";

/** Who calls an endpoint whose `auth` is `api-key`. */
export function callerOf(call: Call): KeyOwner {
  if (!call.caller) throw new Error("this endpoint is run without its caller");
  return call.caller;
}
