import { Refusal } from '../api-call.ts';
import { shownText } from './shown-text.ts';

/** What went wrong in one panel, and the way to try again. */
export function Failure({ error, retry }: { error: unknown; retry(): void }) {
  const refusal = error instanceof Refusal ? error : null;
  const detail = error instanceof Error ? error.message : String(error);
  return (
    <div role="alert" className="failure">
      <strong>{refusal?.title ?? 'The API does not answer'}</strong>
      <p>{shownText(detail)}</p>
      {refusal && (
        <p className="quiet">
          {refusal.code}
          {refusal.requestId && `, request ${shownText(refusal.requestId)}`}
        </p>
      )}
      <button type="button" onClick={retry}>
        Retry
      </button>
    </div>
  );
}
