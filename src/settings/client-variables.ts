/** Variables of the commands that ask a running gate; the gate itself heeds none of them. */

/** Where the gate is: `http://host:port`, or `unix:/path`. */
export const URL_VARIABLE = 'TUNEPLANE_URL';
/** A file that holds the token to ask with, and nothing else. */
export const TOKEN_FILE_VARIABLE = 'TUNEPLANE_TOKEN_FILE';

export const CLIENT_VARIABLES: readonly string[] = [URL_VARIABLE, TOKEN_FILE_VARIABLE];
