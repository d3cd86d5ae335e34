/** What is said of bodies besides their schemas: examples, bodies that may be absent, other types of answers. */
import type { z } from 'zod';
import { SessionCancelSchema, SessionRetrySchema } from '../../domain/sessions/schema.ts';

/** Bodies that a client may leave out; by operation. */
export const OPTIONAL_BODIES: Record<string, z.ZodType> = {
  post_session_cancel: SessionCancelSchema,
  post_session_retry: SessionRetrySchema,
};

const LIVE = 'text/event-stream';

/** Types that a client may ask for instead of JSON; by operation. */
export const OTHER_MEDIA: Record<string, readonly string[]> = {
  get_session_events: [LIVE],
  get_session_logs: [LIVE, 'text/plain'],
  get_session_hosts: [LIVE],
  get_session_progress: [LIVE],
  get_run_events: [LIVE],
  get_run_logs: [LIVE, 'text/plain'],
};

/** Answers that are text and never JSON; by operation. */
export const TEXT_ANSWERS: ReadonlySet<string> = new Set(['get_trust_ca']);

const BINARY = 'application/octet-stream';

/** Types of answers that are neither JSON nor text, and of bodies that are no JSON; by operation. */
export const BINARY_ANSWERS: Readonly<Record<string, string>> = { get_image_content: BINARY };
export const BINARY_BODIES: Readonly<Record<string, string>> = { post_images: BINARY };

const COMMIT = '3f786850e387550fdab836ed7e6dc881de23001b';
const CLONE_URL = 'https://git.example.com/site.git';

const layer = { name: 'base', clone_url: CLONE_URL, playbook: 'site.yml', branch: 'main' };
const layerV2 = { name: 'base', cloneUrl: CLONE_URL, playbook: 'site.yml', branch: 'main' };
const report = { clone_url: CLONE_URL, playbook: 'site.yml', commit: `${COMMIT}_failed`, session_name: 'nightly' };
const reportV2 = { cloneUrl: CLONE_URL, playbook: 'site.yml', commit: `${COMMIT}_failed`, sessionName: 'nightly' };

/** Examples of request bodies, by operation and name. */
export const REQUEST_EXAMPLES: Record<string, Record<string, unknown>> = {
  patch_options_v3: { limits: { default_batcher_retry_policy: 5, session_ttl: '30d' } },
  patch_options_v2: { limits: { defaultBatcherRetryPolicy: 5, sessionTTL: '30d' } },
  put_components_v3: { two: [{ id: 'x1', desired_config: 'site', enabled: true }, { id: 'x2' }] },
  put_components_v2: { two: [{ id: 'x1', desiredConfig: 'site', enabled: true }, { id: 'x2' }] },
  patch_components_v3: {
    list: [{ id: 'x1', enabled: false }],
    filter: { patch: { desired_config: 'site' }, filters: { status: 'failed', tags: 'role=compute' } },
  },
  patch_components_v2: {
    list: [{ id: 'x1', enabled: false }],
    filter: { patch: { desiredConfig: 'site' }, filters: { status: 'failed', tags: 'role=compute' } },
  },
  put_component_v3: { new: { desired_config: 'site', enabled: true, tags: { role: 'compute' } } },
  put_component_v2: { new: { desiredConfig: 'site', enabled: true, tags: { role: 'compute' } } },
  patch_component_v3: {
    desire: { desired_config: 'site', tags: { role: 'compute', old: '' } },
    report: { state_append: report, error_count: 1 },
    again: { state: [], error_count: 0 },
  },
  patch_component_v2: {
    desire: { desiredConfig: 'site', tags: { role: 'compute', old: '' } },
    report: { stateAppend: reportV2, errorCount: 1 },
  },
  put_configuration_v3: { branch: { description: 'The whole site', layers: [layer] } },
  put_configuration_v2: { branch: { description: 'The whole site', layers: [layerV2] } },
  post_sources_v3: {
    password: { name: 'site', clone_url: CLONE_URL, credentials: { username: 'reader', password: 'example' } },
  },
  post_source_v3: {
    restore: { clone_url: CLONE_URL, credentials: { authentication_method: 'password', secret_name: 'site-git' } },
  },
  patch_source_v3: { rotate: { credentials: { username: 'reader', password: 'another example' } } },
  post_sessions_v3: {
    small: { name: 'nightly', configuration_name: 'site' },
    limited: { name: 'one-host', configuration_name: 'site', ansible_limit: 'x1', configuration_limit: 'base' },
  },
  post_sessions_v2: { small: { name: 'nightly', configurationName: 'site' } },
  post_components_reset_errors: { two: { ids: ['x1', 'x2'] } },
  post_import_components: { two: { records: [{ id: 'x1', desired_config: 'site', state: [] }, { id: 'x2' }] } },
  post_import_configurations: { one: { records: [{ name: 'site', layers: [] }] } },
  post_import_options: { one: { records: [{ name: 'batch_size', value: 50 }] } },
  post_images_ims: { elsewhere: { name: 'compute', link: { type: 's3', path: 's3://boot-images/1/manifest.json' } } },
  post_public_keys_ims: {
    key: {
      name: 'me',
      public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG0QDp66ka6wisVUOtzGZZVxOVAAwBeT6jeRy/mrYjdO me',
    },
  },
  post_tokens: {
    reporter: { role: 'node', component: 'x1' },
    week: { role: 'operator', name: 'ci', expires_in: 604800 },
  },
  put_secret: { value: { value: 'example' } },
  post_session_cancel: { reason: { reason: 'maintenance begins' } },
  post_session_retry: { failed: { hosts: 'failed' } },
};
