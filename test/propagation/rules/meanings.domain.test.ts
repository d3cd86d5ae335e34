/** A code that two lanes answer with statuses of their own: git's repositories and those of definitions. */
import { describe, expect, test } from '@jest/globals';
import { failureOfAnswer } from '../../../cli/failure.ts';
import { repositoryNotFound } from '../../../control/propagation/put-definition.ts';
import { ERROR_TABLES, ERRORS, kindOf, musterError, OTHER_MEANINGS, problemOf } from '../../../domain/errors.ts';

const title = 'Repository not found';

describe('repository_not_found', () => {
  test('of git is answered as ever', () => {
    const problem = problemOf(musterError('repository_not_found', 'there is no such repository'));
    const detail = 'there is no such repository';
    expect(problem).toEqual({ type: 'about:blank', title, status: 400, detail, code: 'repository_not_found' });
    expect(failureOfAnswer(problem.status, problem)).toMatchObject({ exit: 1, fix: undefined });
    expect(kindOf('repository_not_found')).toMatchObject({ status: 400, exit: 1, controller: true });
  });

  test('of definitions is 404 and exit status 3, with advice', () => {
    const problem = problemOf(repositoryNotFound('apps'));
    const detail = 'There is no repository apps';
    expect(problem).toEqual({ type: 'about:blank', title, status: 404, detail, code: 'repository_not_found' });
    const fix = expect.stringContaining('./muster repository list');
    expect(failureOfAnswer(problem.status, problem)).toMatchObject({ code: 'repository_not_found', exit: 3, fix });
    expect(kindOf('repository_not_found', 404)).toMatchObject({ exit: 3, controller: false });
  });
});

test('other meanings are of codes that another lane has in its table, with another status', () => {
  for (const [lane, meanings] of Object.entries(OTHER_MEANINGS)) {
    const own: object = ERROR_TABLES[lane as keyof typeof ERROR_TABLES];
    for (const [code, { status }] of Object.entries(meanings)) {
      expect([code, Object.hasOwn(own, code)]).toEqual([code, false]);
      expect(ERRORS[code as keyof typeof ERRORS].status).not.toBe(status);
    }
  }
});
