import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import type { ImageJobView, StoredImageView } from '../../../domain/images/schema.ts';
import { useActingRefusal } from '../access/use-acting.ts';
import { apiBase, callApi, Refusal, recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { useLive } from '../shared/live/use-live.ts';
import { sizeText } from '../shared/size-text.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { PostAction } from '../shared/ui/post-action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';

interface ImagePageAnswer {
  images: StoredImageView[];
  next: { after_id: string } | null;
}

/** What is built? */
export function ImagePage() {
  const { dropped, ...search } = useSearch({ from: '/images' });
  return (
    <ListPage<ImagePageAnswer, StoredImageView>
      name="Images"
      search={search}
      dropped={dropped}
      filters={[]}
      api={{ path: '/images' }}
      queryKey={['images']}
      topic="images"
      rows={({ images }) => images}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Image',
          cell: ({ id, name }) => (
            <Link to="/images" search={{ ...search, shown: id }}>
              {shownText(name)}
            </Link>
          ),
        },
        { head: 'Id', cell: ({ id }) => id },
        { head: 'Architecture', cell: ({ arch }) => arch },
        { head: 'Format', cell: ({ format }) => format ?? 'no file here' },
        { head: 'Size', cell: ({ size }) => sizeText(size) },
        { head: 'Made', cell: ({ created }) => <Moment at={created} /> },
      ]}
      order="names"
      empty={{
        narrowed: 'There are no more images.',
        all: 'All images',
        nothing: (
          <>
            There are no images yet. <code>./muster image import FILE</code>
          </>
        ),
      }}
      command="./muster image list"
      above={search.shown !== undefined && <ImageDetails key={search.shown} id={search.shown} />}
      below={<Jobs />}
    />
  );
}

/** An image, and what may be done with it. */
function ImageDetails({ id }: { id: string }) {
  const path = recordPath('images', id);
  const may = useActingRefusal();
  const read = useQuery({
    queryKey: ['images', 'one', id],
    queryFn: ({ signal }) => callApi<StoredImageView>(path, { signal }),
  });
  const isGone = read.error instanceof Refusal && read.error.status === 404;
  const image = isGone ? undefined : read.data;
  return (
    <section aria-label="Image" aria-busy={read.isPending || undefined}>
      <h2>Image {shownText(image?.name ?? id)}</h2>
      {isGone && <p>There is no image with this id: it was deleted, or there was none.</p>}
      {read.isError && !isGone && <Failure error={read.error} retry={() => void read.refetch()} />}
      {image && (
        <>
          <dl>
            <dt>Id</dt>
            <dd>{image.id}</dd>
            <dt>SHA-256</dt>
            <dd>{image.sha256 ?? 'not known'}</dd>
            <dt>Made by</dt>
            <dd>{image.made_by === null ? 'an import' : shownText(`image job ${image.made_by}`)}</dd>
            {image.made_from !== null && (
              <>
                <dt>Made from</dt>
                <dd>
                  <Link to="/images" search={{ shown: image.made_from }}>
                    {shownText(image.made_from)}
                  </Link>
                </dd>
              </>
            )}
            <dt>Metadata</dt>
            <dd>
              {Object.entries(image.metadata)
                .map(([key, value]) => shownText(`${key}=${value}`))
                .join(', ') || 'none'}
            </dd>
          </dl>
          <p className="buttons">
            <PostAction
              name="Delete"
              refusal={may}
              method="DELETE"
              path={path}
              record={image.name}
              effect="Its file is removed too. An image that a session or a job uses is kept."
              done="It is deleted."
              changes={['images']}
              command={`./muster image delete ${shellWord(id)}`}
            />
            {may === null && image.format !== null && (
              <a href={`${apiBase()}${path}/content`} download>
                Export
              </a>
            )}
          </p>
        </>
      )}
    </section>
  );
}

/** Jobs that customise images. */
function Jobs() {
  const read = useQuery({
    queryKey: ['images', 'jobs'],
    queryFn: ({ signal }) => callApi<ImageJobView[]>('/jobs', { surface: '/apis/ims', signal }),
  });
  useLive('images', ['images', 'jobs']);
  return (
    <Part title="Image jobs" read={read}>
      {(jobs) => (
        <>
          <Rows
            name="Image jobs"
            columns={JOB_COLUMNS}
            rows={jobs.toSorted((one, other) => (one.created < other.created ? 1 : -1)).slice(0, JOBS)}
            keyOf={({ id }) => id}
            none="No image was customised yet."
          />
          {jobs.length > JOBS && <p>and {jobs.length - JOBS} older ones</p>}
        </>
      )}
    </Part>
  );
}

/** Jobs that are shown, the newest ones. */
const JOBS = 50;

const JOB_COLUMNS: readonly ListColumn<ImageJobView>[] = [
  { head: 'Job', cell: ({ id }) => shownText(id) },
  { head: 'Kind', cell: ({ job_type }) => job_type },
  { head: 'State', cell: ({ status }) => status },
  { head: 'Reason', cell: ({ message }) => shownText(message) },
  { head: 'Image to be', cell: ({ image_root_archive_name }) => shownText(image_root_archive_name) },
  {
    head: 'Result',
    cell: ({ resultant_image_id: id }) =>
      id !== null && (
        <Link to="/images" search={{ shown: id }}>
          {shownText(id)}
        </Link>
      ),
  },
  { head: 'Begun', cell: ({ created }) => <Moment at={created} /> },
];
