/** Variables of the commands that query a running gate; the gate itself ignores them. */

/** The gate's address: `http://host:port`, or `unix:/path`. */
export const URL_VARIABLE = 'TUNEPLANE_URL';
/** A file that holds the token to send, and nothing else. */
export const TOKEN_FILE_VARIABLE = 'TUNEPLANE_TOKEN_FILE';
/** The authority that signed the gate's certificate, PEM; the public ones by default. */
export const CA_FILE_VARIABLE = 'TUNEPLANE_CA_FILE';
/** The client's own certificate and key, PEM, for a gate that requires one. */
export const CERT_FILE_VARIABLE = 'TUNEPLANE_CERT_FILE';
export const KEY_FILE_VARIABLE = 'TUNEPLANE_KEY_FILE';

export const CLIENT_VARIABLES: readonly string[] = [
  URL_VARIABLE,
  TOKEN_FILE_VARIABLE,
  CA_FILE_VARIABLE,
  CERT_FILE_VARIABLE,
  KEY_FILE_VARIABLE,
];
