import type { MessageError } from "../../core/messages/message.ts";

/** A message as the simulator keeps it, or why no provider could send it. */
export type Rendering =
  | {
      readonly kind: "rendered";
      /** As the admin API shows it, snake_case. */
      readonly rendered: Readonly<Record<string, unknown>>;
      /** For the timeline. */
      readonly detail: Readonly<Record<string, string | number>>;
    }
  | { readonly kind: "refused"; readonly error: MessageError };
