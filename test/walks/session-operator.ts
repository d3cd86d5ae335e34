import { expect } from '@jest/globals';
import type { Exchange, Walk } from './walk.ts';

const NAME = 'walk-operated';
const JOB = 'cfs-0f4c0d1e-54f3-4f0a-8a57-1d7e4d6a9b01';
const path = `/v3/sessions/${NAME}`;

const patch = (does: string, session: object, more: Partial<Exchange> = {}): Exchange => ({
  does,
  method: 'PATCH',
  path,
  body: { status: { session } },
  status: 200,
  ...more,
});

const artifact = {
  image_id: '3b1e2a5c-1c7b-4a0e-8d0f-0b8c1b0f2a11',
  result_id: '8e5f0a1d-2b3c-4d5e-9f60-718293a4b5c6',
  type: 'ims_customized_image',
};

/** Session engine of CFS and its teardown container: job, start, artifacts, end; and its clean-up (cfs-flows 1.1, 1.8). */
export const sessionOperator: Walk = {
  client: 'session operator',
  base: '',
  headers: { host: 'cray-cfs-api' },
  steps: [
    {
      does: 'reads the options: none that it knows is missing',
      method: 'GET',
      path: '/v3/options',
      status: 200,
      reads: {
        session_ttl: '7d',
        additional_inventory_url: '',
        additional_inventory_source: '',
        logging_level: 'INFO',
        debug_wait_time: 3600,
        default_ansible_config: 'cfs-default-ansible-cfg',
      },
    },
    {
      does: 'reads all sessions for those with a job',
      method: 'GET',
      path: '/v3/sessions',
      status: 200,
      pages: { kind: 'sessions', by: 'next' },
    },
    {
      does: '(set-up) a session that waits',
      method: 'POST',
      path: '/v3/sessions',
      body: { name: NAME, configuration_name: '{{configuration}}', ansible_limit: 'walk-nobody' },
      status: 201,
      reads: {
        status: {
          artifacts: [],
          session: { status: 'pending', succeeded: 'none', job: null, ims_job: null, completion_time: null },
        },
      },
    },
    {
      does: 'reads its configuration',
      method: 'GET',
      path: '/v3/configurations/{{configuration}}',
      status: 200,
      reads: { layers: [{ clone_url: '{{repository}}', playbook: 'site.yml', commit: '{{commit}}' }, {}] },
    },
    patch(
      'writes the job before it makes it',
      { job: JOB },
      { reads: { status: { session: { job: JOB, status: 'pending' } }, logs: null } },
    ),
    patch(
      'is told, the second time, that there is one',
      { job: JOB },
      { status: 409, reads: { title: 'Session patch conflict.', detail: expect.stringContaining(JOB) } },
    ),
    patch(
      'sees the job start',
      { status: 'running' },
      { reads: { status: { session: { status: 'running', succeeded: 'none' } } } },
    ),
    patch(
      'a late start goes not backwards',
      { status: 'pending' },
      { reads: { status: { session: { status: 'running' } } } },
    ),
    patch(
      'the inventory names its image job',
      { ims_job: 'b6a9a7b2-6d4d-4f0c-bc5a-0f7d3ed0a9c1' },
      { reads: { status: { session: { ims_job: expect.any(String) } } } },
    ),
    {
      does: 'teardown adds an artifact',
      method: 'PATCH',
      path,
      body: { status: { artifacts: [artifact] } },
      status: 200,
      reads: { status: { artifacts: [artifact] } },
    },
    {
      does: 'teardown adds it again after a time-out',
      method: 'PATCH',
      path,
      body: { status: { artifacts: [artifact] } },
      status: 200,
      reads: { status: { artifacts: [artifact] } },
    },
    patch(
      'sees the job complete',
      { status: 'complete', succeeded: 'true', completion_time: '2026-11-21T12:34:56' },
      {
        reads: {
          status: { session: { status: 'complete', succeeded: 'true', completion_time: '2026-11-21T12:34:56' } },
        },
      },
    ),
    patch(
      'a late failure changes nothing',
      { succeeded: 'false' },
      { reads: { status: { session: { succeeded: 'true' } } } },
    ),
    {
      does: 'may patch nothing but the status',
      method: 'PATCH',
      path,
      body: { tags: { a: 'b' } },
      status: 400,
      reads: { title: 'Bad Request', detail: expect.stringContaining('status') },
    },
    {
      does: 'monitors it',
      method: 'GET',
      path,
      status: 200,
      reads: {
        name: NAME,
        status: {
          artifacts: [artifact],
          session: {
            job: JOB,
            status: 'complete',
            succeeded: 'true',
            start_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/),
          },
        },
      },
    },
    {
      does: 'deletes what is older than the time to live',
      method: 'DELETE',
      path: '/v3/sessions',
      query: { status: 'complete', min_age: '7d' },
      status: 200,
      is: { session_ids: [] },
    },
    { does: 'an administrator deletes the session', method: 'DELETE', path, status: 204 },
    {
      does: 'sees that it is gone and lets go of it',
      method: 'GET',
      path,
      status: 404,
      reads: { title: 'Session not found.' },
    },
  ],
};

const old = '/v2/sessions/walk-operated-old';
const patch2 = (does: string, session: object, more: Partial<Exchange> = {}): Exchange => ({
  does,
  method: 'PATCH',
  path: old,
  body: { status: { session } },
  status: 200,
  ...more,
});

/** The session engine of an older release, which speaks version 2. */
export const sessionOperatorV2: Walk = {
  client: 'session operator, version 2',
  base: '',
  headers: { host: 'cray-cfs-api' },
  steps: [
    {
      does: '(set-up) a session that waits',
      method: 'POST',
      path: '/v2/sessions',
      body: { name: 'walk-operated-old', configurationName: '{{configuration}}', ansibleLimit: 'walk-nobody' },
      status: 200,
    },
    {
      does: 'reads all sessions',
      method: 'GET',
      path: '/v2/sessions',
      status: 200,
      reads: expect.arrayContaining([expect.objectContaining({ name: 'walk-operated-old' })]),
    },
    patch2('writes the job', { job: JOB }, { reads: { status: { session: { job: JOB } } } }),
    patch2('writes another job', { job: `${JOB}-2` }, { reads: { status: { session: { job: `${JOB}-2` } } } }),
    patch2(
      'sees it run',
      { status: 'running', startTime: '2026-11-21T12:00:00' },
      { reads: { status: { session: { status: 'running' } } } },
    ),
    patch2(
      'sees it fail',
      { status: 'complete', succeeded: 'false', completionTime: '2026-11-21T12:34:56' },
      {
        reads: {
          status: { session: { status: 'complete', succeeded: 'false', completionTime: '2026-11-21T12:34:56' } },
        },
      },
    ),
    {
      does: 'deletes old ones',
      method: 'DELETE',
      path: '/v2/sessions',
      query: { status: 'complete', age: '7d' },
      status: 204,
    },
    { does: 'deletes it', method: 'DELETE', path: old, status: 204 },
  ],
};
