/** A page's side of the hub. Without SharedWorker the page asks for itself every 10 s, and says so. */
import { callApi, isRefusal, isUnknown } from '../api-call.ts';
import hubUrl from './hub.ts?sharedworker&url';
import { createPoll } from './poll-core.ts';
import { ALIVE_EVERY_MS, type Connection, type FromHub, type ToHub } from './protocol.ts';

/** An answer to a page that polls comes within so long, ms. */
const ANSWER_WITHIN_MS = 4_000;
const TICK_MS = 1_000;
/** After a resync the pages read again within so long, ms, each thing at its own time. */
const SPREAD_MS = 2_000;

export interface PageConnection extends Connection {
  /** Whether the page only asks from time to time. */
  isPolled: boolean;
}

/** A new connection is not stale at once. */
let connection: PageConnection = { state: 'reconnecting', lastByteAt: Date.now(), isPolled: false };
const watchers = new Set<() => void>();
const listeners = new Map<string, Set<() => void>>();
const onUnknown = new Set<() => void>();
let port: MessagePort | null = null;
let isOpen = false;

/** Returns how the page is connected. */
export const connectionNow = (): PageConnection => connection;

/** Tells `watcher` when that has changed. Returns what ends it. */
export function onConnection(watcher: () => void): () => void {
  open();
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Tells `listener` when the API does not know the user any more. Returns what ends it. */
export function onSignedOut(listener: () => void): () => void {
  onUnknown.add(listener);
  return () => onUnknown.delete(listener);
}

/** Tells `listener` whenever what is behind the topic is to be read again. Returns what ends it. */
export function listen(topic: string, listener: () => void): () => void {
  open();
  const all = listeners.get(topic) ?? new Set();
  listeners.set(topic, all.add(listener));
  if (all.size === 1) sayTopics();
  return () => {
    all.delete(listener);
    if (all.size > 0 || listeners.get(topic) !== all) return;
    listeners.delete(topic);
    sayTopics();
  };
}

function open(): void {
  if (isOpen) return;
  isOpen = true;
  if (!('SharedWorker' in window)) {
    poll();
    return;
  }
  connect();
  setInterval(() => say({ kind: 'alive' }), ALIVE_EVERY_MS);
  // A hidden page reads nothing. When it is seen again the hub tells it of each of its topics.
  document.addEventListener('visibilitychange', sayTopics);
  window.addEventListener('pagehide', () => {
    say({ kind: 'bye' });
    port?.close();
    port = null;
  });
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) connect();
  });
}

function connect(): void {
  const worker = new SharedWorker(trusted(hubUrl), { name: `muster ${MUSTER_VERSION} ${hubUrl}` });
  port = worker.port;
  port.onmessage = ({ data }: MessageEvent<FromHub>) => take(data);
  sayTopics();
}

function say(message: ToHub): void {
  port?.postMessage(message);
}

function sayTopics(): void {
  say({ kind: 'topics', topics: document.visibilityState === 'hidden' ? [] : [...listeners.keys()] });
}

function take(message: FromHub): void {
  if (message.kind === 'connection') {
    connection = { state: message.state, lastByteAt: message.lastByteAt, isPolled: false };
    for (const tell of watchers) tell();
  }
  if (message.kind === 'changed') for (const tell of listeners.get(message.topic) ?? []) tell();
  if (message.kind === 'resync') {
    for (const all of listeners.values()) for (const tell of all) setTimeout(tell, Math.random() * SPREAD_MS);
  }
  if (message.kind === 'unknown') for (const tell of onUnknown) tell();
}

/** A hidden page asks nothing. */
function poll(): void {
  const isSeen = () => document.visibilityState !== 'hidden';
  const polling = createPoll({
    now: () => Date.now(),
    ask: answers,
    connected: (now) => {
      connection = { ...now, isPolled: true };
      for (const tell of watchers) tell();
    },
    changed: () => {
      for (const all of listeners.values()) for (const tell of all) tell();
    },
    unknown: () => {
      for (const tell of onUnknown) tell();
    },
  });
  connection = { ...connection, isPolled: true };
  if (isSeen()) polling.seen();
  document.addEventListener('visibilitychange', () => {
    if (isSeen()) polling.seen();
  });
  setInterval(() => {
    if (isSeen()) polling.tick();
  }, TICK_MS);
}

/** Returns whether the API knows who asks; throws where it does not answer, or cannot read what it has stored. */
async function answers(): Promise<boolean> {
  try {
    await callApi('/options', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  } catch (error) {
    if (isUnknown(error)) return false;
    if (!isRefusal(error)) throw error;
  }
  return true;
}

/** The policy of the page lets only this name make addresses of scripts, and only that of the hub is one. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as unknown as { trustedTypes?: TrustedTypes };
  if (trustedTypes === undefined) return url;
  policy ??= trustedTypes.createPolicy('muster-worker', {
    createScriptURL: (text) => {
      if (text !== hubUrl) throw new TypeError('only the hub is a worker');
      return text;
    },
  });
  return policy.createScriptURL(url) as string;
}

/** What is used of it; older browsers have none. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(text: string): string }): TrustedPolicy;
}
interface TrustedPolicy {
  createScriptURL(text: string): unknown;
}
let policy: TrustedPolicy | undefined;
