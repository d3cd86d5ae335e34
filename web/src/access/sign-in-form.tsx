import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { callApi } from '../shared/api-call.ts';
import { shownText } from '../shared/ui/shown-text.ts';

/** Takes a token and exchanges it for a cookie; the token is kept nowhere. */
export function SignInForm({ done }: { done?: () => void }) {
  const id = useId();
  const client = useQueryClient();
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);

  const send = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setRefused(null);
    try {
      await callApi('/sign-in', { method: 'POST', body: { token: token.trim() } });
      setToken('');
      await client.invalidateQueries();
      done?.();
    } catch (error) {
      setRefused(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <form onSubmit={send} className="sign-in">
      <label htmlFor={id}>Token</label>
      <input
        id={id}
        type="password"
        autoComplete="off"
        spellCheck={false}
        required
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <button type="submit" disabled={busy}>
        Sign in
      </button>
      {refused !== null && <p role="alert">{shownText(refused)}</p>}
      <p className="quiet">
        A user with role admin makes a token: <code>./muster token create --role operator</code>
      </p>
    </form>
  );
}
