/** The words of an event, each judged by itself: keyword, emitter, condition, subscriber. */
import { closestWord } from '../closest-word.ts';
import type { ErrorCode } from '../errors.ts';
import { CONDITIONS, type Condition, type EventType } from './event-schema.ts';
import { readNodeName } from './node-id.ts';
import { isActionName, isResourceName } from './resource-name.ts';

/** What a word means, or why it means nothing. */
export type Read<T> = { value: T } | { code: ErrorCode; message: string };

/** What is known of the model that the events speak of. */
export interface KnownModel {
  /** Names of all resources; absent where any name counts. Only where they are known may an emitter be a bare resource. */
  resources?: ReadonlySet<string> | undefined;
  /** Whether a resource has an action; absent where any action counts. */
  defines?: ((resource: string, action: string) => boolean) | undefined;
}

const KEYWORDS: Readonly<Record<string, EventType>> = { on: 'react_on', after: 'depends_on' };

/** Returns the keyword of a type of event: `on` or `after`. */
export const keywordOf = (type: EventType): string => (type === 'react_on' ? 'on' : 'after');

/** Returns the type of event that a keyword means. */
export function readKeyword(word: string): Read<EventType> {
  const type = Object.hasOwn(KEYWORDS, word) ? KEYWORDS[word] : undefined;
  if (type !== undefined) return { value: type };
  return { code: 'event_syntax', message: `'${word}' is no keyword: an event begins with on or after` };
}

/** Returns the condition that a word means. */
export function readCondition(word: string): Read<Condition> {
  const condition = CONDITIONS.find((known) => known === word);
  if (condition !== undefined) return { value: condition };
  const meant = closestWord(word, CONDITIONS);
  const hint = meant === undefined ? `write ${CONDITIONS.join(', ')}` : `did you mean ${meant}?`;
  return { code: 'event_condition', message: `'${word}' is no condition: ${hint}` };
}

/** Returns the emitter that a word means: `resource.action` or `resource.*`. A bare resource stands for `resource.*`. */
export function readEmitter(word: string, model: KnownModel): Read<string> {
  if (word.endsWith('.*')) {
    const resource = word.slice(0, -2);
    if (!isResourceName(resource)) return malformed(word, 'resource.action or resource.*');
    return knows(model, resource) ? { value: word } : unknownResource(resource);
  }
  const name = readNodeName(word);
  const isAction = name !== null && knows(model, name.resource);
  const isBare = model.resources?.has(word) === true;
  if (isAction && isBare) {
    return {
      code: 'event_ambiguous',
      message: `'${word}' is a resource, and ${name.action} may be an action of ${name.resource}: write ${word}.* for the resource`,
    };
  }
  if (isBare) return { value: `${word}.*` };
  if (isAction) return definedNode(word, name.resource, name.action, model);
  if (name !== null) return unknownResource(name.resource);
  if (!isResourceName(word)) return malformed(word, 'resource.action or resource.*');
  return model.resources === undefined
    ? malformed(word, `${word}.* for every action of a resource, or resource.action`)
    : unknownResource(word);
}

/** Returns the subscriber that a word means: `resource.action`. */
export function readSubscriber(word: string, model: KnownModel): Read<string> {
  const name = readNodeName(word);
  if (name === null) return malformed(word, 'resource.action');
  if (!knows(model, name.resource)) return unknownResource(name.resource);
  return definedNode(word, name.resource, name.action, model);
}

const knows = (model: KnownModel, resource: string): boolean => model.resources?.has(resource) ?? true;

function definedNode(word: string, resource: string, action: string, model: KnownModel): Read<string> {
  if (model.defines?.(resource, action) ?? true) return { value: word };
  return { code: 'action_not_defined', message: `the resource ${resource} has no action ${action}` };
}

function unknownResource(resource: string): Read<string> {
  return { code: 'unknown_resource', message: `there is no resource ${resource}: name a resource that is known` };
}

function malformed(word: string, wanted: string): Read<string> {
  const action = word.slice(word.lastIndexOf('.') + 1);
  const long = word.includes('.') && action.length > 64 && isActionName(action.slice(0, 64));
  const why = long ? 'its action has more than 64 characters' : `write ${wanted}`;
  return {
    code: 'event_syntax',
    message: `'${word.length > 100 ? `${word.slice(0, 100)}...` : word}' is no node: ${why}`,
  };
}
