import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type CollectedSpan, startTraceCollector, type TraceCollector } from '../support/fakes/trace-collector.ts';
import { freePort } from '../support/free-port.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const TRACE = PARENT.split('-')[1];

describeNeeding(stackMissing(), 'a traced stack', () => {
  let collector: TraceCollector;
  let stack: MusterStack;
  let metricsPort: number;
  beforeAll(async () => {
    collector = await startTraceCollector();
    metricsPort = await freePort();
    stack = await startMusterStack({
      MUSTER_TRACES_URL: `${collector.url}/`,
      MUSTER_TEMPORAL_METRICS: `127.0.0.1:${metricsPort}`,
    });
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    await collector?.close();
  });

  test("joins the request, the workflow and its activities in the caller's trace, without what they were about", async () => {
    const repository = await stack.repository('traced');
    await repository.commit({
      'site.yml': '- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.debug: {msg: hello}\n',
    });
    await stack.configure('traced', repository.url, ['site.yml'], ['traced-host']);
    const answer = await fetch(`${stack.url}/v3/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: PARENT },
      body: JSON.stringify({ name: 'traced-session', configuration_name: 'traced' }),
    });
    expect(answer.status).toBe(201);
    await stack.untilComplete('traced-session');
    const wanted = [
      ...['POST /v3/sessions', 'StartWorkflow:sessionWorkflow', 'RunWorkflow:sessionWorkflow'],
      ...['RunActivity:cloneLayers', 'RunActivity:runLayer'],
    ];
    const mine = () => collector.spans.filter(({ traceId }) => traceId === TRACE);
    // Both processes send theirs in parts of their own, in any order.
    const spans = await eventually(
      'the spans of the whole session have come',
      () => {
        const names = new Set(mine().map(({ name }) => name));
        const request = mine().find(({ name }) => name === 'POST /v3/sessions');
        const isJoined = request !== undefined && rootOf(mine(), 'RunActivity:runLayer') === request.spanId;
        return wanted.every((name) => names.has(name)) && isJoined ? mine() : null;
      },
      240_000,
      () => mine().map(({ name, spanId, parentSpanId }) => [name, spanId, parentSpanId]),
    );
    const request = spans.find(({ name }) => name === 'POST /v3/sessions');
    expect(request).toMatchObject({ service: 'muster-api', attributes: { 'http.response.status_code': 201 } });
    expect(request?.parentSpanId).toBe(PARENT.split('-')[2]);
    expect(collector.text()).not.toContain('hello');
  }, 600_000);

  test('shows how long tasks of the engine waited for this worker', async () => {
    const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    expect(await answer.text()).toContain('temporal_activity_schedule_to_start_latency');
  });
});

/** The span under the caller's from which this one comes. */
function rootOf(spans: CollectedSpan[], name: string): string | undefined {
  let span = spans.find((candidate) => candidate.name === name);
  for (;;) {
    const parent = spans.find(({ spanId }) => spanId === span?.parentSpanId);
    if (parent === undefined) return span?.spanId;
    span = parent;
  }
}
