import { readImagesRevision } from '../../../store/images/revisions.ts';
import { topicOfList } from '../../server/streaming/topic-watches.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { imageApi } from './dependencies.ts';
import { imageRoutes } from './image-routes.ts';
import { imsRoutes } from './ims-routes.ts';

/** Images, and the built-in image service. */
export const images: ApiLane = (shared) => {
  const deps = imageApi(shared);
  return {
    tags: {
      'image service': 'Images, public keys and image jobs, as clients of an image service know them.',
      images: 'Images with their files.',
    },
    ims: (app) => imsRoutes(app, deps),
    muster: { images: (app) => imageRoutes(app, deps) },
    topics: { images: topicOfList(shared.streams, () => readImagesRevision(shared.db)) },
  };
};
