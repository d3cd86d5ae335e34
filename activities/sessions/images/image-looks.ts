import { notReady } from './image-waiting.ts';

/** Half of what a worker does at once on the main queue. */
const AT_ONCE = 25;

/**
 * Lets a worker look after so many images at the same moment and no more (25): a service that takes requests and does not answer, or a login
 * that hangs, holds the worker's places for as long as a request may take, and a session may have hundreds of images. One that finds no
 * place is told to come back, as one that finds nothing new; so it needs no queue of its own, which a former release would not serve.
 */
export function createImageLooks(atOnce = AT_ONCE): <T>(look: () => Promise<T>) => Promise<T> {
  let busy = 0;
  return async (look) => {
    if (busy >= atOnce) throw notReady(`this worker waits for answers about ${busy} other images`, '5s');
    busy += 1;
    try {
      return await look();
    } finally {
      busy -= 1;
    }
  };
}
