import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Requests that are kept back. */
export interface HeldRequest {
  /** Resolves when the first is there. */
  reached: Promise<void>;
  /** Lets all of them go on that somebody still waits for, and keeps none back from then on. */
  letGo(): void;
}

/** `before` the server gets a request, or `after` it has done it, before the answer. */
export type HoldWhen = 'before' | 'after';

/** Keeps every such request back until it is let go. */
export type HoldRequests<R> = (when: HoldWhen, which: (request: R) => boolean) => HeldRequest;

export interface RequestGate<R> {
  hold: HoldRequests<R>;
  /** Waits where a hold wants it; answers whether somebody still waits for the answer. */
  pass(when: HoldWhen, request: R, response: ServerResponse): Promise<boolean>;
}

interface Hold<R> {
  when: HoldWhen;
  which(request: R): boolean;
  reach(): void;
  go: Promise<void>;
}

/** What a server asks on its way from a request to its answer, so that a test can do something at exactly that moment. */
export function openRequestGate<R>(): RequestGate<R> {
  const holds = new Set<Hold<R>>();
  return {
    hold(when, which) {
      const reached = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      const own: Hold<R> = { when, which, reach: reached.resolve, go: go.promise };
      holds.add(own);
      return {
        reached: reached.promise,
        letGo: () => {
          holds.delete(own);
          go.resolve();
        },
      };
    },
    async pass(when, request, response) {
      const hold = [...holds].find((one) => one.when === when && one.which(request));
      if (hold !== undefined && !response.destroyed) {
        hold.reach();
        await Promise.race([hold.go, once(response, 'close')]);
      }
      return !response.destroyed;
    },
  };
}
