/** The reader's token: entered in a form, kept for this tab only, sent with every request. */

import { withToken } from './ask.js';
import { byId, setText, show } from './dom.js';

export interface Token {
  /** Null where none was entered: without a tokens file none is needed. */
  current(): string | null;
  /** Shows the form. `detail` says what was wrong with the last one. */
  askFor(detail: string): void;
  forget(): void;
  /** The gate accepted it, or requires none. */
  accepted(): void;
}

const KEY = 'tuneplane-gpu-gate token';

const current = (): string | null => sessionStorage.getItem(KEY);
const forget = (): void => sessionStorage.removeItem(KEY);

/** `onChange` is called when the reader entered or removed one. */
export function createToken(onChange: () => void): Token {
  const form = byId('token-form');
  const field = byId('token') as HTMLInputElement;
  const forgetButton = byId('forget-token');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, field.value.trim());
    field.value = '';
    onChange();
  });
  forgetButton.addEventListener('click', () => {
    forget();
    onChange();
  });
  byId('openapi').addEventListener('click', (event) => {
    const token = current();
    if (token === null) return;
    // A link sends no token, so the document is fetched and offered as a file.
    event.preventDefault();
    void save('openapi.json', token);
  });
  return {
    current,
    forget,
    askFor(detail) {
      if (current() !== null) setText(byId('token-says'), detail);
      forget();
      show(forgetButton, false);
      if (!form.hidden) return;
      show(form, true);
      field.focus();
    },
    accepted() {
      show(form, false);
      show(forgetButton, current() !== null);
    },
  };
}

async function save(path: string, token: string): Promise<void> {
  const answer = await fetch(path, withToken(token));
  if (!answer.ok) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await answer.blob());
  link.download = path;
  link.click();
  URL.revokeObjectURL(link.href);
}
