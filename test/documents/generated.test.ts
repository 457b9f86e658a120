import { describe, expect, test } from 'vitest';
import { generatedFiles } from '../../grafana/generated-files.js';
import { documents, read, TABLES, tablesIn, withTables } from './documents.js';

/** What is made from code and kept beside it: `npm run readme` writes it anew. */

const ANEW = 'is not what the code makes; npm run readme writes it anew';

describe('the tables of the documents', () => {
  const withSome = documents().filter((path) => tablesIn(read(path)).length > 0);

  test('are each in one document', () => {
    const found = withSome.flatMap((path) => tablesIn(read(path)));
    expect(found.toSorted()).toEqual(Object.keys(TABLES).toSorted());
  });

  test.each(withSome)('%s has them as the code has them', async (path) => {
    await expect(withTables(read(path)), `${path} ${ANEW}`).toMatchFileSnapshot(`../../${path}`);
  });

  test('a table that nobody knows how to make is told', () => {
    expect(() => withTables('<!-- weather -->\nsun\n<!-- /weather -->\n')).toThrow('got <!-- weather -->');
  });
});

describe('the files for Grafana and Prometheus', () => {
  test.each([...generatedFiles()])('grafana/%s is what the code makes', async (path, text) => {
    await expect(text, `grafana/${path} ${ANEW}`).toMatchFileSnapshot(`../../grafana/${path}`);
  });

  test('are the same each time they are made', () => expect(generatedFiles()).toEqual(generatedFiles()));
});
