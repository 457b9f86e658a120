/** `2026/07/14 08:12:38.696`, in the machine's own time zone, as the real program prints it. */
export function timestampOf(now: Date): string {
  const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => twoDigits(part)).join('/');
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map((part) => twoDigits(part)).join(':');
  return `${date} ${time}.${String(now.getMilliseconds()).padStart(3, '0')}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}
