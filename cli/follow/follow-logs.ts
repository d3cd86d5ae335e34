/** The output of a stream, at once or until it is over. */
import type { LogEntry } from '../../domain/runs/stream-schema.ts';
import type { ApiClient, Query } from '../client/api-client.ts';
import { eventStream } from '../client/event-stream.ts';
import { type CliContext, say } from '../context.ts';
import { CliFailure, EXIT, interrupted } from '../failure.ts';
import { writeData } from '../output/render.ts';

/** Writes the output that there is now; `path` is that of the session or run. */
export async function copyLogs(context: CliContext, api: ApiClient, path: string, query: Query): Promise<void> {
  const response = await api.open(
    { method: 'GET', path: `${path}/logs`, query },
    { headers: { accept: 'text/plain' } },
  );
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) writeData(context, decoder.decode(chunk, { stream: true }));
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    if (context.signal.aborted) throw interrupted();
    throw new CliFailure('unreachable', 'the connection broke off before the whole log was there', EXIT.unreachable);
  }
}

/** Writes the output as it comes, until the session or run is over. Returns what its last message says; undefined after Ctrl-C. */
export async function followLogs(context: CliContext, api: ApiClient, path: string, query: Query): Promise<unknown> {
  let end: unknown;
  const onEnd = (data: string) => {
    end = JSON.parse(data);
  };
  const options = { query, signal: context.signal, onEnd, ...connectionNotes(context) };
  for await (const { data } of eventStream(api, `${path}/logs`, options)) {
    writeData(context, (JSON.parse(data) as LogEntry).text);
  }
  if (context.signal.aborted) context.exit = EXIT.interrupted;
  return end;
}

/** Says that the API is away, and that it is back. */
export const connectionNotes = (
  context: CliContext,
): { onLost: (failure: CliFailure) => void; onBack: () => void } => ({
  onLost: (failure) => say(context, `${failure.message}; trying again`),
  onBack: () => say(context, 'the API answers again'),
});
