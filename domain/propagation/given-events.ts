/** Events as a caller hands them in: as text, or as a list of lines and objects. */
import type { Mistake } from '../errors.ts';
import type { GivenEvent, PropagationEvent } from './event-schema.ts';
import { parseEvents, readLine, refuseMistakes } from './event-text.ts';
import { type KnownModel, type Read, readCondition, readEmitter, readSubscriber } from './event-words.ts';
import { readNodeName } from './node-id.ts';
import { isResourceName } from './resource-name.ts';

/**
 * Reads the events. Without a list of resources those are known that are staged or named in an event together with an action.
 * Throws as `parseEvents` does; in a list the number of the entry, from 1, stands as its line.
 */
export function readEvents(
  given: string | readonly GivenEvent[],
  staged: readonly string[],
  resources?: readonly string[],
): PropagationEvent[] {
  const known = new Set(resources ?? namedResources(given, staged));
  if (typeof given === 'string') return parseEvents(given, { resources: known });
  const model: KnownModel = { resources: known };
  const reads = given.map((entry, index) =>
    typeof entry === 'string' ? readLine(entry, index + 1, model) : readObject(entry, index, model),
  );
  refuseMistakes(reads.flatMap(({ mistakes }) => mistakes));
  return reads.flatMap(({ event }) => event ?? []);
}

/** Whether a type of event is known; the internal type of a staged change is none. */
function readType(word: string): Read<PropagationEvent['type']> {
  if (word === 'depends_on' || word === 'react_on') return { value: word };
  return { code: 'event_syntax', message: `'${word}' is no type of event: write depends_on or react_on` };
}

function readObject(entry: Exclude<GivenEvent, string>, index: number, model: KnownModel) {
  const mistakes: Mistake[] = [];
  const take = <T>(member: keyof typeof entry, read: (word: string) => Read<T>): T | undefined => {
    const found = read(entry[member]);
    if ('value' in found) return found.value;
    mistakes.push({ ...found, field: `events.${index}.${member}`, line: index + 1 });
    return undefined;
  };
  const type = take('type', readType);
  const parent = take('parent', (word) => readEmitter(word, model));
  const on = take('on', readCondition);
  const child = take('child', (word) => readSubscriber(word, model));
  const isWhole = type !== undefined && parent !== undefined && on !== undefined && child !== undefined;
  return isWhole ? { event: { type, parent, on, child }, mistakes } : { mistakes };
}

/**
 * The resources that are named together with an action. A dotted emitter that may itself be a resource of this kind names none: `rmq.1`
 * beside `rmq.1.run` is a bare resource, not an action of `rmq`.
 */
function namedResources(given: string | readonly GivenEvent[], staged: readonly string[]): Set<string> {
  const named = new Set(staged.flatMap((node) => readNodeName(node)?.resource ?? []));
  const emitters = new Set<string>();
  for (const [emitter, subscriber] of endsOf(given)) {
    const child = readNodeName(subscriber);
    if (child !== null) named.add(child.resource);
    if (emitter.endsWith('.*') && isResourceName(emitter.slice(0, -2))) named.add(emitter.slice(0, -2));
    else emitters.add(emitter);
  }
  const read = [...emitters].flatMap((emitter) => {
    const name = readNodeName(emitter);
    return name === null ? [] : [{ emitter, resource: name.resource }];
  });
  const possible = new Set([...named, ...read.map(({ resource }) => resource)]);
  for (const { emitter, resource } of read) if (!possible.has(emitter)) named.add(resource);
  return named;
}

/** Emitter and subscriber of each entry, as far as they can be seen. */
function* endsOf(given: string | readonly GivenEvent[]): Generator<[string, string]> {
  for (const entry of typeof given === 'string' ? given.split('\n') : given) {
    if (typeof entry !== 'string') yield [entry.parent, entry.child];
    else {
      const [, emitter = '', , subscriber = ''] = entry.trim().split(/[ \t]+/);
      yield [emitter, subscriber];
    }
  }
}
