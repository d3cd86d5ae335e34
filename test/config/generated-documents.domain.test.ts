import { expect, test } from '@jest/globals';
import { committedPage, PAGES } from '../support/docs/pages.ts';

test.each(Object.entries(PAGES))('docs/%s is what `npm run docs` writes', async (name, page) => {
  expect(await committedPage(name)).toBe(page());
});
