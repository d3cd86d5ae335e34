/** What the demo asks of the API, as any client would. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { QuickstartRepository } from './quickstart-repository.ts';
import { StackError } from './stack-error.ts';

/** A cancelled run is gone within 10 s; then its session needs a moment to end. */
const CANCEL_WITHIN_MS = 20_000;

/** The API and the token to use it with; null where it asks for none. */
export interface DemoApi {
  url: string;
  token: string | null;
}

/** Stores the quickstart's components and its configuration, whose layers get the repository of this machine. */
export async function applyQuickstart(api: DemoApi, source: string, repository: QuickstartRepository): Promise<void> {
  const configuration = JSON.parse(await readFile(join(source, 'configuration.json'), 'utf8')) as {
    name: string;
    description?: string;
    layers: object[];
  };
  const { name, ...rest } = configuration;
  const layers = rest.layers.map((layer) => ({ ...layer, clone_url: repository.url, commit: repository.commit }));
  await send(api, 'PUT', `/v3/configurations/${encodeURIComponent(name)}`, { ...rest, layers });
  await send(api, 'PUT', '/v3/components', JSON.parse(await readFile(join(source, 'components.json'), 'utf8')));
}

interface SessionAnswer {
  name: string;
  status?: { session?: { status?: string; start_time?: string } };
}

/**
 * Cancels the sessions that were created since `startedAt` and have not ended, and waits until they have.
 * @returns their names
 */
export async function cancelSessionsSince(api: DemoApi, startedAt: Date): Promise<string[]> {
  // Wire times have no fraction of a second.
  const since = startedAt.toISOString().slice(0, 19);
  const open = async (): Promise<string[]> => {
    const { sessions } = (await send(api, 'GET', '/v3/sessions')) as { sessions: SessionAnswer[] };
    return sessions
      .filter(({ status }) => status?.session?.status !== 'complete' && (status?.session?.start_time ?? '') >= since)
      .map(({ name }) => name);
  };
  const names = await open();
  for (const name of names) {
    // One that ends at this moment answers with a conflict, which is as good.
    await send(api, 'POST', `/api/v1/sessions/${encodeURIComponent(name)}/cancel`).catch(() => undefined);
  }
  const deadline = Date.now() + CANCEL_WITHIN_MS;
  while (Date.now() < deadline && (await open()).length > 0) await delay(100);
  return names;
}

async function send({ url, token }: DemoApi, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new StackError(`${method} ${path} was answered ${response.status}: ${text}`, 1);
  return text === '' ? null : JSON.parse(text);
}
