import { useEffect, useState } from 'react';
import { serverNow } from '../api-call.ts';

/** How often ages are written anew, ms. */
const ANEW_MS = 10_000;

/** A time as an age, by the server's clock; exact, with its zone, for who points at it or hears it. */
export function Moment({ at }: { at: string }) {
  const [, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setCount((count) => count + 1), ANEW_MS);
    return () => clearInterval(timer);
  }, []);
  const time = new Date(at);
  return (
    <time dateTime={at} title={time.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' })}>
      {ageText(serverNow() - time.getTime())}
    </time>
  );
}

/** Returns an age in words: the largest unit, rounded down. What is a little ahead is now. */
export function ageText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 5 && seconds > -60) return 'just now';
  const words = spanText(Math.abs(ms));
  return seconds < 0 ? `in ${words}` : `${words} ago`;
}

/** Returns a span of time: its largest unit, and below an hour the next one too. */
export function spanText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3_600) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
