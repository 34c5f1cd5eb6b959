/** Messages to and from the large-body thread: structured clones, with octets transferred. */
import type { JsonBody } from "../../api/body/read-json.ts";
import type { ComposedMail, MailToCompose } from "../../channels/email/mail/compose-mail.ts";

export type Task =
  | { readonly kind: "read"; readonly octets: ArrayBuffer | Uint8Array }
  | { readonly kind: "compose"; readonly mail: MailToCompose };

export interface ToThread {
  readonly id: number;
  readonly task: Task;
}

export type FromThread =
  | { readonly id: number; readonly kind: "read"; readonly body: JsonBody | undefined }
  | { readonly id: number; readonly kind: "composed"; readonly mail: ComposedMail }
  | { readonly id: number; readonly kind: "failed"; readonly message: string };
