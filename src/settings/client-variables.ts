/** Variables of the commands that query a running gate; the gate itself ignores them. */

/** The gate's address: `http://host:port`, or `unix:/path`. */
export const URL_VARIABLE = 'TUNEPLANE_URL';
/** A file that holds the token to send, and nothing else. */
export const TOKEN_FILE_VARIABLE = 'TUNEPLANE_TOKEN_FILE';

export const CLIENT_VARIABLES: readonly string[] = [URL_VARIABLE, TOKEN_FILE_VARIABLE];
