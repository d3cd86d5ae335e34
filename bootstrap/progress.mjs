/**
 * Progress of the set-up on stderr: on a terminal one live line per step, elsewhere plain lines (start, every 15 s, end).
 * A step that had nothing to do prints nothing.
 */

const LIVE_INTERVAL_MS = 120;
const PLAIN_INTERVAL_MS = 15_000;
const BACKGROUND_INTERVAL_MS = 60_000;
let plain = false;
let plainInterval = PLAIN_INTERVAL_MS;
const FRAMES = ['|', '/', '-', '\\'];

const seconds = (ms) =>
  ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;

/** For a process beside which another one writes to the same terminal: few lines, and no live ones. */
export function keepToPlainLines() {
  plain = true;
  plainInterval = BACKGROUND_INTERVAL_MS;
}

/**
 * Runs one step under a title.
 * @template T
 * @param {string} title what is being done, as a sentence without full stop
 * @param {(detail: (text: string) => void) => Promise<T>} work reports what it does at the moment through `detail`
 * @param {NodeJS.WriteStream} out
 * @returns {Promise<T>}
 */
export async function step(title, work, out = process.stderr) {
  const startedAt = Date.now();
  const live = out.isTTY === true && !plain;
  let detail = '';
  let frame = 0;
  const line = () => {
    const text = `${title} (${seconds(Date.now() - startedAt)})${detail ? `: ${detail}` : ''}`;
    return text.replace(/\s+/g, ' ').slice(0, Math.max(20, (live ? (out.columns ?? 80) : 200) - 3));
  };
  const show = () => {
    if (live) out.write(`\r\x1b[K${FRAMES[frame++ % FRAMES.length]} ${line()}`);
    else out.write(`  ${line()}\n`);
  };
  show();
  const timer = setInterval(show, live ? LIVE_INTERVAL_MS : plainInterval);
  const finish = (mark) => {
    clearInterval(timer);
    out.write(`${live ? '\r\x1b[K' : ''}${mark} ${title} (${seconds(Date.now() - startedAt)})\n`);
  };
  try {
    const result = await work((text) => {
      detail = text;
    });
    finish('+');
    return result;
  } catch (error) {
    finish('x');
    throw error;
  }
}
