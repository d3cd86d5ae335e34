import type { ServerResponse } from 'node:http';

/** How often the tokens of answers that go on are looked at, ms: with the look itself they end within 5 s. */
const LOOK_AGAIN_MS = 4_000;

export interface OpenStreams {
  /** An answer to this token has begun. */
  opened(token: string, response: ServerResponse): void;
  close(): void;
}

/**
 * Ends long answers (live events, logs) whose token is not good any more. One look a token and round, whatever the number of
 * its streams.
 * @param isGood false when the token is refused; anything else that goes wrong must answer true
 */
export function watchOpenStreams(isGood: (token: string) => Promise<boolean>, everyMs = LOOK_AGAIN_MS): OpenStreams {
  const open = new Map<string, Set<ServerResponse>>();
  let looking = false;

  const look = async () => {
    if (looking) return;
    looking = true;
    try {
      const before = [...open].map(([token, responses]) => [token, [...responses]] as const);
      for (const [token, responses] of before) {
        const lasting = responses.filter((response) => response.headersSent && !response.writableEnded);
        if (lasting.length === 0 || (await isGood(token))) continue;
        for (const response of lasting) response.destroy();
      }
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();

  return {
    opened: (token, response) => {
      const responses = open.get(token) ?? new Set();
      open.set(token, responses.add(response));
      response.once('close', () => {
        responses.delete(response);
        if (responses.size === 0 && open.get(token) === responses) open.delete(token);
      });
    },
    close: () => clearInterval(timer),
  };
}
