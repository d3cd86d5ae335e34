/** Plans whose shell actions run over ssh: a real sshd behind a way that can be cut, with a sudo that does as it is told. */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShellHandlerDependencies } from '../../../activities/propagation/shell-handler.ts';
import { abandonPlan } from '../../../control/propagation/command-plan.ts';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { musterError } from '../../../domain/errors.ts';
import { targetFolder } from '../../../domain/propagation/remote-shell.ts';
import { runIdOfOwner } from '../../../domain/runs/owner.ts';
import { startSshServer } from '../../support/ansible/ssh-server.ts';
import { eventually } from '../../support/eventually.ts';
import { openProxy } from '../../support/fakes/tcp-proxy.ts';
import { SITE } from '../../support/kubernetes/site-stand-ins.ts';
import { openShellPlans } from './shell-bench.ts';

export type TargetBench = Awaited<ReturnType<typeof openTargetPlans>>;

/** Stands in for sudo: it wants to be asked for no password, and refuses where a file says so. */
const sudoOf = (dir: string): string => `#!/bin/sh
test "$1" = -n && test "$2" = -H && test "$3" = -- || exit 64
if test -e ${dir}/refuses; then echo 'sudo: a password is required' >&2; exit 1; fi
shift 3
exec env BY_SUDO=yes "$@"
`;

/** A target that does not answer is asked so often; pauses in ms. */
const TRIES = { count: 100, pauseMs: 100 };

export async function openTargetPlans(instead: Partial<ShellHandlerDependencies> = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'muster-target-'));
  const bin = join(dir, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'sudo'), sudoOf(dir));
  await chmod(join(bin, 'sudo'), 0o755);
  const server = await startSshServer(join(dir, 'sshd'), {
    environment: { PATH: `${bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`, FAR: 'yes' },
  });
  const way = await openProxy(`127.0.0.1:${server.port}`);
  const port = Number(way.address.split(':')[1]);
  const key = await readFile(server.keyFile, 'utf8');
  const site = {
    ...SITE,
    ssh: async () => ({ privateKey: key, knownHosts: '' }),
    ansibleConfig: async () => '[defaults]\nhost_key_checking = False\n',
  };
  const trust = {
    hasOwnKey: false,
    identity: async () => {
      throw musterError('trust_unavailable', 'there is no authority');
    },
  };
  const shell = await openShellPlans({ instead: { site, trust, endTries: TRIES, ...instead } });
  await shell.secrets.put('propagation-ssh', 'key', key);
  const hostKey = server.knownHosts.split(' ').slice(1).join(' ').trim();
  const bench = {
    ...shell,
    dir,
    server,
    way,
    port,
    key,
    /** A node at the server, with its transport. */
    async node(transport: object = {}) {
      await createResource(shell.deps, { name: 'n1', from: 'muster/node', inputs: { ip: '127.0.0.1' } });
      const inputs = {
        ...{ user: server.user, port, host_key: hostKey, key: { secret: 'propagation-ssh', key: 'key' } },
        ...transport,
      };
      await createResource(shell.deps, { name: 'n1-ssh', from: 'muster/transport_ssh', inputs });
      await shell.connect('n1-ssh', 'n1', {}, 'none');
    },
    /** A definition of one action, and a resource of it at the node, which a plan is to run. Returns the plan. */
    async action(
      script: string,
      {
        meta = '',
        files = {},
        inputs = {},
        on = 'n1',
      }: {
        meta?: string;
        files?: Record<string, string>;
        inputs?: Record<string, unknown>;
        on?: string | null;
      } = {},
    ): Promise<string> {
      await shell.put('one', `version: 1.0.0\nhandler: shell\n${meta}`, { 'actions/run.sh': script, ...files });
      await createResource(shell.deps, { name: 'a', from: 'one', inputs });
      if (on !== null) await shell.connect(on, 'a', {}, 'none');
      return (await shell.process()).id;
    },
    /** Brings a plan to its end; the node of the action. */
    async ended(plan: string) {
      await shell.execute(plan);
      return bench.nodeOf(plan);
    },
    /** Brings a plan so far that its action works at the target; `letGo` takes its watcher away. */
    async begun(plan: string) {
      await shell.start(plan);
      let attempt = '';
      await eventually('its attempt', async () => {
        for (const open of (await shell.advance(plan)).attempts) attempt = open.attempt;
        return attempt !== '';
      });
      const watch = new AbortController();
      const watcher = shell.bring(plan, attempt, watch.signal).then(
        () => 'over',
        () => 'let go',
      );
      await eventually('it begins', async () => (await bench.noted(plan)).length === 1);
      const letGo = async () => {
        watch.abort();
        if ((await watcher) === 'over') throw new Error('the action is over');
      };
      return { attempt, letGo };
    },
    async nodeOf(plan: string) {
      const node = (await shell.nodes(plan)).find(({ resource }) => resource === 'a');
      if (node === undefined) throw new Error('a is not in the plan');
      return node;
    },
    /** The newest attempt of the action, with its run and its folder at the target. */
    async attempt(plan: string) {
      const attempt = (await shell.attempts(plan)).filter(({ name }) => name.startsWith('a.')).at(-1);
      if (attempt === undefined) throw new Error('a has no attempt');
      return {
        ...attempt,
        run: runIdOfOwner({ kind: 'attempt', id: attempt.id }, 1),
        folder: targetFolder(attempt.id),
      };
    },
    async output(plan: string) {
      return shell.runs.read((await bench.attempt(plan)).run, 'output.log');
    },
    /** Types and contents of what was noted of the run. */
    async noted(plan: string) {
      const { run } = await bench.attempt(plan);
      const query = shell.db.selectFrom('events').select(['type', 'data']).where('stream_id', '=', run);
      return query.where('type', 'like', 'target_%').orderBy('seq').execute();
    },
    /** A script that ignores TERM, with a process that has left its session and its environment behind. */
    stubborn: `
      trap '' TERM
      setsid env -i bash -c 'trap "" TERM; echo $$ > ${join(dir, 'shed')}; while :; do sleep 0.2; done' &
      echo $$ > ${join(dir, 'own')}
      while :; do sleep 0.2; done
    `,
    /** Waits for both of its processes. */
    async stubbornBegan() {
      const pidOf = (name: string) =>
        eventually(`process ${name}`, async () => {
          const text = await readFile(join(dir, name), 'utf8').catch(() => '');
          return Number(text) || null;
        });
      return [await pidOf('own'), await pidOf('shed')];
    },
    async abandonAll() {
      const rows = await shell.db.selectFrom('propagation_plans').select('id').where('state', '=', 'failed').execute();
      for (const { id } of rows) await abandonPlan(shell.deps, id);
    },
    component: (id: string, tags: Record<string, string>) =>
      shell.db
        .insertInto('components')
        .values({
          ...{ id, tags: JSON.stringify(tags), state: '[]', desired_config: '', enabled: true, error_count: 0 },
          ...{ retry_policy: null, updated_at: new Date(0), actor: null },
        })
        .execute(),
    async close() {
      await shell.close();
      await way.cut().catch(() => undefined);
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
  return bench;
}
