/** Requests that write images, and the audit records that they leave. */
import { PUBLIC_KEY, smallTar } from '../images/fixtures.ts';
import type { TokenApi } from '../support/stack/token-api.ts';
import { some, type WrittenRoute } from './written-route.ts';

const IMAGE = '0a000000-0000-4000-8000-00000000000';
const makeImage = (id: string) => async (api: TokenApi) => {
  const now = new Date();
  const none = { link: null, store_id: null, format: null, size: null, sha256: null, made_by: null, made_from: null };
  const row = {
    id,
    name: 'base',
    arch: 'x86_64' as const,
    metadata: '{}',
    created_at: now,
    updated_at: now,
    actor: null,
  };
  await api.deps.db.deleteFrom('images').where('id', '=', id).execute();
  await api.deps.db
    .insertInto('images')
    .values({ ...row, ...none })
    .execute();
};
const makeImageJob = (id: string) => async (api: TokenApi) => {
  const now = new Date();
  const row = { id, image_id: id, arch: 'x86_64' as const, public_key: 'k', status: 'creating' as const, message: '' };
  const rest = { store_id: id, queue: null, host: null, port: null, result_id: id, resultant_image_id: null };
  const request = JSON.stringify({ job_type: 'customize', shell: { name: 's', jail: true } });
  await api.deps.db.deleteFrom('image_jobs').where('id', '=', id).execute();
  await api.deps.db
    .insertInto('image_jobs')
    .values({ ...row, ...rest, request, created_at: now, actor: null })
    .execute();
};

/** Routes of the image service below one of its prefixes; a job needs more than a request, its making is tried elsewhere. */
function imageService(prefix: string, digit: number): Record<string, WrittenRoute> {
  const [image, key, job] = [0, 1, 2].map((kind) => `${IMAGE}${digit + kind}`) as [string, string, string];
  return {
    [`POST ${prefix}/images`]: {
      path: `${prefix}/images`,
      body: { name: 'made' },
      records: [['create', 'image', 'ID', null, some({ name: 'made' })]],
    },
    [`PATCH ${prefix}/images/:id`]: {
      path: `${prefix}/images/${image}`,
      body: { arch: 'aarch64' },
      prepare: makeImage(image),
      records: [['update', 'image', image, { arch: 'x86_64' }, { arch: 'aarch64' }]],
    },
    [`DELETE ${prefix}/images/:id`]: {
      path: `${prefix}/images/${image}`,
      prepare: makeImage(image),
      records: [['delete', 'image', image, some({ name: 'base' }), null]],
    },
    [`POST ${prefix}/public-keys`]: {
      path: `${prefix}/public-keys`,
      body: { name: 'made', public_key: PUBLIC_KEY },
      records: [['create', 'image_public_key', 'ID', null, some({ name: 'made' })]],
    },
    [`DELETE ${prefix}/public-keys/:id`]: {
      path: `${prefix}/public-keys/${key}`,
      prepare: async (api) => {
        const row = { id: key, name: 'k', public_key: 'p', created_at: new Date(), actor: null };
        await api.deps.db.insertInto('image_public_keys').values(row).execute();
      },
      records: [['delete', 'image_public_key', key, some({ name: 'k' }), null]],
    },
    [`POST ${prefix}/jobs`]: {
      path: `${prefix}/jobs`,
      body: { job_type: 'customize', image_root_archive_name: 'out', artifact_id: image, public_key_id: key },
      prepare: async (api) => {
        await makeImage(image)(api);
        await api.deps.db.updateTable('images').set({ store_id: image }).where('id', '=', image).execute();
        const row = { id: key, name: 'k', public_key: PUBLIC_KEY, created_at: new Date(), actor: null };
        await api.deps.db.insertInto('image_public_keys').values(row).execute();
        const worker = { queue: 'q', able: true, reason: '', seen_at: api.deps.clock() };
        await api.deps.db
          .insertInto('image_workers')
          .values({ ...worker, store_id: image })
          .execute();
      },
      records: [['create', 'image_job', 'ID', null, some({ status: 'creating' })]],
    },
    [`PATCH ${prefix}/jobs/:id`]: {
      path: `${prefix}/jobs/${job}`,
      body: { status: 'error' },
      prepare: makeImageJob(job),
      records: [],
      nothing: 'how a job goes is its own record',
    },
    [`DELETE ${prefix}/jobs/:id`]: {
      path: `${prefix}/jobs/${job}`,
      prepare: makeImageJob(job),
      records: [['delete', 'image_job', job, {}, {}]],
    },
    [`DELETE ${prefix}/jobs`]: {
      path: `${prefix}/jobs?status=fetching_image`,
      records: [],
      nothing: 'no job is in that status',
    },
  };
}

export const IMAGE_ROUTES: Record<string, WrittenRoute> = {
  ...imageService('/apis/ims', 0),
  ...imageService('/apis/ims/v2', 3),
  'POST /api/v1/images': {
    path: '/api/v1/images?name=made',
    body: smallTar().toString(),
    records: [['create', 'image', 'ID', null, some({ name: 'made' })]],
  },
  'DELETE /api/v1/images/:id': {
    path: `/api/v1/images/${IMAGE}9`,
    prepare: makeImage(`${IMAGE}9`),
    records: [['delete', 'image', `${IMAGE}9`, some({ name: 'base' }), null]],
  },
};
