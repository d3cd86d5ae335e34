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
