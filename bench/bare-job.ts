/** The same work as a session's Job without Muster: its pod as it stands, with plain commands in its containers. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { openClusterAccess } from '../drivers/kubernetes/cluster-access.ts';
import { createClusterClient } from '../drivers/kubernetes/cluster-client.ts';
import { clusterPaths } from '../drivers/kubernetes-runner/cluster-paths.ts';
import { holding, type JobObject } from '../drivers/kubernetes-runner/objects.ts';
import { kubeconfigPath, type TestNamespace } from '../test/support/kubernetes/dev-cluster.ts';

/** Name of the Secret, and the beginning of the Jobs' names. */
const BARE = 'bare';

export interface BareJob {
  /** Name of a session's Job that is there still, whose pod this one is to be like. */
  like: string;
  repository: string;
  /** Text of the inventory file. */
  inventory: string;
  /** Text of the ansible.cfg. */
  ansibleConfig: string;
}

export interface BareJobs {
  /** Makes a Job that runs a playbook of the repository; answers its name. */
  start(playbook: string): Promise<string>;
  /** Fails when the Job does. */
  untilComplete(name: string): Promise<void>;
  /** Has the Job deleted, its pods first. */
  remove(name: string): Promise<void>;
}

interface Container {
  name: string;
  command?: string[];
  args?: string[];
  env?: object[];
}

interface PodSpec {
  initContainers: Container[];
  containers: Container[];
}

/** What each container does: clone, write the inventory, run the playbook; the last two begin at the same time. */
const SCRIPTS: Record<string, string> = {
  'git-clone': 'git clone --quiet "$BARE_REPOSITORY" /inventory/layer0',
  inventory:
    'mkdir /inventory/hosts && printf %s "$BARE_INVENTORY" >/inventory/hosts/inventory.yaml && ' +
    'printf %s "$BARE_CONFIG" >/inventory/ansible.cfg && touch /inventory/complete',
  ansible:
    'mkdir -p "$HOME" && until [ -e /inventory/complete ]; do sleep 0.1; done; ' +
    'exec ansible-playbook "/inventory/layer0/$BARE_PLAYBOOK"',
};

/** Prepares all that needs no time in a run. */
export async function prepareBareJobs(namespace: TestNamespace, work: BareJob): Promise<BareJobs> {
  const read = async (kind: string) =>
    JSON.parse(await namespace.kubectl(['get', kind, work.like, '--output', 'json']));
  const [job, secret] = await Promise.all([read('job'), read('secret')]);
  await namespace.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: BARE }, data: secret.data });
  const template = JSON.stringify(job.spec.template.spec).replaceAll(work.like, BARE);
  const client = createClusterClient(openClusterAccess(kubeconfigPath()));
  const { jobs, job: pathOf } = clusterPaths(namespace.name);
  return {
    async start(playbook) {
      const name = `${BARE}-${randomBytes(4).toString('hex')}`;
      const spec = { backoffLimit: 0, template: { spec: barePod(JSON.parse(template), work, playbook) } };
      const body = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec };
      await client.ask({ method: 'POST', path: jobs, body });
      return name;
    },
    async untilComplete(name) {
      const started = performance.now();
      for (;;) {
        const { body } = await client.ask<JobObject>({ method: 'GET', path: pathOf(name) });
        if (holding(body.status?.conditions, 'Complete') !== null) return;
        const failed = holding(body.status?.conditions, 'Failed');
        if (failed !== null) throw new Error(`${name} failed: ${failed.reason} ${failed.message}`);
        // The more seldom the longer it takes, so that asking adds 2 % at most.
        await delay(Math.max(20, (performance.now() - started) * 0.02));
      }
    },
    async remove(name) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground' };
      await client.ask({ method: 'DELETE', path: pathOf(name), body });
    },
  };
}

/** The pod with plain commands in its containers. */
function barePod(pod: PodSpec, work: BareJob, playbook: string): PodSpec {
  const env = Object.entries({
    BARE_REPOSITORY: work.repository,
    BARE_PLAYBOOK: playbook,
    BARE_INVENTORY: work.inventory,
    BARE_CONFIG: work.ansibleConfig,
    ANSIBLE_CONFIG: '/inventory/ansible.cfg',
    ANSIBLE_INVENTORY: '/inventory/hosts',
    ANSIBLE_HOME: '/muster/work/ansible-home',
    ANSIBLE_LOCAL_TEMP: '/muster/work/tmp',
  }).map(([name, value]) => ({ name, value }));
  for (const container of [...pod.initContainers, ...pod.containers]) {
    container.command = ['/bin/sh', '-c', SCRIPTS[container.name] ?? 'true'];
    delete container.args;
    container.env = [...(container.env ?? []), ...env];
  }
  return pod;
}
