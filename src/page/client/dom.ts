/**
 * Keeps the elements on the screen and changes only what differs, to avoid flicker and keep a selection. Text only, never
 * markup.
 */

/** Makes an element. A child that is a string becomes text. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  element.append(...children);
  return element;
}

/** The element of this id, which index.html has. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element with the id ${id}`);
  return element;
}

/** Sets the text if it differs. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets an attribute if it differs. */
export function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Shows the element or hides it. */
export function show(element: HTMLElement, shown: boolean): void {
  if (element.hidden === shown) element.hidden = !shown;
}

/** One row of a list: its element, and the function that shows an item in it. */
export interface Row<Item> {
  readonly element: HTMLElement;
  draw(item: Item): void;
}

/**
 * A list in which every key keeps its element from one drawing to the next; elements move only where the order changed. Keys
 * must be unique: of two items with one key the later is not shown.
 */
export function keyedList<Item>(
  parent: HTMLElement,
  keyOf: (item: Item) => string,
  makeRow: () => Row<Item>,
): (items: readonly Item[]) => void {
  const rows = new Map<string, Row<Item>>();
  return (items) => {
    const wanted = new Map(items.map((item) => [keyOf(item), item]));
    for (const [key, row] of rows) {
      if (wanted.has(key)) continue;
      row.element.remove();
      rows.delete(key);
    }
    let place: Element | null = parent.firstElementChild;
    for (const [key, item] of wanted) {
      const row = rows.get(key) ?? makeRow();
      rows.set(key, row);
      row.draw(item);
      if (row.element === place) place = place.nextElementSibling;
      else parent.insertBefore(row.element, place);
    }
  };
}
