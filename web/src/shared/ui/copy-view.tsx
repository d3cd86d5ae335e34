import { apiBase, type Surface } from '../api-call.ts';
import { curlCommand } from '../commands.ts';
import { CopyCommand } from './copy-command.tsx';

interface CopyViewProps {
  /** The command that shows the same. */
  command: string;
  /** What the view reads, below its surface. */
  path: string;
  surface?: Surface;
}

/** What a view shows, as commands to copy. */
export function CopyView({ command, path, surface }: CopyViewProps) {
  return (
    <p className="buttons">
      <CopyCommand name="Copy as CLI" text={command} />
      <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase(surface)}${path}`)} />
    </p>
  );
}
