/** Text of others on our terminal: a process may be named so that its name clears the screen or colours what follows. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
