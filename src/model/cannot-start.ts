/** Why the gate cannot start, in sentences for the operator. */
export class CannotStart extends Error {}
