/** The SharedWorker of all pages of one browser. */
import { createHub, type HubPage } from './hub-core.ts';
import type { ToHub } from './protocol.ts';

declare const self: SharedWorkerGlobalScope;

const hub = createHub({
  fetch: (input, init) => self.fetch(input, init),
  root: self.location.pathname.replace(/\/ui\/assets\/[^/]*$/, ''),
  now: () => Date.now(),
  later: (ms, work) => {
    const timer = setTimeout(work, ms);
    return { cancel: () => clearTimeout(timer) };
  },
  random: () => Math.random(),
});
setInterval(() => hub.tick(), 1_000);

self.onconnect = ({ ports }) => {
  for (const port of ports) {
    const page: HubPage = { send: (message) => port.postMessage(message) };
    port.onmessage = ({ data }: MessageEvent<ToHub>) => hub.take(page, data);
  }
};
