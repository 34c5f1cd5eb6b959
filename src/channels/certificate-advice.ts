/** The fields of a connector that say which certificate is taken. */
export interface CertificateFields {
  /** Name of the field for the authority's certificate (PEM). */
  readonly authority: string;
  /** Whether that field is set. */
  readonly hasAuthority: boolean;
  /** What the certificate has to name, as a sentence calls it: "`host`". */
  readonly host: string;
}

/** The reason why there is no connection. If a certificate was not accepted, it also says what to do about that. */
export function withCertificateAdvice(reason: string, fields: CertificateFields): string {
  const advice = ADVICE.find(({ words }) => words.test(reason))?.say(fields);
  return advice === undefined ? reason : `${reason}; ${advice}`;
}

/** Recognised by the runtime's words (BoringSSL's and Node's), since not every path keeps the error's code. */
const ADVICE: readonly { readonly words: RegExp; readonly say: (fields: CertificateFields) => string }[] = [
  { words: /verify the first certificate/i, say: authorityOrIntermediate },
  { words: /unable to get issuer certificate/i, say: authorityOfAuthority },
  { words: /self[- ]signed certificate|issuer certificate/i, say: authority },
  {
    words: /does not match certificate's altnames/i,
    say: ({ host }) => `${host} must be one that the certificate is for`,
  },
  {
    words: /certificate (?:has expired|is not yet valid)/i,
    say: () => "whoever runs the server has to replace it, unless the clock of this machine is wrong",
  },
];

/** Neither who signed it is known nor a certificate of who that is: browsers fetch one that a server leaves out, so nobody misses it. */
function authorityOrIntermediate(fields: CertificateFields): string {
  const { authority: field, hasAuthority } = fields;
  const orElse = hasAuthority
    ? `or the server does not send its intermediate certificate: add that to \`${field}\``
    : "if that is a public one, the server does not send its intermediate certificate, and whoever runs it has to mend that";
  return `${authority(fields)}; ${orElse}`;
}

/** An intermediate one alone is not trusted. */
function authorityOfAuthority(fields: CertificateFields): string {
  const { authority: field, hasAuthority } = fields;
  return hasAuthority
    ? `add to \`${field}\` the certificate (PEM) of the authority that signed the one in it`
    : authority(fields);
}

function authority({ authority: field, hasAuthority }: CertificateFields): string {
  return hasAuthority
    ? `\`${field}\` holds another authority than the one that signed it: set it to that one's certificate (PEM), or leave it out for a public one`
    : `set \`${field}\` to the certificate (PEM) of the authority that signed it`;
}
