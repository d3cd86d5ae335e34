import { describe, expect, test } from '@jest/globals';
import type { ClusterClient, ClusterRequest } from '../../../drivers/kubernetes/cluster-client.ts';
import { clusterPaths } from '../../../drivers/kubernetes-runner/cluster-paths.ts';
import type { JobObject, PodObject } from '../../../drivers/kubernetes-runner/objects.ts';
import { followLog } from '../../../drivers/kubernetes-runner/pod-log.ts';

const NAME = 'cfs-1';
const paths = clusterPaths('sessions');
const pod: PodObject = {
  metadata: { name: 'cfs-1-abcde' },
  status: {
    phase: 'Succeeded',
    containerStatuses: [{ name: 'ansible', state: { terminated: { exitCode: 0 } } }],
  },
};

/** One look at a cluster after the other, the last for ever; `log` is the log of any container. */
function seen(looks: { job: JobObject | null; pods: PodObject[] }[], log = '') {
  let look = 0;
  const client: ClusterClient = {
    ask: async <T>({ path }: ClusterRequest) => {
      const { job, pods } = looks[Math.min(look, looks.length - 1)] ?? { job: null, pods: [] };
      if (path !== paths.pods) return { status: job === null ? 404 : 200, body: job as T };
      look += 1;
      return { status: 200, body: { items: pods } as T };
    },
    open: async () =>
      (async function* () {
        yield Buffer.from(log);
      })(),
  };
  return client;
}

async function textOf(client: ClusterClient, areAll = true): Promise<string> {
  let text = '';
  await followLog(
    client,
    paths,
    { name: NAME, container: 'ansible', from: 0, secrets: ['RECAP'], areAll },
    async (part) => {
      text += part.text;
    },
    AbortSignal.timeout(20_000),
  );
  return text;
}

describe("the log of a Job's container", () => {
  const job: JobObject = { metadata: { name: NAME }, spec: { suspend: false }, status: {} };
  const log = '2026-11-22T10:00:01.000000000Z PLAY RECAP\n';

  test('is waited for while the Job has no pod yet', async () => {
    const suspended = { ...job, spec: { suspend: true } };
    const looks = [
      { job: suspended, pods: [] },
      { job, pods: [] },
      { job, pods: [pod] },
    ];
    expect(await textOf(seen(looks, log))).toBe('PLAY ********\n');
  });

  test('is read though the Job was deleted before its pod', async () => {
    const client = seen([{ job: null, pods: [pod] }], log);
    expect(await textOf(client)).toBe('PLAY ********\n');
    await expect(textOf(client, false)).rejects.toThrow('its Secret, with what is to be masked, is gone');
  });

  const ended = { ...job, status: { conditions: [{ type: 'Failed', status: 'True' }] } };
  const deleted = { ...job, metadata: { name: NAME, deletionTimestamp: '2026-11-22T10:00:00Z' } };
  test.each([
    ['is not there', null],
    ['has ended', ended],
    ['is being deleted', deleted],
  ])('ends at once where the Job %s and there is no pod', async (_name, over) => {
    expect(await textOf(seen([{ job: over, pods: [] }], log))).toBe('');
  });

  const running = {
    metadata: pod.metadata,
    status: { containerStatuses: [{ name: 'ansible', state: { running: {} } }] },
  };

  test('says when all that stands in it was handed over, and goes on from there', async () => {
    const looks = [
      { job, pods: [running] },
      { job, pods: [running] },
      { job, pods: [pod] },
    ];
    const logs = [
      '10:00:01Z one\n',
      '10:00:01Z one\n2026-11-22T10:00:02Z two\n',
      '10:00:02Z two\n2026-11-22T10:00:03Z three\n',
    ];
    const follows: boolean[] = [];
    const client = seen(looks);
    client.open = async (_path, { follow }) => {
      const log = `2026-11-22T${logs[follows.push(follow === 'true') - 1]}`;
      return (async function* () {
        yield Buffer.from(log);
      })();
    };
    let text = '';
    const onCurrent = () => {
      text += '| ';
    };
    await followLog(
      client,
      paths,
      { name: NAME, container: 'ansible', from: 0, secrets: [], areAll: true, onCurrent },
      async (part) => {
        text += part.text;
      },
      AbortSignal.timeout(20_000),
    );
    expect(text).toBe('one\n| two\nthree\n');
    expect(follows).toEqual([false, true, false]);
  });

  const UNABLE = 'unable to retrieve container logs for containerd://0123';

  test('is over where the node has thrown it away after it was followed to the end of its container', async () => {
    const looks = [
      { job, pods: [running] },
      { job: deleted, pods: [pod] },
    ];
    const client = seen(looks);
    const answers = [`${log}rpc error: no space left on device\n`, UNABLE];
    client.open = async () =>
      (async function* () {
        yield Buffer.from(answers.shift() ?? '');
      })();
    expect(await textOf(client)).toBe('PLAY ********\n');
  });

  test('that the node has thrown away before is told of, and its words are none of it', async () => {
    await expect(textOf(seen([{ job: deleted, pods: [pod] }], UNABLE))).rejects.toThrow('has thrown it away');
  });
});
