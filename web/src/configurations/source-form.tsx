import { Link } from '@tanstack/react-router';
import type { Source } from '../../../domain/configurations/schema.ts';
import { useActingRefusal } from '../access/use-acting.ts';
import { recordPath } from '../shared/api-call.ts';
import { FormAction } from '../shared/ui/form-action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { applyCommand, newSource, SOURCE_VARIABLES, sourceFields, sourcePatch, sourceValues } from './source-draft.ts';

/** Makes a source. */
export function NewSource() {
  const may = useActingRefusal('admin');
  return (
    <FormAction<Source>
      name="New source"
      refusal={may}
      begun={sourceValues(null)}
      fields={() => sourceFields(true)}
      request={(values) => {
        const body = newSource(values);
        return body && { method: 'POST', path: '/sources', surface: '/v3', body };
      }}
      done={({ name }) => (
        <p>
          Source{' '}
          <Link to="/sources" search={{ shown: name }}>
            {shownText(name)}
          </Link>{' '}
          is made.
        </p>
      )}
      changes={['sources']}
      cli={(values) => applyCommand(values.name?.trim() ?? '', newSource(values))}
      variables={SOURCE_VARIABLES}
    />
  );
}

/** Changes a source. */
export function ChangeSource({ source }: { source: Source }) {
  const may = useActingRefusal('admin');
  const { name } = source;
  return (
    <FormAction<Source>
      name="Change"
      refusal={may}
      begun={sourceValues(source)}
      fields={() => sourceFields(false)}
      request={(values, begun) => {
        const body = sourcePatch(values, begun);
        // CFS clients encode the name of a source twice.
        return body && { method: 'PATCH', path: recordPath('sources', encodeURIComponent(name)), surface: '/v3', body };
      }}
      note={() => <p>Layers that name this source are cloned from it as it is then.</p>}
      done={() => <p>It is changed.</p>}
      changes={['sources']}
      cli={(values, begun) => applyCommand(name, sourcePatch(values, begun))}
      variables={SOURCE_VARIABLES}
    />
  );
}
