import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pino from 'pino';
import { createIngestApp } from '../../../api/ingest/ingest-app.ts';
import type { ApiServer } from '../../../api/server/api-server.ts';
import { issueJobToken } from '../../../control/sessions/cluster/session-of-job-token.ts';
import type { RunOrder } from '../../../domain/sessions/job-schema.ts';
import { runIdOf } from '../../../domain/sessions/run-id.ts';
import { ensureRun, findRun } from '../../../store/runs/runs.ts';
import { giveOrder } from '../../../store/sessions/job-orders.ts';
import { findSessionJob, noteTeardown, saveSessionJob } from '../../../store/sessions/session-jobs.ts';
import { ansibleBin, ansibleMissing } from '../../support/ansible/ansible.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { type GitHttpServer, startGitHttpServer } from '../../support/git/git-http-server.ts';
import { createRepository, type TestRepository } from '../../support/git/git-repository.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { makeSession } from '../../support/temporal/engine-sessions.ts';

const ANSIBLE = join(import.meta.dirname, '..', '..', '..', 'ansible');
const ACCOUNT = { username: 'robot', password: 'of the pod/%' };
/** For what a run of Ansible has to do first, ms: on a busy machine one takes long. */
const PATIENCE = 90_000;

describeNeeding(ansibleMissing(), 'the steps of a pod and the ingest port', () => {
  let database: TestDatabase;
  let dir: string;
  let git: GitHttpServer;
  let repository: TestRepository;
  let commit: string;
  let port: number;
  let ingest: ApiServer;
  const children: ChildProcess[] = [];

  const listen = async () => {
    ingest = createIngestApp({
      db: database.db,
      log: pino({ level: 'silent' }),
      clock: () => new Date(),
      spoolSeconds: 600,
      logMax: 1_000_000,
      tls: undefined,
    });
    await ingest.listen({ host: '127.0.0.1', port });
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    dir = await mkdtemp(join(tmpdir(), 'muster-pod-'));
    repository = await createRepository(join(dir, 'git', 'site'));
    commit = await repository.commit(
      {
        'site.yml': [
          '- hosts: all',
          '  gather_facts: false',
          '  tasks:',
          '    - shell: echo said by {{ inventory_hostname }}; while [ -e {{ gate | default("/none") }} ]; do sleep 0.1; done',
          '    - assert:',
          '        that: not cray_cfs_image',
          '    - debug: var=inventory_hostname',
          '',
        ].join('\n'),
      },
      { out: '/etc/passwd' },
    );
    git = await startGitHttpServer({ root: join(dir, 'git'), account: ACCOUNT });
    port = await freePort();
    await listen();
  }, 60_000);
  afterAll(async () => {
    for (const child of children) child.kill('SIGTERM');
    await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
    await ingest?.close();
    await git?.stop();
    await database?.close();
    await rm(dir, { recursive: true, force: true });
  });

  let pod: string;
  let sessionId: string;
  const read = (path: string) => readFile(join(pod, path), 'utf8');
  const job = async () => {
    const found = await findSessionJob(database.db, sessionId);
    if (found === null) throw new Error('the Job is gone');
    return found;
  };

  /** A session with a Job on record, and the folders of its pod. */
  beforeEach(async () => {
    sessionId = (await makeSession(database.db)).id;
    await saveSessionJob(
      database.db,
      {
        sessionId,
        name: `cfs-${randomUUID()}`,
        profile: 'restricted',
        leases: false,
        inventory: {
          files: {
            'hosts/01-cfs-generated.yaml':
              '"all":\n  "hosts":\n    "n1":\n      "ansible_connection": local\n    "n2":\n      "ansible_connection": local\n',
          },
        },
      },
      new Date(),
    );
    const token = await issueJobToken(database.db, sessionId, new Date());
    pod = join(dir, sessionId);
    const clone = { layer: 0, url: `${git.origin}/site`, commit, dest: 'layer0', ...ACCOUNT };
    const files: Record<string, string> = {
      'muster/session/token': token,
      'muster/session/masks.json': JSON.stringify(['said by n2', token]),
      'muster/session/private': 'KEY\n',
      'muster/credentials/credentials.json': JSON.stringify([clone]),
      'tmp/ansible/ansible.cfg': await readFile(join(ANSIBLE, 'ansible.cfg'), 'utf8'),
      'secret-keys/id_ecdsa': 'KEY\n',
      'dev/shm/.keep': '',
      'inventory/.keep': '',
      'muster/work/.keep': '',
    };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(pod, path)), { recursive: true });
      await writeFile(join(pod, path), text);
    }
    await chmod(join(pod, 'muster/session/token'), 0o440);
  });

  function start(step: string): ChildProcess {
    const child = spawn(join(ansibleBin(), 'python3'), ['-m', 'muster_pod', step, '[]'], {
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore'],
      env: {
        PATH: `${ansibleBin()}:${process.env.PATH}`,
        PYTHONPATH: join(ANSIBLE, 'pod'),
        PYTHONDONTWRITEBYTECODE: '1',
        MUSTER_POD_ROOT: pod,
        MUSTER_INGEST_URL: `http://127.0.0.1:${port}`,
        MUSTER_SESSION_ID: sessionId,
      },
    });
    children.push(child);
    return child;
  }

  async function run(step: string): Promise<number | null> {
    const [code] = await once(start(step), 'exit');
    return code;
  }

  /** The order that the engine gives, with the paths of this pod. */
  const order = (attempt: number, more: Partial<RunOrder> = {}): RunOrder => ({
    id: runIdOf(sessionId, attempt, 0),
    layer: 0,
    attempt,
    playbook: 'site.yml',
    debug: false,
    arguments: [],
    limit_file: null,
    cwd: join(pod, 'inventory/layer0'),
    log_max: 1_000_000,
    environment: {
      ANSIBLE_CONFIG: join(pod, 'inventory/ansible.cfg'),
      ANSIBLE_INVENTORY: join(pod, 'inventory/hosts'),
      ANSIBLE_HOME: join(pod, 'muster/work/ansible-home'),
      ANSIBLE_LOCAL_TEMP: join(pod, 'muster/work/tmp'),
      ANSIBLE_REMOTE_TMP: join(pod, 'muster/work/tmp/remote'),
      ANSIBLE_PYTHON_INTERPRETER: join(ansibleBin(), 'python3'),
      ANSIBLE_DISPLAY_OK_HOSTS: 'true',
    },
    ...more,
  });

  async function give(attempt: number, more: Partial<RunOrder> = {}): Promise<string> {
    const given = order(attempt, more);
    const { id, layer } = given;
    await ensureRun(database.db, { id, sessionId, streamId: sessionId, layer, attempt, host: 'pod' }, new Date());
    await giveOrder(database.db, sessionId, { action: 'run', run: given });
    return id;
  }

  const ended = (id: string) =>
    eventually(
      `the end of ${id}`,
      async () => {
        const found = await findRun(database.db, id);
        return found?.state === 'ended' ? found : null;
      },
      PATIENCE,
    );
  const stored = async (id: string) => ({
    events: await database.db.selectFrom('events').select(['type', 'host', 'line']).where('run_id', '=', id).execute(),
    output: (await database.db.selectFrom('output').select('text').where('run_id', '=', id).orderBy('start').execute())
      .map(({ text }) => text)
      .join(''),
  });

  test('clone, inventory and two layers, the ingest port away in the middle: nothing is lost, nothing comes twice', async () => {
    expect(await run('clone')).toBe(0);
    expect((await job()).steps.clone).toEqual({
      state: 'done',
      warnings: ["layer 1: Symbolic link 'out' leads out of the repository and was removed."],
    });
    expect(await run('inventory')).toBe(0);
    expect(await read('inventory/complete')).toBe('0');
    expect((await job()).steps.inventory).toEqual({ state: 'done' });
    expect((await stat(join(pod, 'inventory/ssh/id_ecdsa'))).mode & 0o777).toBe(0o600);

    const ansible = start('ansible');
    await eventually('the container is there', async () => (await job()).steps.ansible?.state === 'started' || null);
    const first = await give(1);
    expect(await ended(first)).toMatchObject({ exitCode: 0 });

    // It goes on for as long as the gate is there.
    const gate = join(pod, 'gate');
    await writeFile(gate, '');
    const second = await give(2, { arguments: ['-e', `gate=${gate}`] });
    const begun = async () => ((await findRun(database.db, second))?.cursor.lines ?? 0) > 0;
    await eventually('the second begins', begun, PATIENCE);
    await ingest.close();
    await rm(gate);
    const exit = () => read(`muster/work/runs/${second}/exit.json`).catch(() => null);
    await eventually('it has ended in the pod', exit, PATIENCE);
    expect((await findRun(database.db, second))?.state).not.toBe('ended');
    await listen();
    expect(await ended(second)).toMatchObject({ exitCode: 0 });

    for (const id of [first, second]) {
      const { events, output } = await stored(id);
      const written = (await read(`muster/work/runs/${id}/events.jsonl`)).trimEnd().split('\n');
      expect(events).toHaveLength(written.length);
      expect(output).toBe(await read(`muster/work/runs/${id}/output.log`));
      expect(output).toContain('PLAY RECAP');
      expect(output + JSON.stringify(events)).not.toContain('said by n2');
    }
    await giveOrder(database.db, sessionId, { action: 'finish', exit_code: 0 });
    const [code] = ansible.exitCode === null ? await once(ansible, 'exit') : [ansible.exitCode];
    expect(code).toBe(0);
  }, 300_000);

  test('what a clone fails with is in the catalogue’s words', async () => {
    const file = join(pod, 'muster/credentials/credentials.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace(ACCOUNT.password, 'wrong'));
    expect(await run('clone')).toBe(1);
    expect((await job()).steps.clone).toMatchObject({ state: 'failed', code: 'repository_auth_failed' });
  });

  test('a playbook that is not there: the reason is known before its run ends', async () => {
    await run('clone');
    await run('inventory');
    const ansible = start('ansible');
    await eventually('the container is there', async () => (await job()).steps.ansible?.state === 'started' || null);
    const id = await give(1, { playbook: 'other.yml' });
    expect(await ended(id)).toMatchObject({ exitCode: 127 });
    expect((await job()).steps.ansible).toMatchObject({ state: 'failed', code: 'playbook_missing' });
    await giveOrder(database.db, sessionId, { action: 'finish', exit_code: 1 });
    const [code] = ansible.exitCode === null ? await once(ansible, 'exit') : [ansible.exitCode];
    expect(code).toBe(1);
  }, 180_000);

  test('the teardown waits for the engine', async () => {
    const teardown = start('teardown');
    await eventually('the container is there', async () => (await job()).steps.teardown?.state === 'started' || null);
    await noteTeardown(database.db, sessionId, { done: true, exit_code: 5 });
    const [code] = teardown.exitCode === null ? await once(teardown, 'exit') : [teardown.exitCode];
    expect(code).toBe(5);
  }, 60_000);

  test('a token of another session is given up at once', async () => {
    const other = sessionId;
    sessionId = (await makeSession(database.db)).id;
    expect(await run('teardown')).toBe(1);
    sessionId = other;
  }, 60_000);
});
