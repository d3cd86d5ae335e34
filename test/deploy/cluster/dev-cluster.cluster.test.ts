import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { clusterCommand, clusterStatus } from '../../support/kubernetes/cluster-command.ts';
import {
  breakingRefused,
  type ClusterPart,
  hostAddress,
  imageName,
  killPart,
  kubeconfigPath,
  kubectl,
  makeNamespace,
  startParts,
  type TestNamespace,
} from '../../support/kubernetes/dev-cluster.ts';
import { describeNeeding } from '../../support/requirement.ts';

/** A pod that runs one command of the utility image. */
function pod(name: string, command: string[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: imageName('util'), imagePullPolicy: 'Never', command }],
    },
  };
}

let namespace: TestNamespace;

beforeAll(async () => {
  namespace = await makeNamespace('muster-dev-cluster');
}, 180_000);
afterAll(() => namespace?.remove(), 240_000);

async function phaseOf(name: string): Promise<string> {
  return (await namespace.read<{ status: { phase: string } }>(`pods/${name}`))?.status.phase ?? '';
}

describe('a pod', () => {
  let server: Server;
  let says = 'from the machine';
  beforeAll(async () => {
    server = createServer((_request, response) => response.end(says));
    await once(server.listen(0, hostAddress()), 'listening');
  });
  afterAll(() => {
    server.close();
  });

  test('reaches a server on this machine, and its log can be read', async () => {
    const url = `http://${hostAddress()}:${(server.address() as AddressInfo).port}/`;
    const script = `import urllib.request; print(urllib.request.urlopen("${url}", timeout=120).read().decode())`;
    await namespace.apply(pod('asks', ['python3', '-c', script]));
    await eventually('the pod has ended', async () => ['Succeeded', 'Failed'].includes(await phaseOf('asks')), 180_000);
    expect(await namespace.kubectl(['logs', 'asks'])).toBe('from the machine\n');
    expect(await phaseOf('asks')).toBe('Succeeded');
  }, 240_000);

  test('reaches it all the time, whatever other pods come and go', async () => {
    const url = `http://${hostAddress()}:${(server.address() as AddressInfo).port}/`;
    const script = [
      'import time, urllib.request',
      `while urllib.request.urlopen("${url}", timeout=120).read() != b"enough":`,
      '    time.sleep(0.1)',
    ].join('\n');
    await namespace.apply(pod('asks-on', ['python3', '-c', script]));
    await eventually('it asks', async () => (await phaseOf('asks-on')) === 'Running', 180_000);
    const others = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `comes-and-goes-${letter}`);
    for (const other of others) {
      await namespace.apply(pod(other, ['true']));
      await eventually(`${other} has gone`, async () => (await phaseOf(other)) === 'Succeeded', 180_000);
    }
    says = 'enough';
    await eventually('it has ended', async () => ['Succeeded', 'Failed'].includes(await phaseOf('asks-on')), 180_000);
    expect(await namespace.kubectl(['logs', 'asks-on'])).toBe('');
  }, 360_000);

  test('resolves the name of a Service and reaches it', async () => {
    const script =
      'import urllib.request, ssl; ' +
      'print(urllib.request.urlopen("https://kubernetes.default.svc/version", timeout=120, context=ssl._create_unverified_context()).read().decode())';
    await namespace.apply(pod('asks-a-service', ['python3', '-c', script]));
    await eventually(
      'the pod has ended',
      async () => ['Succeeded', 'Failed'].includes(await phaseOf('asks-a-service')),
      180_000,
    );
    expect(await namespace.kubectl(['logs', 'asks-a-service'])).toContain('"gitVersion"');
  }, 240_000);
});

test('an address of a Service that leads nowhere is refused, and nothing sent there leaves the machine', async () => {
  if ((await clusterStatus()).provider !== 'own') return console.info('left to others: only our own cluster refuses');
  // The last of the network is never given to a Service.
  const socket = connect(443, '10.96.255.255');
  const said = await new Promise<string>((resolve) => {
    socket.once('connect', () => resolve('connected')).once('error', ({ message }) => resolve(message));
  });
  socket.destroy();
  expect(said).toContain('ECONNREFUSED');
});

test('up again changes nothing', async () => {
  const before = await clusterStatus();
  expect(await clusterCommand('up')).toBe(kubeconfigPath());
  expect(await clusterStatus()).toEqual(before);
}, 180_000);

test('an image that is there is not loaded again', async () => {
  // The file does not exist, so loading it would fail; the user's own cluster is not touched in any case.
  if ((await clusterStatus()).provider === 'existing') {
    await expect(clusterCommand('image', '/nowhere.tar', imageName('util'))).rejects.toThrow();
  } else {
    await clusterCommand('image', '/nowhere.tar', imageName('util'));
    await expect(clusterCommand('image', '/nowhere.tar', 'localhost/nothing:1')).rejects.toThrow();
  }
});

describeNeeding(breakingRefused(), 'a part that is killed', () => {
  beforeAll(async () => {
    await namespace.apply(pod('stays', ['sleep', '3600']));
    await eventually('the pod runs', async () => (await phaseOf('stays')) === 'Running', 180_000);
  }, 240_000);

  const startedAt = () =>
    namespace.kubectl([
      'get',
      'pod',
      'stays',
      '--output',
      'jsonpath={.status.containerStatuses[0].state.running.startedAt}',
    ]);

  test.each<ClusterPart>(['apiserver', 'kubelet', 'containerd', 'etcd'])(
    '%s comes back with up, and the pod that ran runs on',
    async (part) => {
      const started = await startedAt();
      expect(started).not.toBe('');
      await killPart(part);
      await eventually('the part is away', async () => !(await clusterStatus()).up);
      await startParts();
      expect((await clusterStatus()).up).toBe(true);
      await eventually('the container is known again', async () => (await startedAt()) === started, 180_000);
      // A kubelet that has just begun learns its pods after it says that it is ready.
      const says = () => namespace.kubectl(['exec', 'stays', '--', 'echo', 'alive']).catch(() => '');
      await eventually('the pod answers', async () => (await says()) === 'alive\n', 180_000);
      expect(await startedAt()).toBe(started);
    },
    180_000,
  );

  test('nothing can be killed that is no part', async () => {
    await expect(clusterCommand('kill', 'sshd')).rejects.toThrow();
    expect(await kubectl(['get', '--raw', '/readyz'])).toBe('ok');
  });
});
