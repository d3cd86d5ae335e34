import { useId } from 'react';
import { type FormField, type FormValues, wordsOf } from '../form-values.ts';
import { refusedField } from '../refused-field.ts';
import { shownText } from './shown-text.ts';

interface FormFieldsProps {
  fields: readonly FormField[];
  values: FormValues;
  /** What the API said of what is written here. */
  refused: unknown;
  change(values: FormValues): void;
}

/** The fields of a form. What the API refuses stands at its field. */
export function FormFields({ fields, values, refused, change }: FormFieldsProps) {
  const found = refusedField(fields, refused);
  return (
    <div className="fields">
      {fields.map((field) => (
        <OneField
          key={field.name}
          field={field}
          text={values[field.name] ?? ''}
          mistake={found?.field.name === field.name ? found.words : null}
          change={(text) => change({ ...values, [field.name]: text })}
        />
      ))}
    </div>
  );
}

interface OneFieldProps {
  field: FormField;
  text: string;
  mistake: string | null;
  change(text: string): void;
}

function OneField({ field, text, mistake, change }: OneFieldProps) {
  const id = useId();
  const { label, hint, kind = 'text', words, some } = field;
  const notes = [hint === undefined ? '' : `${id}-hint`, mistake === null ? '' : `${id}-mistake`];
  const shared = {
    id,
    'aria-describedby': notes.filter((note) => note !== '').join(' ') || undefined,
    'aria-invalid': mistake !== null || undefined,
  };
  const below = (
    <>
      {hint !== undefined && (
        <span id={`${id}-hint`} className="quiet">
          {hint}
        </span>
      )}
      {mistake !== null && (
        <span id={`${id}-mistake`} className="mistake">
          {shownText(mistake)}
        </span>
      )}
    </>
  );
  if (some !== undefined) {
    const chosen = wordsOf(text);
    const choose = (word: string, isChosen: boolean) =>
      change(some.filter((one) => (one === word ? isChosen : chosen.includes(one))).join(' '));
    return (
      <fieldset aria-label={label} aria-describedby={shared['aria-describedby']}>
        <span aria-hidden="true">{label}</span>
        {some.map((word) => (
          <label key={word}>
            <input
              type="checkbox"
              checked={chosen.includes(word)}
              onChange={({ target }) => choose(word, target.checked)}
            />{' '}
            {word}
          </label>
        ))}
        {below}
      </fieldset>
    );
  }
  return (
    <span>
      <label htmlFor={id}>{label}</label>
      {words !== undefined ? (
        <select {...shared} value={text} onChange={({ target }) => change(target.value)}>
          {words.map((word) => (
            <option key={word} value={word}>
              {word === '' ? 'any' : word}
            </option>
          ))}
        </select>
      ) : kind === 'switch' ? (
        <input
          {...shared}
          type="checkbox"
          checked={text === 'true'}
          onChange={({ target }) => change(target.checked ? 'true' : '')}
        />
      ) : (
        <input
          {...shared}
          type={kind === 'secret' ? 'password' : 'text'}
          autoComplete={kind === 'secret' ? 'new-password' : 'off'}
          spellCheck={false}
          value={text}
          onChange={({ target }) => change(target.value)}
        />
      )}
      {below}
    </span>
  );
}
