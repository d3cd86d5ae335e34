/** Returns a name that no session has had, as far as chance goes. */
export const newSessionName = (): string =>
  `web-${crypto.getRandomValues(new Uint32Array(1))[0]?.toString(16).padStart(8, '0') ?? ''}`;
