import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { confirmRefusal, type Effect, mustType, type RehearsedRequest } from '../rehearsal.ts';
import { CopyCommand } from './copy-command.tsx';
import { EffectText, useRehearsal } from './effect.tsx';
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
  /** Whether the refusal is shown elsewhere, and only told beside the button. */
  isTold?: boolean;
  /** Whether it cannot be done without a reason. */
  needsReason?: boolean;
  /** Inputs of the dialog; they may be told what the API said of them, where it has refused them. */
  fields?: ReactNode | ((refused: unknown) => ReactNode);
  /** What would come of it, in words; drawn when the dialog opens. */
  effect?(): ReactNode;
  /** What is sent, where there is a dry run of it; null while the inputs do not say it. */
  request?: RehearsedRequest | null;
  /** Returns why an effect is none that is meant; null when it is. */
  check?(effect: Effect): string | null;
  /** Sends it. Returns what came of it. */
  send(request: ActionRequest): Promise<ReactNode>;
  cli(reason: string): string;
  curl(reason: string): string;
  /** Is told when the dialog is closed. */
  closed?(): void;
}

/** A button and its dialog: effect, reason, confirmation, result. */
export function Action({ name, refusal, isTold = false, closed, ...dialog }: ActionProps) {
  const [isOpen, setOpen] = useState(false);
  const why = useId();
  const close = () => {
    setOpen(false);
    closed?.();
  };
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
        <span id={why} className={isTold ? 'unseen' : 'quiet'}>
          {refusal}
        </span>
      )}
      {isOpen && <ActionDialog name={name} refusal={refusal} {...dialog} close={close} />}
    </span>
  );
}

function ActionDialog({
  name,
  refusal,
  needsReason = false,
  fields,
  effect,
  request,
  check,
  send,
  cli,
  curl,
  close,
}: ActionProps & { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const [isSending, setSending] = useState(false);
  const [result, setResult] = useState<ReactNode>(null);
  const [mistake, setMistake] = useState<unknown>(null);
  const key = useKeyOf(JSON.stringify([reason, request]));
  const isDone = result !== null;
  // What was done is not asked about again.
  const rehearsal = useRehearsal(request === undefined || isDone ? null : request);
  useEffect(() => dialog.current?.showModal(), []);

  const { effect: found, isUnsupported } = rehearsal;
  const unmeant = (found && check?.(found)) ?? null;
  const untold = needsReason && reason.trim() === '' ? 'Say why' : null;
  const notYet = untold ?? (request === undefined || isUnsupported ? null : (unmeant ?? confirmRefusal(found, typed)));
  const confirm = async () => {
    setSending(true);
    setMistake(null);
    try {
      setResult(await send({ reason, key }));
    } catch (error) {
      setMistake(error);
    } finally {
      setSending(false);
    }
  };
  return (
    <dialog ref={dialog} aria-label={name} onClose={close}>
      <h2>{name}</h2>
      {!isDone && (typeof fields === 'function' ? fields(rehearsal.error ?? mistake) : fields)}
      {!isDone && (
        <fieldset aria-label="Effect">
          {request !== undefined && <EffectText rehearsal={rehearsal} />}
          {effect?.()}
        </fieldset>
      )}
      <p>
        <label htmlFor={`${id}-reason`}>Reason</label>{' '}
        <input
          id={`${id}-reason`}
          value={reason}
          maxLength={500}
          disabled={isDone}
          onChange={(event) => setReason(event.target.value)}
        />
      </p>
      {!isDone && found !== undefined && mustType(found) && (
        <p>
          <label htmlFor={`${id}-count`}>Type the count</label>{' '}
          <input
            id={`${id}-count`}
            inputMode="numeric"
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </p>
      )}
      {mistake !== null && (
        <p role="alert">{shownText(mistake instanceof Error ? mistake.message : String(mistake))}</p>
      )}
      {!isDone && (refusal ?? notYet) !== null && (
        <p className="quiet" id={`${id}-not-yet`}>
          {refusal ?? notYet}
        </p>
      )}
      {isDone && (
        <div role="status" aria-label="Result">
          {result}
        </div>
      )}
      <div className="buttons">
        {!isDone && (
          <button
            type="button"
            disabled={isSending || (refusal ?? notYet) !== null}
            aria-describedby={(refusal ?? notYet) === null ? undefined : `${id}-not-yet`}
            onClick={() => void confirm()}
          >
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

/** Returns a key that is another as soon as the input is. */
function useKeyOf(input: string): string {
  const [made, setMade] = useState(() => ({ input, key: randomKey() }));
  if (made.input === input) return made.key;
  const next = { input, key: randomKey() };
  setMade(next);
  return next.key;
}

/** `crypto.randomUUID` is there over TLS and on loopback alone. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
