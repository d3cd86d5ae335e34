import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState } from 'react';
import { KEY_HELP, keyMeaning } from './go-keys.ts';
import { isTyped, keysAreOn, switchKeys, useKeysAreOn } from './keys.ts';
import { chooseTheme, THEMES, useTheme } from './theme.ts';

/** Keys of every page, with the help that tells of them and the choices of this browser. */
export function Help() {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const isAfterGo = useRef(false);
  useEffect(() => {
    const go = (event: KeyboardEvent) => {
      if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
      const isOurs = !isTyped(event) && keysAreOn();
      const { to, isHelp, isGo } = keyMeaning(event.key, isAfterGo.current);
      isAfterGo.current = isOurs && isGo;
      if (!isOurs || (to === null && !isHelp)) return;
      // A page has keys of its own, of which one may be the same.
      event.preventDefault();
      event.stopImmediatePropagation();
      if (to === null) setOpen(true);
      else void navigate({ to });
    };
    document.addEventListener('keydown', go, { capture: true });
    return () => document.removeEventListener('keydown', go, { capture: true });
  }, [navigate]);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Help
      </button>
      {isOpen && <HelpDialog close={() => setOpen(false)} />}
    </>
  );
}

function HelpDialog({ close }: { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const theme = useTheme();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-label="Help" onClose={close}>
      <h2>Help</h2>
      <p>
        <label htmlFor={id}>Theme</label>{' '}
        <select
          id={id}
          value={theme}
          onChange={({ target }) => chooseTheme(THEMES.find((word) => word === target.value) ?? 'system')}
        >
          {THEMES.map((word) => (
            <option key={word}>{word}</option>
          ))}
        </select>
      </p>
      <p>
        <KeySwitch label="Keys of one letter" />
      </p>
      <table aria-label="Keys" className="wide">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">What it does</th>
          </tr>
        </thead>
        <tbody>
          {KEY_HELP.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

/** Switches keys of one letter on and off. */
export function KeySwitch({ label }: { label: string }) {
  const isOn = useKeysAreOn();
  return (
    <label>
      <input type="checkbox" checked={isOn} onChange={({ target }) => switchKeys(target.checked)} /> {label}
    </label>
  );
}
