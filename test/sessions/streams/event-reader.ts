/** A reader of server-sent events for tests. */
export interface ReadFrame {
  id: string | null;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  data: any;
}

export interface EventReader {
  /** Messages so far. */
  frames: ReadFrame[];
  /** Number of comments so far. */
  comments: number;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  /** Resolves when `condition` holds; looks again after each piece. */
  until(condition: () => boolean): Promise<void>;
  close(): void;
}

/** Opens a stream; rejects unless the answer is 200 and of the right type. */
export async function openEvents(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
  const controller = new AbortController();
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: controller.signal,
  });
  const type = response.headers.get('content-type');
  if (response.status !== 200 || !type?.startsWith('text/event-stream') || response.body === null) {
    throw new Error(`${response.status} ${type}: ${await response.text()}`);
  }
  const waiting = new Set<() => void>();
  const reader: EventReader = {
    frames: [],
    comments: 0,
    ended: Promise.resolve(),
    until: async (condition) => {
      while (!condition()) await new Promise<void>((resolve) => waiting.add(resolve));
    },
    close: () => controller.abort(),
  };
  const body = response.body;
  reader.ended = (async () => {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const piece of body) {
        rest += decoder.decode(piece, { stream: true });
        const blocks = rest.split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) take(reader, block);
        for (const wake of waiting) wake();
        waiting.clear();
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
  })();
  reader.ended.catch(() => undefined);
  return reader;
}

function take(reader: EventReader, block: string): void {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    if (line.startsWith(':')) reader.comments += 1;
    else fields.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2));
  }
  const event = fields.get('event');
  if (event === undefined) return;
  reader.frames.push({ id: fields.get('id') ?? null, event, data: JSON.parse(fields.get('data') ?? 'null') });
}
