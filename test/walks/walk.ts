/**
 * What a client of CFS sends, in the order and form in which it sends it, and what it relies on in the answers. Texts may hold
 * `{{name}}` for values that are known only when the walk is played, and `{{name+1}}` for the number after a kept one.
 */
export interface Walk {
  client: string;
  /** Values of headers that the client sends with everything. */
  headers?: Record<string, string>;
  /** Base of every path: the service itself, or the gateway's prefix. */
  base: '' | '/apis/cfs';
  steps: Step[];
}

export type Step = Exchange | { does: string; together: Exchange[] };

export interface Exchange {
  /** What the client does with it. */
  does: string;
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As sent, after the base. */
  path: string;
  query?: Query;
  headers?: Record<string, string>;
  body?: unknown;
  /** Sent so often at once; default once. */
  times?: number;
  /** The status of each answer, or how many answers have which. */
  status: number | Record<number, number>;
  /** What the client reads of the body: the rest is free. */
  reads?: unknown;
  /** Members the body must not have. */
  lacks?: string[];
  /** The whole body, where the client compares it. */
  is?: unknown;
  /** Values for later steps, by their path in the body (`status.session.job`, `layers.0.commit`). */
  keeps?: Record<string, string>;
  /** Asked again until the body has this. */
  until?: unknown;
  /** The lists of the answers at this member share these texts out: each is in exactly one. */
  shares?: { member: string; all: string[] };
  pages?: Pages;
}

/** A list read to its end: page after page, as `next` says. */
export interface Pages {
  /** Member with the records. */
  kind: 'components' | 'sessions' | 'configurations' | 'sources';
  /** Whether the client feeds all of `next` back, or only its `after_id`. */
  by: 'next' | 'after_id';
  /** Exactly these, in this order. */
  finds?: string[];
  /** Nothing but these, in any number: the list is read while they go. */
  within?: string[];
  /** At least so many requests are made. */
  atLeast?: number;
}

/** As Python clients pass it: `True`, `False`; null is left out. */
export type Query = Record<string, string | number | boolean | null>;
