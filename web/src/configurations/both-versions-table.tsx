import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { compareDrafts } from './both-versions.ts';
import { type Draft, draftOf, type Stored } from './draft.ts';

interface BothVersionsProps {
  mine: Draft;
  stored: Stored;
  keepMine(): void;
  takeStored(): void;
}

/** What the user has written beside what somebody else has stored meanwhile, for the user to choose. */
export function BothVersions({ mine, stored, keepMine, takeStored }: BothVersionsProps) {
  const rows = compareDrafts(mine, draftOf(stored.record));
  return (
    <section aria-label="Both versions" className="failure">
      <h2>Somebody else has written this configuration</h2>
      <p role="alert">
        It was written <Moment at={stored.record.last_updated} />, after you began. Yours is not saved, and nothing is
        lost: keep yours and save it over the stored version, or take the stored version.
      </p>
      <table aria-label="Both versions" className="wide">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Yours</th>
            <th scope="col">Stored</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ what, mine: here, stored: there, differs }) => (
            <tr key={what} className={differs ? 'differs' : undefined}>
              <th scope="row">
                {what}
                {differs && ' (differs)'}
              </th>
              <td>{shownText(here)}</td>
              <td>{shownText(there)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="buttons">
        <button type="button" onClick={keepMine}>
          Keep mine
        </button>
        <button type="button" onClick={takeStored}>
          Take the stored version
        </button>
      </div>
    </section>
  );
}
