import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { CopyCommand } from './copy-command.tsx';
import { shownText } from './shown-text.ts';

/** What a dialog sends when it is confirmed. */
export interface ActionRequest {
  reason: string;
  /** Idempotency key: the same dialog with the same input is one request, however often it is sent. */
  key: string;
}

export interface ActionProps {
  /** Of the button and of its dialog. */
  name: string;
  /** Why it cannot be done now; null: it can. */
  refusal: string | null;
  /** What would come of it; drawn when the dialog opens. */
  effect(): ReactNode;
  /** Sends it. Returns what came of it. */
  send(request: ActionRequest): Promise<ReactNode>;
  cli(reason: string): string;
  curl(reason: string): string;
}

/** A button and its dialog: effect, reason, confirmation, result. */
export function Action({ name, refusal, ...dialog }: ActionProps) {
  const [isOpen, setOpen] = useState(false);
  const why = useId();
  return (
    <span className="action">
      <button
        type="button"
        disabled={refusal !== null}
        aria-describedby={refusal === null ? undefined : why}
        onClick={() => setOpen(true)}
      >
        {name}
      </button>
      {refusal !== null && (
        <span id={why} className="quiet">
          {refusal}
        </span>
      )}
      {isOpen && <ActionDialog name={name} refusal={refusal} {...dialog} close={() => setOpen(false)} />}
    </span>
  );
}

function ActionDialog({ name, refusal, effect, send, cli, curl, close }: ActionProps & { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [reason, setReason] = useState('');
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [isSending, setSending] = useState(false);
  const [result, setResult] = useState<ReactNode>(null);
  const [mistake, setMistake] = useState<string | null>(null);
  useEffect(() => dialog.current?.showModal(), []);

  const confirm = async () => {
    setSending(true);
    setMistake(null);
    try {
      setResult(await send({ reason, key }));
    } catch (error) {
      setMistake(error instanceof Error ? error.message : String(error));
    } finally {
      setSending(false);
    }
  };
  return (
    <dialog ref={dialog} aria-label={name} onClose={close}>
      <h2>{name}</h2>
      <fieldset aria-label="Effect">{effect()}</fieldset>
      <label htmlFor={id}>Reason</label>
      <input
        id={id}
        value={reason}
        maxLength={500}
        disabled={result !== null}
        onChange={(event) => {
          setReason(event.target.value);
          setKey(crypto.randomUUID());
        }}
      />
      {mistake !== null && <p role="alert">{shownText(mistake)}</p>}
      {result === null && refusal !== null && <p className="quiet">{refusal}</p>}
      {result !== null && (
        <p role="status" aria-label="Result">
          {result}
        </p>
      )}
      <div className="buttons">
        {result === null && (
          <button type="button" disabled={isSending || refusal !== null} onClick={() => void confirm()}>
            Confirm
          </button>
        )}
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
        <CopyCommand name="Copy as CLI" text={cli(reason)} />
        <CopyCommand name="Copy as curl" text={curl(reason)} />
      </div>
    </dialog>
  );
}
