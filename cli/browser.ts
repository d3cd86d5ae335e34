/** The browser of the person at this machine. */
import { spawn } from 'node:child_process';

/** Opens a page. Returns false where there is no desktop, or nothing that opens pages. */
export async function openBrowser(
  url: string,
  { DISPLAY, WAYLAND_DISPLAY, BROWSER }: { DISPLAY?: string; WAYLAND_DISPLAY?: string; BROWSER?: string },
): Promise<boolean> {
  const isMac = process.platform === 'darwin';
  if (!isMac && !DISPLAY && !WAYLAND_DISPLAY && !BROWSER) return false;
  const program = BROWSER || (isMac ? 'open' : 'xdg-open');
  return new Promise((resolve) => {
    const child = spawn(program, [url], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
