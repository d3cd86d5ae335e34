/** Muster's own annotations of resources. Whoever edits a resource writes them: what cannot be read has no effect, and an Event tells of it. */
import { AnnotationTimeSchema } from './annotation-schema.ts';
import { canonicalText } from './dependent-change.ts';
import { goBoolean } from './read-flags.ts';

const PAUSED_ANNOTATION = 'muster/paused';
const DEPENDENTS_ANNOTATION = 'muster/watch-dependents';
/** Who pauses a resource with that annotation, and who asks for a reconcile with the other one, as records and reasons name them. */
export const BY_ANNOTATION = `the annotation ${PAUSED_ANNOTATION}`;
const REQUEST_ANNOTATION = 'muster/reconcile-requested-at';
export const BY_REQUEST_ANNOTATION = `the annotation ${REQUEST_ANNOTATION}`;

/** What the annotations of a resource say; it is on record as JSON. */
export interface OwnAnnotations {
  /** No run begins. */
  paused?: true;
  /** The pause ends by itself then, ISO with ms and Z; absent: it ends with the annotation. */
  pausedUntil?: string;
  /** Changes of its dependents make it run no more. */
  ignoresDependents?: true;
  /** Digest of the text that asks for a reconcile: each other one asks for one more. */
  request?: string;
  /** Sentences about what cannot be read. */
  mistakes?: string[];
}

/** Of a value that cannot be read so much is shown, characters. */
const SHOWN = 60;

/** Returns what the annotations of a resource say; null where it has none of Muster's own. `digest`: tells long texts apart. */
export function ownAnnotationsOf(
  annotations: Readonly<Record<string, string>>,
  digest: (text: string) => string,
): OwnAnnotations | null {
  const paused = annotations[PAUSED_ANNOTATION];
  const dependents = annotations[DEPENDENTS_ANNOTATION];
  const request = annotations[REQUEST_ANNOTATION];
  if (paused === undefined && dependents === undefined && request === undefined) return null;
  const pause = paused === undefined ? {} : pauseOf(paused);
  const watched = dependents === undefined ? true : goBoolean(dependents);
  const mistakes = [
    ...(pause === null
      ? [mistake(PAUSED_ANNOTATION, paused, 'it pauses nothing: write true, or a time such as 2026-01-02T03:04:05Z')]
      : []),
    ...(watched === undefined
      ? [mistake(DEPENDENTS_ANNOTATION, dependents, 'dependents are watched: write "false" or "true"')]
      : []),
  ];
  return {
    ...pause,
    ...(watched === false ? { ignoresDependents: true as const } : {}),
    ...(request === undefined ? {} : { request: digest(request) }),
    ...(mistakes.length === 0 ? {} : { mistakes }),
  };
}

/** Returns null for a text that is neither a boolean nor a time. */
function pauseOf(text: string): Pick<OwnAnnotations, 'paused' | 'pausedUntil'> | null {
  const word = goBoolean(text);
  if (word !== undefined) return word ? { paused: true } : {};
  if (!AnnotationTimeSchema.safeParse(text).success) return null;
  return { paused: true, pausedUntil: new Date(text).toISOString() };
}

function mistake(name: string, value: string | undefined, effect: string): string {
  return `The annotation ${name} is ${JSON.stringify((value ?? '').slice(0, SHOWN))}, and ${effect}`;
}

type Own = OwnAnnotations | null | undefined;

/** Whether two readings say the same. */
export function sameAnnotations(one: Own, other: Own): boolean {
  return one === other || canonicalText(one ?? null) === canonicalText(other ?? null);
}

/** Whether the annotations ask for a reconcile that nobody has asked for before. */
export function asksAgain(before: Own, now: Own): boolean {
  return now?.request !== undefined && now.request !== before?.request;
}

/** Returns the sentences that are new about what cannot be read. */
export function newMistakes(before: Own, now: Own): string[] {
  const known = before?.mistakes ?? [];
  return (now?.mistakes ?? []).filter((sentence) => !known.includes(sentence));
}
