import type { MessageError } from "../../core/messages/message.ts";

/** A message as the simulator stores it, or why no provider could send it. */
export type Rendering =
  | {
      readonly kind: "rendered";
      /** In the form in which the admin API shows it, in snake_case. */
      readonly rendered: Readonly<Record<string, unknown>>;
      /** Goes into the `detail` of the attempt on the timeline. */
      readonly detail: Readonly<Record<string, string | number>>;
    }
  | { readonly kind: "refused"; readonly error: MessageError };
