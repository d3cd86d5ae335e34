import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';

/** Runs a program until nobody holds its stdin any more, be it that who started it was killed. */
const WHILE_HELD = '"$@" & read -r; kill $!; wait';
const ANSWER_LIMIT_MS = 30_000;

/** A way to the API of a cluster for questions that are asked again and again: a program for each takes 60 ms of a core. */
export interface ClusterReads {
  /** What is at a path; null: nothing. Other refusals, and no answer, are errors. */
  read<T>(path: string): Promise<T | null>;
  close(): Promise<void>;
}

/** Opens it, with the rights of a kubeconfig. */
export async function openClusterReads(kubectl: string, kubeconfig: string): Promise<ClusterReads> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-cluster-reads-'));
  const socketPath = join(dir, 'socket');
  const proxy = [kubectl, '--kubeconfig', kubeconfig, 'proxy', '--unix-socket', socketPath];
  const child = spawn('bash', ['-c', WHILE_HELD, 'reads', ...proxy], { stdio: ['pipe', 'ignore', 2] });
  const exit = once(child, 'exit');
  // A test file that failed before it closes it ends nevertheless, and it with the file's process.
  child.unref();
  (child.stdin as Socket).unref();
  const read = async <T>(path: string) => (await answerOf(socketPath, path)) as T | null;
  const close = async () => {
    child.stdin?.end();
    await exit;
    await rm(dir, { recursive: true, force: true });
  };
  try {
    await eventually('the way to the cluster is open', () => read('/version').catch(() => null));
  } catch (error) {
    await close();
    throw error;
  }
  return { read, close };
}

async function answerOf(socketPath: string, path: string): Promise<unknown> {
  const request = get({ socketPath, path, agent: false, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  if (answer.statusCode === 404) return null;
  if (answer.statusCode !== 200) throw new Error(`the cluster answers ${answer.statusCode} to ${path}: ${text}`);
  return JSON.parse(text);
}
