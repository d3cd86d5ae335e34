import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { openClusterProxy } from '../../support/kubernetes/cluster-proxy.ts';
import { makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { jobSpec, scriptedJobs, smallSettings } from '../../support/kubernetes/scripted-jobs.ts';

const signal = new AbortController().signal;
let namespace: TestNamespace;

beforeAll(async () => {
  namespace = await makeNamespace('m-c-log');
});
afterAll(() => namespace.remove());

const told = (from = 0) => ({ from, secrets: [], areAll: true });

const LINES = 60;
const whole = `${Array.from({ length: LINES }, (_, index) => `line ${index + 1} ä`).join('\n')}\nwithout end`;
const script = `i=1; while [ $i -le ${LINES} ]; do echo "line $i ä"; i=$((i + 1)); sleep 0.1; done; printf 'without end'`;

/** What was handed over; fails when a part does not begin where the last one ended. */
function collector(from = 0) {
  let bytes = Buffer.alloc(0);
  return {
    text: () => bytes.toString('utf8'),
    end: () => from + bytes.length,
    take: async ({ start, end, text }: { start: number; end: number; text: string }) => {
      expect(start).toBe(from + bytes.length);
      bytes = Buffer.concat([bytes, Buffer.from(text)]);
      expect(end).toBe(from + bytes.length);
    },
  };
}

describe("a container's log", () => {
  test('comes whole and once, though the connection is cut and stalls', async () => {
    const proxy = await openClusterProxy();
    const direct = scriptedJobs(smallSettings(namespace.name), { ansible: script });
    const { jobs } = scriptedJobs(smallSettings(namespace.name, { kubeconfig: proxy.kubeconfig }), {});
    const spec = jobSpec();
    await direct.jobs.start(spec, signal);
    const log = collector();
    const done = jobs.followLog(spec.name, 'ansible', told(), log.take, signal);
    done.catch(() => {});
    await eventually('it has begun', () => log.text().includes('line 5 '));
    await proxy.cut();
    await proxy.mend();
    await eventually('it goes on', () => log.text().includes('line 20 '));
    proxy.hold();
    await done;
    expect(log.text()).toBe(whole);
    // From anywhere, also after its end.
    for (const from of [0, 12, 40, Buffer.byteLength(whole) - 5, Buffer.byteLength(whole)]) {
      const rest = collector(from);
      await jobs.followLog(spec.name, 'ansible', told(from), rest.take, signal);
      expect(rest.text()).toBe(Buffer.from(whole).subarray(from).toString('utf8'));
    }
    await direct.jobs.end(spec.name, 60_000);
    await direct.jobs.release(spec.name);
    await proxy.close();
  });

  test('of a container that never began ends with its pod, and of a Job that is not there at once', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), { 'git-clone': 'exit 1' });
    const spec = jobSpec();
    const log = collector();
    await jobs.followLog(spec.name, 'ansible', told(), log.take, signal);
    await jobs.start(spec, signal);
    await jobs.follow(spec.name, async ({ phase }) => phase === 'failed', signal);
    await jobs.followLog(spec.name, 'ansible', told(), log.take, signal);
    expect(log.text()).toBe('');
    await jobs.end(spec.name, 60_000);
    await jobs.release(spec.name);
  });

  test('shows no secret of its session, and nothing once nobody knows what is secret', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), {
      ansible: "echo 'it is s3cret-word, really'; echo 'and no more'",
    });
    const { secret } = jobSpec();
    const spec = jobSpec({ secret: { ...secret, 'masks.json': JSON.stringify(['s3cret-word']) } });
    await jobs.start(spec, signal);
    let text = '';
    let last = 0;
    const take = async (part: { end: number; text: string }) => {
      text += part.text;
      last = part.end;
    };
    const reading = { ...told(), secrets: ['and no'], areAll: false };
    await jobs.followLog(spec.name, 'ansible', reading, take, signal);
    expect(text).toBe('it is ********, really\n******** more\n');
    expect(last).toBe(Buffer.byteLength('it is s3cret-word, really\nand no more\n'));
    await namespace.kubectl(['delete', 'secret', spec.name]);
    await expect(jobs.followLog(spec.name, 'ansible', reading, take, signal)).rejects.toThrow('masked');
    await jobs.end(spec.name, 60_000);
    await jobs.release(spec.name);
  });
});
