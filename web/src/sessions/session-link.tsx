import { Link } from '@tanstack/react-router';
import { shownText } from '../shared/ui/shown-text.ts';

/** A link to one session, whatever its name will be later. */
export function SessionLink({ id, name }: { id: string; name: string }) {
  return (
    <Link to="/sessions/$name" params={{ name }} search={{ id }}>
      {shownText(name)}
    </Link>
  );
}
