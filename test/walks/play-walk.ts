import { Agent, request } from 'node:http';
import { expect } from '@jest/globals';
import { messageOf } from '../../domain/text/message-of.ts';
import { eventually } from '../support/eventually.ts';
import type { Exchange, Pages, Query, Walk } from './walk.ts';

export type Values = Record<string, string | number>;

interface Answer {
  status: number;
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  body: any;
}

/** Plays a walk against the API at `url`; every step that does not hold fails with the step's name. */
export async function playWalk(url: string, walk: Walk, given: Values): Promise<void> {
  const values: Values = { ...given };
  const agent = new Agent({ keepAlive: true });
  const send = (exchange: Exchange, query?: Query) => sendOnce(url, agent, walk, exchange, values, query);
  try {
    for (const step of walk.steps) {
      const exchanges = 'together' in step ? step.together : [step];
      try {
        await Promise.all(exchanges.map((exchange) => exchanged(exchange, values, send)));
      } catch (error) {
        throw new Error(`${walk.client}: ${step.does}: ${messageOf(error)}`);
      }
    }
  } finally {
    agent.destroy();
  }
}

type Send = (exchange: Exchange, query?: Query) => Promise<Answer>;

async function exchanged(exchange: Exchange, values: Values, send: Send): Promise<void> {
  if (exchange.pages !== undefined) {
    const { pages } = exchange;
    await Promise.all(Array.from({ length: exchange.times ?? 1 }, () => readPages(exchange, pages, values, send)));
    return;
  }
  if (exchange.until !== undefined) {
    const wanted = filled(exchange.until, values);
    await eventually(
      `${exchange.path} has ${JSON.stringify(wanted)}`,
      async () => matches((await send(exchange)).body, wanted),
      180_000,
    );
  }
  const answers = await Promise.all(Array.from({ length: exchange.times ?? 1 }, () => send(exchange)));
  checkStatuses(answers, exchange.status);
  for (const answer of answers) if (answer.status < 300) checkBody(answer, exchange, values);
  if (exchange.shares !== undefined) {
    const { member, all } = exchange.shares;
    expect(answers.flatMap(({ body }) => body[member]).sort()).toEqual([...(filled(all, values) as string[])].sort());
  }
  if (answers.some(({ status }) => status >= 400)) checkProblems(answers, exchange, values);
}

function checkStatuses(answers: Answer[], wanted: Exchange['status']): void {
  const bodies = answers
    .map(({ body }) => JSON.stringify(body))
    .filter((text, index, all) => all.indexOf(text) === index);
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  const expected = typeof wanted === 'number' ? { [wanted]: answers.length } : wanted;
  if (JSON.stringify(counts) !== JSON.stringify(expected)) {
    throw new Error(
      `statuses ${JSON.stringify(counts)}, not ${JSON.stringify(expected)}: ${bodies.join(' ').slice(0, 2_000)}`,
    );
  }
}

function checkBody({ body, type, status }: Answer, exchange: Exchange, values: Values): void {
  if (status === 204) expect(body).toBe('');
  else if (exchange.method !== 'HEAD') expect(type).toBe('application/json');
  if (exchange.reads !== undefined) expect(body).toMatchObject(filled(exchange.reads, values) as object);
  if (exchange.is !== undefined) expect(body).toEqual(filled(exchange.is, values));
  for (const member of exchange.lacks ?? []) expect(body).not.toHaveProperty(member);
  for (const [name, path] of Object.entries(exchange.keeps ?? {})) {
    const value = path.split('.').reduce((inner, key) => inner?.[key], body);
    expect([path, value]).toEqual([path, expect.anything()]);
    values[name] = value;
  }
}

/** Every refusal is a problem document with the members that clients read (cfs-api 2). */
function checkProblems(answers: Answer[], { reads }: Exchange, values: Values): void {
  for (const { body, type, status } of answers.filter((answer) => answer.status >= 400)) {
    expect(type).toBe('application/problem+json');
    expect(body).toMatchObject({ type: 'about:blank', title: expect.any(String), status, detail: expect.any(String) });
    if (reads !== undefined && answers.every((answer) => answer.status >= 400)) {
      expect(body).toMatchObject(filled(reads, values) as object);
    }
  }
}

async function readPages(exchange: Exchange, pages: Pages, values: Values, send: Send): Promise<void> {
  const found: string[] = [];
  let query: Query | null = exchange.query ?? {};
  let requests = 0;
  while (query !== null) {
    const answer: Answer = await send(exchange, query);
    checkStatuses([answer], exchange.status);
    checkBody(answer, exchange, values);
    requests += 1;
    found.push(...answer.body[pages.kind].map((record: { id?: string; name?: string }) => record.id ?? record.name));
    const { next }: { next: Query | null } = answer.body;
    if (next === null) break;
    query = pages.by === 'next' ? next : { ...query, after_id: next.after_id ?? '' };
  }
  if (pages.finds !== undefined) expect(found).toEqual(filled(pages.finds, values));
  if (pages.within !== undefined) {
    const expected = filled(pages.within, values) as string[];
    expect(found.filter((name) => !expected.includes(name))).toEqual([]);
    expect(new Set(found).size).toBe(found.length);
  }
  expect(requests).toBeGreaterThanOrEqual(pages.atLeast ?? 1);
}

function matches(body: unknown, wanted: unknown): boolean {
  try {
    expect(body).toMatchObject(wanted as object);
    return true;
  } catch {
    return false;
  }
}

/** The value with every `{{name}}` in its texts replaced; a text that is nothing else becomes the value itself. */
function filled(value: unknown, values: Values): unknown {
  if (typeof value === 'string') {
    const whole = /^\{\{(\w+)(\+1)?\}\}$/.exec(value);
    if (whole) return known(values, whole[1] ?? '', whole[2] !== undefined);
    return value.replace(/\{\{(\w+)\}\}/g, (_, name) => String(known(values, name, false)));
  }
  if (Array.isArray(value)) return value.map((item) => filled(item, values));
  if (value === null || typeof value !== 'object' || '$$typeof' in value) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [String(filled(name, values)), filled(item, values)]),
  );
}

function known(values: Values, name: string, next: boolean): string | number {
  const value = values[name];
  if (value === undefined) throw new Error(`nothing is known as ${name}`);
  return next ? Number(value) + 1 : value;
}

function sendOnce(
  url: string,
  agent: Agent,
  walk: Walk,
  exchange: Exchange,
  values: Values,
  query = exchange.query,
): Promise<Answer> {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === null) continue;
    words.append(name, typeof value === 'boolean' ? (value ? 'True' : 'False') : String(filled(value, values)));
  }
  const path = `${walk.base}${filled(exchange.path, values)}${words.size > 0 ? `?${words}` : ''}`;
  const body = exchange.body === undefined ? undefined : JSON.stringify(filled(exchange.body, values));
  const headers: Record<string, string | number> = {
    'user-agent': 'python-requests/2.32.3',
    'accept-encoding': 'gzip, deflate',
    accept: '*/*',
    ...walk.headers,
    ...exchange.headers,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...(body === undefined && exchange.method !== 'GET' && exchange.method !== 'HEAD' ? { 'content-length': 0 } : {}),
  };
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method: exchange.method, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const type = response.headers['content-type'] ?? '';
        const isJson = type.includes('json') && text !== '';
        resolve({ status: response.statusCode ?? 0, type, body: isJson ? JSON.parse(text) : text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
