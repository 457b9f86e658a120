import { expect, test } from 'vitest';
import { cardUuid } from '../../../src/model/card.js';
import { parseRemappedRows } from '../../../src/probe/nvidia-smi/parse-remapped-rows.js';

test('remapped rows are read by uuid, 0 and 1 as No and Yes, words as they are', () => {
  const text =
    'GPU-a, 0, 1\nGPU-b, [N/A], [N/A]\nGPU-c, [GPU is lost], [GPU is lost]\n[GPU is lost], [GPU is lost], [GPU is lost]\n';
  expect(Object.fromEntries(parseRemappedRows(text))).toEqual({
    'GPU-a': { rowRemapPending: { kind: 'value', value: 'No' }, rowRemapFailure: { kind: 'value', value: 'Yes' } },
    'GPU-b': {
      rowRemapPending: { kind: 'cannot_say', words: '[N/A]' },
      rowRemapFailure: { kind: 'cannot_say', words: '[N/A]' },
    },
    'GPU-c': {
      rowRemapPending: { kind: 'error', words: '[GPU is lost]' },
      rowRemapFailure: { kind: 'error', words: '[GPU is lost]' },
    },
  });
});

test('a comma before it does not hide a failed row remapping', () => {
  expect(parseRemappedRows('GPU-a, 0,, 1\n').get(cardUuid('GPU-a'))?.rowRemapFailure).toEqual({
    kind: 'value',
    value: 'Yes',
  });
});
