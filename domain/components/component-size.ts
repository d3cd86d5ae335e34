/** How large a component may be. What Muster itself records always fits: entries that others wrote go for it. */
import { musterError } from '../errors.ts';
import { jsonBytes } from '../json-size.ts';
import type { Component, ComponentBody, StateLayer } from './schema.ts';

export const MAX_STATE_ENTRIES = 1_000;
export const MAX_COMPONENT_TAGS = 1_000;
/** Of the whole record as JSON. */
export const MAX_COMPONENT_BYTES = 256 * 1024;

/**
 * `bad_request` for a write that makes a component larger than its bounds. One that is larger already, of before there were bounds,
 * can be written as long as it does not grow.
 */
export function requireComponentSize(before: Component, after: Component, body: ComponentBody): void {
  requireCount(before.state.length, after.state.length, MAX_STATE_ENTRIES, 'entries', stateMember(body));
  const [tagsBefore, tags] = [Object.keys(before.tags).length, Object.keys(after.tags).length];
  requireCount(tagsBefore, tags, MAX_COMPONENT_TAGS, 'tags', 'tags');
  if (body.state === undefined && body.state_append === undefined && body.tags === undefined) return;
  if (isSurelySmall(after)) return;
  const bytes = jsonBytes(after);
  if (bytes <= MAX_COMPONENT_BYTES) return;
  const [inState, inTags] = [jsonBytes(after.state), jsonBytes(after.tags)];
  if (inState + inTags <= jsonBytes(before.state) + jsonBytes(before.tags)) return;
  const isState = body.tags === undefined || inState > inTags;
  const member = isState ? stateMember(body) : 'tags';
  const largest = isState ? `${inState} of them in its state` : `${inTags} of them in its tags`;
  throw musterError(
    'bad_request',
    `Component ${after.id} would have ${bytes} bytes, ${largest}: at most ${MAX_COMPONENT_BYTES} (256 KiB)`,
    member,
  );
}

/** What a character takes at most in JSON, and what an entry takes beside its texts. */
const WORST = 6;
const AROUND = 200;

/** Whether a component is within its bounds however its characters are written; nearly all are, and need not be written out. */
function isSurelySmall({ id, desired_config, state, tags }: Component): boolean {
  let characters = id.length + desired_config.length;
  for (const { clone_url, playbook, commit, session_name } of state) {
    characters += clone_url.length + playbook.length + commit.length + session_name.length;
  }
  let count = state.length + 10;
  for (const name in tags) {
    characters += name.length + (tags[name]?.length ?? 0);
    count += 1;
  }
  return characters * WORST + count * AROUND < MAX_COMPONENT_BYTES;
}

const stateMember = (body: ComponentBody): string => (body.state_append === undefined ? 'state' : 'state_append');

function requireCount(before: number, after: number, most: number, what: string, member: string): void {
  if (after <= most || after <= before) return;
  const where = what === 'tags' ? 'A component' : 'The state of a component';
  throw musterError('bad_request', `${where} has at most ${most} ${what}: this would be ${after}`, member);
}

/** Whether a component is beyond its bounds. */
export function isTooLarge(component: Component): boolean {
  return component.state.length > MAX_STATE_ENTRIES || jsonBytes(component) > MAX_COMPONENT_BYTES;
}

/**
 * The state without so many of its oldest entries that the component is within its bounds: first those that are not `kept`, then
 * the others, but never those of the session that reports now.
 */
export function fittingState(
  component: Component,
  session: string,
  kept: (entry: StateLayer) => boolean,
): StateLayer[] {
  let entries = component.state.length;
  let bytes = jsonBytes(component);
  const gone = new Set<StateLayer>();
  const others = component.state.filter((entry) => entry.session_name !== session);
  for (const entry of [...others.filter((one) => !kept(one)), ...others.filter(kept)]) {
    if (entries <= MAX_STATE_ENTRIES && bytes <= MAX_COMPONENT_BYTES) break;
    gone.add(entry);
    entries -= 1;
    bytes -= jsonBytes(entry) + 1;
  }
  return component.state.filter((entry) => !gone.has(entry));
}
