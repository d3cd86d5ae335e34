import { useState } from 'react';

/** Copies a command. What cannot be copied is shown, so that it can be by hand. */
export function CopyCommand({ name, text }: { name: string; text: string }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('copied');
    } catch {
      setSaid(text);
    }
  };
  return (
    <span className="copy">
      <button type="button" onClick={() => void copy()}>
        {name}
      </button>
      <span aria-live="polite">{said === 'copied' ? 'copied' : said !== '' && <code>{said}</code>}</span>
    </span>
  );
}

/** Returns a word as a shell takes it unchanged. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns a command of curl for a request; the token stays the user's own. */
export function curlCommand(method: string, url: string, body?: unknown): string {
  const data = body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(body))}`;
  return `curl -X ${method} -H "Authorization: Bearer $MUSTER_TOKEN"${data} ${shellWord(url)}`;
}
