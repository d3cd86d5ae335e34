import type { SessionDetail, SessionHost, SessionProgress, StreamEnd } from '../../../domain/sessions/detail-schema.ts';

const SESSION_ID = '0b6c3a52-3f0f-4c9b-9f0e-5b1f0c9a7d11';
const NO_COUNTS = { ok: 0, changed: 0, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
const URL = 'https://git.example.test/one.git';

/** A complete session as GET /api/v1/sessions/{name} answers it. */
export const sessionDetail = (name: string, over: Partial<SessionDetail> = {}): SessionDetail => ({
  name,
  configuration: { name: 'web', limit: '' },
  ansible: { config: 'cfs-default-ansible-cfg', limit: '', verbosity: 0, passthrough: '' },
  target: { definition: 'dynamic', groups: null, image_map: null },
  status: {
    artifacts: [],
    session: {
      job: 'cfs-1',
      ims_job: null,
      start_time: '2026-11-21T10:00:00',
      completion_time: '2026-11-21T10:01:05',
      status: 'complete',
      succeeded: 'true',
      message: '2 layers done on 2 hosts',
    },
  },
  tags: {},
  debug_on_failure: false,
  logs: null,
  id: SESSION_ID,
  phase: 'done',
  layer: null,
  attempt: 1,
  reason: null,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:01:05.000Z',
  started_at: '2026-11-21T10:00:00.000Z',
  ended_at: '2026-11-21T10:01:05.000Z',
  admitted_at: '2026-11-21T10:00:01.000Z',
  queue: null,
  images: [],
  absent_hosts: null,
  job: null,
  attempts: [
    {
      run_id: `${SESSION_ID}-1-0`,
      layer: 0,
      attempt: 1,
      state: 'ended',
      exit_code: 0,
      error: null,
      created_at: '2026-11-21T10:00:02.000Z',
      started_at: '2026-11-21T10:00:02.000Z',
      ended_at: '2026-11-21T10:00:30.000Z',
    },
  ],
  snapshot: {
    layers: [
      {
        index: 0,
        name: 'base',
        playbook: 'site.yml',
        url: URL,
        source: null,
        commit: 'a'.repeat(40),
        require_dkms: false,
      },
      {
        index: 2,
        name: 'app',
        playbook: 'app.yml',
        url: URL,
        source: null,
        commit: 'a'.repeat(40),
        require_dkms: false,
      },
    ],
    additional_inventory: null,
    debug_playbook: null,
    ansible_config: '',
  },
  counts: { ...NO_COUNTS, ok: 5, changed: 2 },
  hosts: { applied: 2, failed: 0, incomplete: 0, not_reached: 0 },
  failures: [],
  retry_of: null,
  retried_by: [],
  cancel: null,
  actor: null,
  updated_by: null,
  links: { self: '', logs: '', events: '', hosts: '', progress: '', temporal: 'http://127.0.0.1:8103/x' },
  ...over,
});

/** Progress of a session that runs its first layer. */
export const sessionProgress = (name: string, over: Partial<SessionProgress> = {}): SessionProgress => ({
  name,
  id: SESSION_ID,
  status: 'running',
  succeeded: 'none',
  phase: 'layer',
  message: 'runs layer 0',
  reason: null,
  layer: 0,
  layers_total: 2,
  attempt: 1,
  play: 'all',
  task: 'copy',
  hosts: { seen: 3, done: 1, failed: 0 },
  counts: { ...NO_COUNTS, ok: 4, changed: 2 },
  elapsed: 1,
  seq: 3,
  ...over,
});

/** The last message of a stream. */
export const streamEnd = (name: string, over: Partial<StreamEnd> = {}): StreamEnd => ({
  name,
  id: SESSION_ID,
  status: 'complete',
  succeeded: 'true',
  message: '2 layers done on 2 hosts',
  reason: null,
  deleted: false,
  ...over,
});

/** A host with one result per layer. */
export const sessionHost = (
  host: string,
  result: SessionHost['result'],
  layers: Partial<SessionHost['layers'][number]>[],
): SessionHost => ({
  host,
  result,
  layers: layers.map((layer) => ({
    layer: 0,
    attempt: 1,
    status: 'applied',
    ok: 0,
    changed: 0,
    failures: 0,
    unreachable: 0,
    skipped: 0,
    rescued: 0,
    ignored: 0,
    uncertain: 0,
    recorded: true,
    message: null,
    ...layer,
  })),
});
