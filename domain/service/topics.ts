/** Names of topics: a word, and for topics of one record `:` and its id. */

export interface Topic {
  word: string;
  /** Id of the record; null for a topic of many. */
  key: string | null;
}

/** Returns the parts of a topic's name. */
export function topicOf(name: string): Topic {
  const at = name.indexOf(':');
  return at < 0 ? { word: name, key: null } : { word: name.slice(0, at), key: name.slice(at + 1) };
}

/** Returns the names in a parameter `topics`, each once, in their order; empty parts are none. */
export function topicNames(parameter: string): string[] {
  return [...new Set(parameter.split(',').filter((name) => name !== ''))];
}

/** Where a reader stands: a count of changes of one process. Another process, or the same after a start, counts anew. */
export interface Mark {
  process: string;
  count: number;
}

/** Returns a mark as the id of a message. */
export function markText({ process, count }: Mark): string {
  return `${process}-${count}`;
}

/** Returns the mark of a message's id; null for text that is none. */
export function markOf(text: string): Mark | null {
  const [, process, count] = /^([0-9a-f]{16})-([0-9]{1,15})$/.exec(text) ?? [];
  return process === undefined ? null : { process, count: Number(count) };
}

/** What a process knows of a topic: since which count it watches, and the count of the last change. */
export interface Watched {
  since: number;
  changed: number;
}

/**
 * Returns which of `topics` changed behind a reader's mark; null when this process cannot know: the mark is of another process, or a
 * topic was not watched all the time.
 * @param watched what the process knows of a topic; undefined: nothing
 */
export function changedBehind(
  mark: Mark,
  process: string,
  topics: readonly string[],
  watched: (topic: string) => Watched | undefined,
): string[] | null {
  if (mark.process !== process) return null;
  const changed: string[] = [];
  for (const topic of topics) {
    const known = watched(topic);
    if (known === undefined || known.since > mark.count) return null;
    if (known.changed > mark.count) changed.push(topic);
  }
  return changed;
}
