/** A walk with applications on a real cluster: requests, waits, and what is in the cluster. */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { eventually } from '../support/eventually.ts';
import type { ClusterProxy } from '../support/kubernetes/cluster-proxy.ts';
import type { MusterStack } from '../support/stack/muster-stack.ts';
import { type Made, makeDeployment, type Wanted } from './placement-fixtures.ts';

/** Retries each second: the walk cuts connections. */
const QUICK = { retrySeconds: 1, retryBackoff: 1 };

interface There {
  there: Record<string, number>;
  ready: Record<string, number>;
  isReady: boolean;
}

export interface MemberWalk {
  /** Sends a request with any body. */
  send(method: string, url: string, body?: unknown, headers?: Record<string, string>): ReturnType<MusterStack['call']>;
  /** Makes a deployment on clusters that are reached by these ways, approves it. */
  approved(name: string, ways: Readonly<Record<string, ClusterProxy>>, wanted: Wanted): Promise<Made>;
  /** Makes a life-cycle call that has to be accepted. */
  ask(group: string, call: 'approve' | 'instantiate' | 'terminate' | 'stop'): Promise<void>;
  /** State of the AppContext and counts of its resources. */
  status(group: string): Promise<Record<string, unknown>>;
  /** Waits for a state of the AppContext; returns what `status` does. */
  until(group: string, state: string): Promise<Record<string, unknown>>;
  /** Waits until the objects of a deployment are there, and ready, as expected. */
  untilThere(group: string, expected: There): Promise<void>;
  /** Statuses with their reasons of the resources of the last AppContext of a deployment, by key. */
  reasons(group: string): Promise<Record<string, string>>;
}

export function openMemberWalk(stack: MusterStack): MemberWalk {
  const walk: MemberWalk = {
    send: async (method, url, body, headers = {}) => {
      if (body === undefined || !(Buffer.isBuffer(body) || typeof body === 'string')) {
        return await stack.call(method, url, body, headers);
      }
      const answer = await fetch(stack.url + url, { method, headers, body: Buffer.from(body) });
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
    },
    approved: async (name, ways, wanted) => {
      const clusters: Record<string, string> = {};
      for (const [cluster, { kubeconfig }] of Object.entries(ways))
        clusters[cluster] = await readFile(kubeconfig, 'utf8');
      const made = await makeDeployment(walk.send, name, { muster: QUICK, ...wanted, clusters });
      await walk.ask(made.group, 'approve');
      return made;
    },
    ask: async (group, call) => {
      const { status, body } = await walk.send('POST', `${group}/${call}`);
      if (status !== 202) throw new Error(`${call}: ${status} ${JSON.stringify(body)}`);
    },
    status: async (group) => {
      const { body } = await walk.send('GET', `${group}/status?output=summary`);
      return { status: body.status, ...body['rsync-status'] };
    },
    until: async (group, state) => {
      const reached = async () => (await walk.status(group)).status === state;
      await eventually(`${group} is ${state}`, reached, 180_000, () => walk.status(group));
      return await walk.status(group);
    },
    untilThere: async (group, expected) => {
      const seen = async () => {
        const { body } = await walk.send('GET', `${group}/status?type=all&output=summary`);
        return { there: body['cluster-status'], ready: body['ready-status'], isReady: body.ready };
      };
      const isSo = async () => isDeepStrictEqual(await seen(), expected);
      await eventually(`${group} is there as expected`, isSo, 180_000, seen);
    },
    reasons: async (group) => {
      const rows = await stack.sql<{ key: string; status: string; reason: string | null }>(
        `select key, status, reason from context_resources where context = (
          select id from deployment_contexts where owner = $1 order by created_at desc limit 1)`,
        [group.slice('/v2/'.length)],
      );
      return Object.fromEntries(
        rows.map(({ key, status, reason }) => [key, reason === null ? status : `${status} ${reason}`]),
      );
    },
  };
  return walk;
}
