import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { onSignedOut } from './hub-client.ts';
import type { ConnectionState } from './protocol.ts';
import { useConnection } from './use-live.ts';

const WORDS: Record<ConnectionState, string> = { live: 'Live', reconnecting: 'Reconnecting', stale: 'Stale' };
/** How often the age is told anew, ms: who hears the page is not interrupted more often. */
const AGE_EVERY_MS = 5_000;

/** How the page is connected, in the header. What failed while it was not is tried again as soon as it is. */
export function ConnectionStatus() {
  const client = useQueryClient();
  const { state, isPolled } = useConnection();
  useEffect(() => onSignedOut(() => void client.invalidateQueries({ queryKey: ['me'] })), [client]);
  useEffect(() => {
    if (state !== 'live') return;
    void client.refetchQueries({ predicate: ({ state: read }) => read.status === 'error' });
  }, [client, state]);
  return (
    <>
      <span role="status" aria-label="Connection" className={`connection ${state}`}>
        {WORDS[state]}
      </span>
      {isPolled && <span className="quiet">read every 10 s: this browser has no shared workers</span>}
    </>
  );
}

/** Above a page whose data may be old. */
export function StaleBanner() {
  const { state, lastByteAt } = useConnection();
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (state !== 'stale') return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), AGE_EVERY_MS);
    return () => clearInterval(timer);
  }, [state]);
  if (state !== 'stale') return null;
  return (
    <div role="alert" className="banner">
      Muster cannot be reached. What you see is {ageText(now - lastByteAt)} old; it is read again as soon as Muster
      answers.
    </div>
  );
}

function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 60 ? `${seconds} seconds` : `${Math.floor(seconds / 60)} minutes`;
}
