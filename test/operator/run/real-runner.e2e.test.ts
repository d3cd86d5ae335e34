/** Reconciles by the real ansible-runner: what a playbook gets, and what of it is left. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import { type OperatorBench, openOperatorBench } from '../../support/operator/operator-process.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { ROOT } from '../../support/source-tree.ts';

const BOOTSTRAP = join(ROOT, 'bootstrap', 'run.mjs');

const PLAYBOOK = `
- hosts: localhost
  gather_facts: false
  roles: [known]
  tasks:
    - ansible.builtin.copy:
        content: "{{ {'size': max_size, 'text': text, 'meta': ansible_operator_meta, 'whole': _demo_io_widget.metadata.name, 'env': lookup('env', 'KUBECONFIG'), 'own': lookup('env', 'MUSTER_DATABASE_URL')} | to_json }}"
        dest: "{{ to }}/{{ ansible_operator_meta.name }}.json"
        mode: "0600"
      no_log: true
    - block:
        - ansible.builtin.fail: {msg: rescued}
      rescue:
        - ansible.builtin.debug: {msg: went on}
    - ansible.builtin.fail: {msg: "{{ broken }}"}
      when: broken is defined
`;

describeNeeding(kubernetesMissing(), 'a playbook', () => {
  let bench: OperatorBench;
  beforeAll(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [BOOTSTRAP, 'operator-ansible'], {
      encoding: 'utf8',
    });
    const runner = join(stdout.trim(), 'bin', 'ansible-runner');
    bench = await openOperatorBench({ vars: { to: '{{ playbook_dir }}' } });
    writeFileSync(join(bench.home, 'playbook.yml'), PLAYBOOK);
    mkdirSync(join(bench.home, 'roles', 'known', 'tasks'), { recursive: true });
    writeFileSync(join(bench.home, 'roles', 'known', 'tasks', 'main.yml'), '- ansible.builtin.debug: {msg: known}\n');
    await bench.start({ env: { MUSTER_ANSIBLE_RUNNER: runner } });
  }, 600_000);
  afterAll(() => bench?.close());

  test('gets the variables, finds roles of the home by name, and is ok after a rescue; templates in a spec stay text', async () => {
    await bench.create('real', { maxSize: 3, text: '{{ 1 + 1 }}' });
    const list = await bench.condition('real', 'Successful', 'True');
    expect(list.find(({ type }) => type === 'Running')?.ansibleResult).toMatchObject({
      failures: 0,
      rescued: 1,
      changed: 1,
    });
    const written = JSON.parse(readFileSync(join(bench.home, 'real.json'), 'utf8'));
    expect(written).toMatchObject({ size: 3, text: '{{ 1 + 1 }}', whole: 'real', own: '' });
    expect(written.meta).toEqual({ name: 'real', namespace: 'default' });
    const runs = join(bench.home, '.data', 'operator', 'runs');
    const [run = ''] = readdirSync(runs);
    expect(written.env).toBe(join(runs, run, 'kubeconfig'));
    // What held the spec and credentials is gone; the events and the output stay.
    expect(readdirSync(join(runs, run, 'runner')).sort()).toEqual(['artifacts', 'project']);
    expect(existsSync(join(runs, run, 'kubeconfig'))).toBe(false);
    const artifacts = readdirSync(join(runs, run, 'runner', 'artifacts', run));
    expect(artifacts).toEqual(expect.arrayContaining(['job_events', 'rc', 'stdout']));
    expect(artifacts).not.toContain('command');
  });

  test('a failure is told in the status, and its events are on record', async () => {
    await bench.create('bad', { maxSize: 1, text: 'x', broken: 'boom' });
    const list = await bench.condition('bad', 'Failure', 'True');
    expect(list.find(({ type }) => type === 'Failure')?.message).toMatch(/boom$/);
    const events = await bench.db
      .selectFrom('events')
      .select(['type', 'data'])
      .where('type', '=', 'host_result')
      .execute();
    expect(events.map(({ data }) => data.result)).toEqual(expect.arrayContaining(['ok', 'skipped', 'failed']));
    const results = await bench.db.selectFrom('host_results').select(['host', 'failures', 'rescued']).execute();
    expect(results).toContainEqual({ host: 'localhost', failures: 1, rescued: 1 });
  });
});
