/** A container's id or a card's uuid, shortened for people: the first twelve characters, as `docker ps` shows. */
export function shortId(id: string): string {
  return id.slice(0, 12);
}
