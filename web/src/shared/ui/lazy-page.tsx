/** Pages that are loaded when they are first opened. The router's own ones reload the tab where a file does not come, also while no API answers. */
import { type ComponentType, type FunctionComponent, useEffect, useReducer, useState } from 'react';
import { noteGone, UI_PATH } from '../api-call.ts';

/** How often the file is asked for that did not come, ms. */
const AGAIN_MS = 2_000;
/** A tab that was reloaded so lately does not reload itself again, ms: what is broken would go on for ever. */
const JUST_RELOADED_MS = 30_000;

/** A page, and its component once it is loaded. */
interface PageFile {
  Loaded: ComponentType | undefined;
  load(): Promise<void>;
}

/** Returns a component that loads `name` of a module before it is drawn. */
export function lazyPage<Name extends string>(
  load: () => Promise<Record<NoInfer<Name>, ComponentType>>,
  name: Name,
): FunctionComponent & { preload(): Promise<void> } {
  const file: PageFile = {
    Loaded: undefined,
    load: async () => {
      file.Loaded ??= (await load())[name];
    },
  };
  // What has gone wrong is said where the page is drawn.
  const preload = () => file.load().catch(() => undefined);
  return Object.assign(() => <LazyPage file={file} />, { preload });
}

function LazyPage({ file }: { file: PageFile }) {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const [error, setError] = useState<unknown>(null);
  const { Loaded } = file;
  useEffect(() => {
    if (file.Loaded === undefined) void file.load().then(draw, setError);
  }, [file]);
  if (Loaded !== undefined) return <Loaded />;
  return error === null ? <main aria-busy="true" /> : <NotLoaded error={error} />;
}

/** The file is asked for until it comes. A browser keeps in mind that a module did not come: only a new tab asks for it anew. */
function NotLoaded({ error }: { error: unknown }) {
  const [isGone, setGone] = useState(false);
  useEffect(() => {
    const ask = async () => {
      const answer = await fetch(fileOf(error), { method: 'HEAD', cache: 'no-store' }).catch(() => null);
      if (answer?.status === 404) {
        noteGone();
        setGone(true);
      }
      if (answer?.ok && (!wasReloaded() || performance.now() > JUST_RELOADED_MS)) location.reload();
    };
    void ask();
    const timer = setInterval(() => void ask(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [error]);
  return (
    <main>
      <title>Not loaded - Muster</title>
      <h1>This page is not loaded</h1>
      <div role="alert" className="failure">
        <p>
          {isGone
            ? 'Muster was updated, and the files of this page are gone.'
            : 'Muster does not answer. The page is loaded as soon as it does.'}
        </p>
        <button type="button" onClick={() => location.reload()}>
          {isGone ? 'Reload' : 'Retry'}
        </button>
      </div>
    </main>
  );
}

function wasReloaded(): boolean {
  return performance.getEntriesByType('navigation').some((entry) => 'type' in entry && entry.type === 'reload');
}

/** The file that did not come, as browsers name it; where they do not, the page itself. */
function fileOf(error: unknown): string {
  const named = error instanceof Error ? /https?:\/\/\S+\/ui\/assets\/[\w.-]+/.exec(error.message)?.[0] : undefined;
  return named?.startsWith(`${location.origin}${UI_PATH}/`) ? named : `${UI_PATH}/`;
}
