/** Messages to and from the thread aside: structured clones, with octets transferred. */
import type { JsonBody } from "../../api/read-json.ts";
import type { ComposedMail, MailToCompose } from "../../channels/email/smtp/compose-mail.ts";

export type Task =
  | { readonly kind: "read"; readonly octets: ArrayBuffer | Uint8Array }
  | { readonly kind: "compose"; readonly mail: MailToCompose };

export interface ToAside {
  readonly id: number;
  readonly task: Task;
}

export type FromAside =
  | { readonly id: number; readonly kind: "read"; readonly body: JsonBody | undefined }
  | { readonly id: number; readonly kind: "composed"; readonly mail: ComposedMail }
  | { readonly id: number; readonly kind: "failed"; readonly message: string };
