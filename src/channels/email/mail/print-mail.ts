import type MailComposer from "nodemailer/lib/mail-composer";

type MimeNode = ReturnType<MailComposer["compile"]>;

/**
 * The octets of a composed message. Most messages are short and need no encoding. Those are put together here, since the
 * composer's streams take several times as long for the same octets.
 */
export async function printMail(root: MimeNode): Promise<Buffer> {
  if (!isShort(root)) return root.build();
  const text = print(root);
  return Buffer.from(text.endsWith("\n") ? text : `${text}\r\n`);
}

function isShort(node: MimeNode): boolean {
  if (node.childNodes.length > 0) return node.childNodes.every(isShort);
  return typeof node.content === "string" && node.getTransferEncoding() === "7bit";
}

function print(node: MimeNode): string {
  // First, since `buildHeaders` sets the boundary.
  const head = `${node.buildHeaders()}\r\n\r\n`;
  if (node.childNodes.length === 0) return head + String(node.content);
  const parts = node.childNodes.map((child) => `--${node.boundary}\r\n${print(child)}`);
  return `${head}${parts.join("\r\n")}\r\n--${node.boundary}--\r\n`;
}
