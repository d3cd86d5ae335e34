/** Messages of a stream of server-sent events, as the pieces come. */

export interface StreamMessage {
  id: string | null;
  event: string;
  data: string;
}

/** Longest message that is waited for, in characters: more is no stream of ours. */
const MAX_MESSAGE = 1_000_000;

/** Returns what takes pieces of text and returns the messages that they complete. Throws for a message without end. */
export function eventParser(): (piece: string) => StreamMessage[] {
  let rest = '';
  return (piece) => {
    rest += piece;
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > MAX_MESSAGE) throw new Error('a message of the stream has no end');
    return blocks.flatMap(messageOf);
  };
}

function messageOf(block: string): StreamMessage[] {
  let [id, event]: [string | null, string | null] = [null, null];
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    // A comment, or a line without value.
    if (at <= 0) continue;
    const value = line.slice(at + 1).replace(/^ /, '');
    if (line.startsWith('id:')) id = value;
    if (line.startsWith('event:')) event = value;
    if (line.startsWith('data:')) data.push(value);
  }
  return event === null || data.length === 0 ? [] : [{ id, event, data: data.join('\n') }];
}
