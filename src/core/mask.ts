/** A number or address as operators see it: enough to recognise one that they know, too little to use it. */
export function maskRecipient(recipient: string): string {
  const [local = "", domain] = recipient.split("@", 2);
  if (domain !== undefined) return `${local.slice(0, 1)}***@${domain}`;
  const shown = recipient.length > 8 ? 4 : 0;
  const hidden = Math.max(0, recipient.length - shown - 2);
  return recipient.slice(0, shown) + "*".repeat(hidden) + recipient.slice(shown + hidden);
}
