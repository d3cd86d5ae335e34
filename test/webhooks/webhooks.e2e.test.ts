import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

describeNeeding(stackMissing(), 'a webhook of a real stack', () => {
  let stack: MusterStack;
  let receiver: Server;
  let url: string;
  let status = 200;
  const got: { signature: string; delivery: string; body: string; status: number }[] = [];
  beforeAll(async () => {
    receiver = createServer(async (request, response) => {
      const body = await text(request);
      const { 'muster-signature': signature, 'muster-delivery': delivery } = request.headers;
      got.push({ signature: String(signature), delivery: String(delivery), body, status });
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    stack = await startMusterStack();
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    receiver?.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
  });

  test('is told of a session that ended, also when receiver and worker were away', async () => {
    const events = ['session.ended'];
    const { body: made } = await stack.call('POST', '/api/v1/webhooks', { name: 'ops', url, events });
    const repository = await stack.repository('told');
    await repository.commit({ 'site.yml': '- hosts: all\n  gather_facts: false\n  tasks: []\n' });
    await stack.configure('told', repository.url, ['site.yml'], ['told-1']);
    await stack.create('told-at-once', 'told');
    const first = await eventually('the first session is told', () => got[0], 240_000);
    expect(JSON.parse(first.body)).toMatchObject({
      event: 'session.ended',
      data: { name: 'told-at-once', succeeded: 'true' },
    });
    const [, time] = /^t=([0-9]+),/.exec(first.signature) ?? [];
    const hash = createHmac('sha256', made.secret).update(`${time}.${first.body}`).digest('hex');
    expect(first.signature).toBe(`t=${time},v1=${hash}`);

    status = 503;
    await stack.create('told-later', 'told');
    const refused = await eventually('the second is refused', () => got.find((one) => one.status === 503), 240_000);
    await stack.kill('worker');
    status = 200;
    const taken = await eventually(
      'it is told again',
      () => got.find((one) => one.status === 200 && one.delivery === refused.delivery),
      240_000,
    );
    expect(taken.body).toBe(refused.body);
    // The receiver knows before Muster has stored its answer.
    await eventually('both are on record as delivered', async () => {
      const { body: listed } = await stack.call('GET', '/api/v1/webhooks/ops/deliveries');
      const states = listed.deliveries.map(({ state }: { state: string }) => state);
      return states.length === 2 && states.every((state: string) => state === 'delivered');
    });
    expect(new Set(got.filter((one) => one.status === 200).map((one) => one.delivery)).size).toBe(2);
  }, 600_000);
});
