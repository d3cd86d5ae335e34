import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import {
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { ComponentDetail } from '../../../domain/components/list-schema.ts';
import { callApi, recordPath } from '../shared/api-call.ts';
import { shownText } from '../shared/ui/shown-text.ts';
import { onTheme } from '../shared/ui/theme.ts';
import { cellAt, cellOf, type Group, groupOf, LETTERS, layoutOf, movedTo, placeOf } from './grid-layout.ts';
import { drawCells, type GridColours, pixelOf } from './grid-pixels.ts';

export interface GridCanvasProps {
  ids: readonly string[];
  groups: readonly Group[];
  status: string;
  labelOf(group: Group): string;
}

const WORDS = [...Object.values(LETTERS), 'running'] as const;
/** The reason of a cell is asked for when it stays so long, ms. */
const SETTLED_MS = 250;

/** One cell a component. Arrow keys and the pointer go through them, Enter and a click open. */
export function GridCanvas({ ids, groups, status, labelOf }: GridCanvasProps) {
  const total = ids.length;
  const navigate = useNavigate();
  const figure = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const said = useId();
  const [width, setWidth] = useState(0);
  const [chosen, choose] = useState<number | null>(null);
  const layout = useMemo(() => layoutOf(groups, total, width), [groups, total, width]);
  const { colours, probes } = useColours();
  const cell = chosen !== null && chosen < total ? chosen : null;

  useLayoutEffect(() => {
    const element = figure.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const drawn = useRef<{ of: unknown; by: unknown; status: string; image: ImageData } | null>(null);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d') ?? null;
    if (context === null || colours === null || width === 0) return;
    let known = drawn.current;
    if (known === null || known.of !== layout || known.by !== colours) {
      context.clearRect(0, 0, layout.width, layout.height);
      known = { of: layout, by: colours, status: '', image: new ImageData(layout.width, layout.height) };
    }
    const { image } = known;
    const rows = drawCells(new Uint32Array(image.data.buffer), layout, status, known.status, colours);
    if (rows !== null) context.putImageData(image, 0, 0, 0, rows.from, layout.width, rows.to - rows.from);
    drawn.current = { ...known, status };
  }, [layout, status, colours, width]);

  const open = (index: number) => {
    const id = ids[index];
    if (id !== undefined) void navigate({ to: '/components/$id', params: { id } });
  };
  const at = ({ clientX, clientY }: { clientX: number; clientY: number }) => {
    const box = canvas.current?.getBoundingClientRect();
    return box === undefined ? undefined : cellAt(layout, clientX - box.left, clientY - box.top);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || total === 0) return;
    if (event.key === 'Enter' && cell !== null) return open(cell);
    const next = movedTo(layout, total, cell ?? 0, event.key);
    if (next === undefined) return;
    event.preventDefault();
    choose(cell === null ? 0 : next);
  };
  const onPoint = (event: PointerEvent) => {
    const index = at(event);
    if (index !== undefined && index !== cell) choose(index);
  };
  const place = cell === null ? null : placeOf(layout, cell);
  return (
    <>
      <figure
        aria-label="Fleet grid"
        aria-describedby={said}
        className="grid"
        ref={figure}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys go through the cells
        tabIndex={0}
        onFocus={() => choose((before) => before ?? (total > 0 ? 0 : null))}
        onKeyDown={onKey}
        onPointerMove={onPoint}
        onClick={(event) => {
          const index = at(event);
          if (index !== undefined) open(index);
        }}
      >
        <canvas ref={canvas} width={Math.max(1, layout.width)} height={layout.height} />
        {place !== null && (
          <span
            aria-hidden="true"
            className="grid-cursor"
            style={{ left: place.x - 3, top: place.y - 3, width: layout.size + 6, height: layout.size + 6 }}
          />
        )}
        {probes}
      </figure>
      <p role="status" aria-label="Cell" id={said} className="grid-cell">
        {cell === null ? (
          'Arrow keys go through the cells, Enter opens a component.'
        ) : (
          <CellText
            id={ids[cell] ?? ''}
            letter={status[cell] ?? ''}
            group={groups.length > 1 ? labelOf(groupOf(groups, cell) ?? { label: '', start: 0, count: 0 }) : ''}
          />
        )}
      </p>
    </>
  );
}

/** What a cell is, and why; the reason comes when the cell stays chosen. */
function CellText({ id, letter, group }: { id: string; letter: string; group: string }) {
  const [asked, setAsked] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(id), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [id]);
  const read = useQuery({
    queryKey: ['component', asked, 'detail'],
    queryFn: ({ signal }) => callApi<ComponentDetail>(recordPath('components', asked ?? ''), { signal }),
    enabled: asked !== null && asked === id,
  });
  const { word, isHeld } = cellOf(letter);
  const why = asked === id && read.data !== undefined ? `: ${shownText(read.data.why)}` : '';
  return (
    <>
      {shownText(id)} {word}
      {isHeld && ', in a session'}
      {group !== '' && `, in ${shownText(group)}`}
      {why}
    </>
  );
}

/** The colours of the theme, as pixels: what the page has computed. They change with the theme. */
function useColours() {
  const place = useRef<HTMLSpanElement>(null);
  const [colours, setColours] = useState<GridColours | null>(null);
  useLayoutEffect(() => {
    const read = () => {
      const found = WORDS.map((word, index) => {
        const probe = place.current?.children[index]?.firstElementChild;
        return [word, probe ? pixelOf(getComputedStyle(probe).color) : 0] as const;
      });
      const { running: held = 0, ...words } = Object.fromEntries(found) as Record<(typeof WORDS)[number], number>;
      setColours({ ...words, held });
    };
    read();
    const theme = matchMedia('(prefers-color-scheme: dark)');
    theme.addEventListener('change', read);
    const end = onTheme(read);
    return () => {
      theme.removeEventListener('change', read);
      end();
    };
  }, []);
  const probes = (
    <span ref={place} hidden>
      {WORDS.map((word) => (
        <span key={word} className={`status ${word}`}>
          <span className="icon" />
        </span>
      ))}
    </span>
  );
  return { colours, probes };
}
