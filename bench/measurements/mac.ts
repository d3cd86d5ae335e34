/** What the MACs of a workflow task cost: its payloads are checked when it comes in, and what it asks for is signed. */
import { randomBytes, randomUUID } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { clientCodec, workerCodec } from '../../control/temporal/payload-mac.ts';
import { sealFor } from '../../domain/engine/seal.ts';
import { type Measurement, round } from '../measurement.ts';

const TASKS = 2_000;
const ROUNDS = 5;
const WARM = 500;
const BAR_MS = 1;

/** A task with more than any of Muster's has: a start, a signal, an update and three results come in, four pieces of work go out. */
export async function measureMac(): Promise<Measurement> {
  const key = randomBytes(32);
  const policy = { requiredSince: () => new Date(0), log: { warn: () => undefined } };
  const codec = workerCodec(() => key, policy);
  const sessionId = randomUUID();
  const workflowId = `session/bench/${sessionId}`;
  const workflow = { type: 'workflow', namespace: 'default', workflowId } as const;
  const activity = { type: 'activity', namespace: 'default', workflowId, activityId: '7', isLocal: false } as const;
  const payloads = (...values: unknown[]) => values.map((value) => defaultPayloadConverter.toPayload(value) as Payload);
  const input = payloads({ sessionId, layer: 0, attempt: 1, hosts: 'all' }, sealFor('activity', 'runLayer'));
  const message = payloads(sealFor('signal', 'slotFree'));
  const result = payloads({ index: 0, playbook: 'site.yml', exitCode: 0, message: 'x'.repeat(1_000) });
  const client = clientCodec(() => key, policy);
  const said = await client.encode(message, workflow);
  const came = await codec.encode(result, activity);
  const task = async () => {
    for (let count = 0; count < 3; count++) await codec.decode(said, workflow);
    for (let count = 0; count < 3; count++) await codec.decode(came, activity);
    for (let count = 0; count < 4; count++) await codec.encode(input, activity);
  };
  // The engine of the language learns first.
  for (let count = 0; count < WARM; count++) await task();
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    for (let count = 0; count < TASKS; count++) await task();
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / 1_000 / TASKS);
  }
  const median = [...rounds].sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.POSITIVE_INFINITY;
  return {
    what: 'MACs of a workflow task',
    bar: `at most ${BAR_MS} ms`,
    measured: `${round(median, 3)} ms of a core`,
    met: median <= BAR_MS,
    samples: { cpu_ms: rounds.map((ms) => round(ms, 4)) },
  };
}
