/** Plans whose actions are playbooks: the real Ansible and the real launcher, on hosts with a real sshd. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type AnsibleDependencies, createAnsibleHandler } from '../../../activities/propagation/ansible-handler.ts';
import { createAttemptRuns } from '../../../activities/propagation/attempt-runs.ts';
import { runAttempt } from '../../../activities/propagation/run-attempt.ts';
import { abandonPlan } from '../../../control/propagation/command-plan.ts';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { putDefinition } from '../../../control/propagation/put-definition.ts';
import { musterError } from '../../../domain/errors.ts';
import { createActionLogins } from '../../../drivers/actions/action-logins.ts';
import { createActionWorkspaces } from '../../../drivers/actions/action-workspaces.ts';
import { GENERATED_INVENTORY, inventoryData } from '../../../drivers/inventory/write-inventory.ts';
import { baseEnvironment } from '../../../worker/base-environment.ts';
import { ansibleBin } from '../../support/ansible/ansible.ts';
import { openLocalRuns } from '../../support/ansible/local-runs.ts';
import { startSshServer } from '../../support/ansible/ssh-server.ts';
import { createMemorySecretStore } from '../../support/fakes/memory-secret-store.ts';
import { SITE } from '../../support/kubernetes/site-stand-ins.ts';
import { openPlans } from './plan-bench.ts';

const ROOT = join(import.meta.dirname, '../../..');
const never = new AbortController().signal;

export type PlaybookBench = Awaited<ReturnType<typeof openPlaybooks>>;

/** One play of these tasks on the host of the action. */
export const play = (tasks: string): string => `
- hosts: all
  gather_facts: false
  tasks:
${tasks.trim().replaceAll(/^/gm, '    ')}
`;

export async function openPlaybooks() {
  const plans = await openPlans();
  const dir = await mkdtemp(join(tmpdir(), 'muster-playbooks-'));
  const runs = await openLocalRuns();
  const server = await startSshServer(join(dir, 'sshd'));
  const secrets = createMemorySecretStore();
  const key = await readFile(server.keyFile, 'utf8');
  await secrets.put('propagation-ssh', 'key', key);
  const ansible = ansibleBin();
  const shipped = await readFile(join(ROOT, 'ansible', 'ansible.cfg'), 'utf8');
  const deps: AnsibleDependencies & typeof plans.deps = {
    ...plans.deps,
    secrets,
    site: { ...SITE, ssh: async () => ({ privateKey: key, knownHosts: '' }), ansibleConfig: async () => shipped },
    trust: {
      hasOwnKey: false,
      identity: async () => {
        throw musterError('trust_unavailable', 'there is no authority');
      },
    },
    workspaces: createActionWorkspaces({ runsDir: runs.runsDir }),
    logins: createActionLogins({ runsDir: runs.runsDir, shortDir: dir }),
    inventoryText: (tree) => [...inventoryData(tree)].join(''),
    inventoryFile: GENERATED_INVENTORY,
    playbookCommand: join(ansible, 'ansible-playbook'),
    baseEnvironment: baseEnvironment({ PATH: process.env.PATH, HOME: dir }, ansible),
    logMaxBytes: 64 * 2 ** 20,
    allowsLocal: true,
  };
  const hostKey = server.knownHosts.split(' ').slice(1).join(' ').trim();
  const bench = {
    ...plans,
    dir,
    runs,
    server,
    secrets,
    deps,
    shipped,
    /** A definition of playbooks; `more` is added to its `meta.yaml`. */
    async define(name: string, input: object, files: Record<string, string>) {
      const meta = JSON.stringify({ version: '1.0.0', handler: 'ansible_playbook', input });
      const content = { 'meta.yaml': meta, ...files };
      await putDefinition(plans.deps, {
        repository: 'resources',
        name,
        version: '1.0.0',
        files: content,
        overwrite: true,
      });
    },
    /** A node at the server, with its transport. */
    async node(name = 'n1', transport: object = {}) {
      await createResource(plans.deps, { name, from: 'muster/node', inputs: { ip: '127.0.0.1' } });
      const inputs = {
        ...{ user: server.user, port: server.port, host_key: hostKey },
        ...{ key: { secret: 'propagation-ssh', key: 'key' }, ...transport },
      };
      await createResource(plans.deps, { name: `${name}-ssh`, from: 'muster/transport_ssh', inputs });
      await plans.connect(`${name}-ssh`, name, {}, 'none');
    },
    /** Resource `web` of definition `web`, on a node. */
    async web(inputs: Record<string, unknown> = {}, on: string | null = 'n1') {
      await createResource(plans.deps, { name: 'web', from: 'web', inputs });
      if (on !== null) await plans.connect(on, 'web', {}, 'none');
    },
    /** Executes one attempt of a plan. */
    bring(plan: string, attempt: string, instead: Partial<AnsibleDependencies> = {}) {
      const handlers = { ansible_playbook: createAnsibleHandler({ ...deps, ...instead }) };
      const hostId = 'playbook-machine';
      const attempts = createAttemptRuns({ ...plans.deps, runner: runs.runner, hostId, handlers, startPauses: [] });
      return runAttempt({ ...plans.deps, hostId, attempts }, { plan, attempt }, never);
    },
    /** Processes what is staged, and executes it. Returns the node of the action of `web`. */
    async execute(instead: Partial<AnsibleDependencies> = {}) {
      const { id } = await plans.process();
      await plans.start(id);
      for (;;) {
        const { isOver, attempts } = await plans.advance(id);
        if (isOver) break;
        for (const { attempt } of attempts) await bench.bring(id, attempt, instead);
      }
      const node = (await plans.nodes(id)).find(({ resource }) => resource === 'web');
      if (node === undefined) throw new Error('web is not in the plan');
      return node;
    },
    /** Gives up the plans that have failed, so that their changes are free. */
    async abandonAll() {
      const rows = await plans.db.selectFrom('propagation_plans').select('id').where('state', '=', 'failed').execute();
      for (const { id } of rows) await abandonPlan(plans.deps, id);
    },
    component: (id: string, tags: Record<string, string>) =>
      plans.db
        .insertInto('components')
        .values({
          ...{ id, tags: JSON.stringify(tags), state: '[]', desired_config: '', enabled: true, error_count: 0 },
          ...{ retry_policy: null, updated_at: new Date(0), actor: null },
        })
        .execute(),
    /** The tables that have a text in any row. */
    async tablesWith(text: string): Promise<string[]> {
      const { rows } = await sql<{ name: string }>`
        select table_name as name from information_schema.tables
        where table_schema = current_schema() and table_type = 'BASE TABLE'`.execute(plans.db);
      const found: string[] = [];
      for (const { name } of rows) {
        const query = sql`select 1 from ${sql.table(name)} as t where strpos(t::text, ${text}) > 0 limit 1`;
        if ((await query.execute(plans.db)).rows.length > 0) found.push(name);
      }
      return found;
    },
    /** All that runs have printed. */
    async output() {
      const rows = await plans.db.selectFrom('output').select('text').orderBy('seq').execute();
      return rows.map(({ text }) => text).join('');
    },
    async close() {
      await server.stop();
      await runs.close();
      await plans.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
  return bench;
}
