/** The value of a secret input is for the action alone: no answer, record, history, log, file or process shows it. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { planWorkflowId } from '../../../domain/propagation/workflow-id.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { filesWith, type ProcessWatch, watchProcesses } from '../../support/stack/canary-search.ts';
import { type Answer, type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const BASE = '/api/v1/propagation';
const VALUE = 'CaNaRy-of-a-plan-93b1';
const REFERENCE = { secret: 'propagation-web', key: 'password' };
const MASK = '********';

const SHELL = {
  'meta.yaml': 'version: 1.0.0\nhandler: shell\ninput: {password: {schema: str, secret: true}}\n',
  'actions/run.sh': 'sha256sum < {{ password | quote }}\ncat {{ password | quote }}\nsleep 2\nexit 20\n',
};
const PLAYBOOK = {
  'meta.yaml': 'version: 1.0.0\nhandler: ansible_playbook\ninput: {password: {schema: str, secret: true}}\n',
  'actions/run.yaml': `
- hosts: all
  gather_facts: false
  tasks:
    - fail: {msg: "{{ password | hash('sha256') }} is of {{ password }}"}
`,
};

/** All texts and bytes in a value, as one text. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, member]) => `${key} ${textOf(member)}`)
    .join('\n');
}

describeNeeding(stackMissing(), 'the value of a secret input', () => {
  let stack: MusterStack;
  let watch: ProcessWatch;
  beforeAll(async () => {
    stack = await startMusterStack({}, 'own');
    watch = watchProcesses([VALUE]);
  }, 600_000);
  afterAll(async () => {
    await watch?.stop();
    await stack?.remove();
  });

  async function must(answer: Promise<Answer>) {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body;
  }
  const call = (method: string, path: string, body?: unknown) => must(stack.call(method, BASE + path, body));

  test('is read by its actions, and shows nowhere', async () => {
    await must(stack.call('PUT', `/api/v1/secrets/${REFERENCE.secret}/${REFERENCE.key}`, { value: VALUE }));
    await call('POST', '/repositories', { name: 'apps' });
    for (const [name, files] of Object.entries({ script: SHELL, book: PLAYBOOK })) {
      await call('PUT', `/repositories/apps/definitions/${name}/1.0.0`, { files });
      const inputs = { location_id: 'localhost', password: REFERENCE };
      await call('POST', '/resources', { name, from: `apps/${name}`, inputs });
    }
    const preview = await call('POST', '/changes/process?preview=true', {});
    const simulated = await call('POST', '/changes/simulate', {});
    const { id } = await call('POST', '/changes/process', {});
    await call('POST', `/plans/${id}/run`);
    const stateOf = async () => (await call('GET', `/plans/${id}`)).state;
    await eventually('the plan is over', async () => (await stateOf()) !== 'running', 240_000);
    const { nodes } = await call('GET', `/plans/${id}/nodes`);
    expect(nodes).toMatchObject([{ outcome: 'failed' }, { outcome: 'failed' }]);
    for (const { message } of nodes) expect(message).toContain(MASK);

    const attempts: string[] = [];
    for (const node of ['script.run', 'book.run']) {
      const [attempt] = (await call('GET', `/plans/${id}/nodes/${node}/attempts`)).attempts;
      attempts.push(attempt.id);
      const logs = textOf(await call('GET', `/attempts/${attempt.id}/logs`));
      expect([logs.includes(createHash('sha256').update(VALUE).digest('hex')), logs.includes(MASK)]).toEqual([
        true,
        true,
      ]);
    }

    const ofPlan = ['', '/nodes', '/edges', '/report', '/graph', '/events', '/nodes/script.run', '/nodes/book.run'];
    const ofAttempt = ['', '/events', '/logs'];
    const paths = [
      ...ofPlan.map((path) => `/plans/${id}${path}`),
      ...['script.run', 'book.run'].map((node) => `/plans/${id}/nodes/${node}/explain`),
      ...attempts.flatMap((attempt) => ofAttempt.map((path) => `/attempts/${attempt}${path}`)),
      ...['/plans', '/resources', '/resources/script', '/resources/book', '/changes/staged', '/changes/history'],
      ...['/repositories', '/repositories/apps', '/repositories/apps/definitions/script/1.0.0'],
    ].map((path) => BASE + path);
    const answers = [preview, simulated];
    for (const path of [...paths, '/api/v1/audit', '/api/v1/secrets', '/api/v1/status', '/metrics']) {
      const { status, body } = await stack.call('GET', path);
      expect([path, status]).toEqual([path, 200]);
      answers.push(body);
    }
    expect(answers.map(textOf).filter((text) => text.includes(VALUE))).toEqual([]);

    const history = await stack.temporal((client) => client.workflow.getHandle(planWorkflowId(id)).fetchHistory());
    const told = textOf(history);
    expect([told.includes(attempts[0] ?? ''), told.includes(VALUE)]).toEqual([true, false]);

    await watch.stop();
    expect(watch.looks().count).toBeGreaterThan(10);
    expect(watch.found()).toEqual([]);
    // The files of Postgres and Temporal, the logs of all parts, and what is left of runs.
    const { found, looked } = await filesWith([VALUE], stack.dataDir);
    expect(looked).toBeGreaterThan(100);
    expect(found).toEqual([]);
  }, 600_000);
});
