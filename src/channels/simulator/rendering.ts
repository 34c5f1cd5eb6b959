import type { MessageError } from "../../core/messages/message.ts";

/** A message as the simulator would take it, or why no provider could. */
export type Rendering =
  | {
      readonly kind: "rendered";
      /** As the admin API shows it, snake_case. */
      readonly rendered: Readonly<Record<string, unknown>>;
      /** For the timeline. */
      readonly detail: Readonly<Record<string, string | number>>;
    }
  | { readonly kind: "refused"; readonly error: MessageError };
