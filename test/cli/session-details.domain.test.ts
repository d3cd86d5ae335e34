import { expect, test } from '@jest/globals';
import { sessionDetails } from '../../cli/commands/sessions/show-session.ts';
import type { SessionDetail } from '../../domain/sessions/detail-schema.ts';
import { sessionDetail } from '../support/temporal/session-answers.ts';

const JOB: NonNullable<SessionDetail['job']> = {
  name: 'cfs-1',
  profile: 'restricted',
  exit_codes: { 'git-clone': 0, ansible: 137, teardown: null },
  trouble: { code: 'out_of_memory', message: 'ansible needed too much' },
  unverified: 'node not ready',
  waiting_since: null,
  created_at: '2026-11-21T10:00:01.000Z',
  ended_at: '2026-11-21T10:01:00.000Z',
};

const jobLines = (job: SessionDetail['job']) =>
  sessionDetails(sessionDetail('one', { job }), false)
    .split('\n')
    .filter((line) => line.startsWith('Job'))
    .map((line) => line.replace(/ {2,}/, ': '));

test('a session that ran as a Job shows how its containers ended, why, and what nobody verified', () => {
  expect(jobLines(JOB)).toEqual([
    'Job: cfs-1',
    'Job exit codes: git-clone 0, ansible 137, teardown not ended',
    'Job ended by: ansible needed too much (out_of_memory)',
    'Job not verified: node not ready',
  ]);
});

test('a Job that waits shows since when, and nothing of an end', () => {
  const waiting = { ...JOB, exit_codes: {}, trouble: null, unverified: null, ended_at: null };
  expect(jobLines({ ...waiting, waiting_since: '2026-11-21T10:00:02.000Z' })).toEqual([
    'Job: cfs-1',
    'Job waits since: 2026-11-21T10:00:02.000Z',
  ]);
});

test('a session that ran elsewhere shows none of it', () => {
  expect(jobLines(null)).toEqual([]);
});

test('times of CFS, which have no zone, are shown with it', () => {
  const lines = sessionDetails(sessionDetail('one'), false).split('\n');
  const shown = lines.filter((line) => /^(started|ended) /.test(line)).map((line) => line.replace(/ {2,}/, ': '));
  expect(shown).toEqual(['started: 2026-11-21T10:00:00Z', 'ended: 2026-11-21T10:01:05Z']);
});
