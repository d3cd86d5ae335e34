/** The one stream of a browser: topics, and what it says of them. */
import { z } from 'zod';

/** Topics of one stream at most: a page has a few, a browser some tabs. */
export const MAX_TOPICS = 200;
/** Longest name of a topic, in characters: an id of 600, each percent-encoded. */
const MAX_TOPIC = 6_000;

const TopicSchema = z.string().min(1).max(MAX_TOPIC);

/** Body of `POST /stream/{id}/topics`: all topics from now on. */
export const StreamTopicsBodySchema = z
  .strictObject({ topics: z.array(TopicSchema).max(MAX_TOPICS).describe('All topics from now on.') })
  .meta({ id: 'StreamTopicsBody' });

/** Which topics a stream has. */
export const StreamTopicsSchema = z
  .strictObject({
    topics: z.array(z.string()).describe('What the stream tells of.'),
    left_out: z.array(z.string()).describe('Topics that there are none of, or that the role may not read.'),
  })
  .meta({ id: 'StreamTopics' });
export type StreamTopics = z.infer<typeof StreamTopicsSchema>;

/** The first message, `hello`. */
export interface StreamHello extends StreamTopics {
  /** Of the stream, for `POST /stream/{id}/topics`. */
  id: string;
}

/** A message `changed`: what is behind the topic is to be read again. */
export interface TopicChanged {
  topic: string;
  /** Id of the record; null for a topic of many. */
  key: string | null;
  /** Differs from the one before; it has no meaning besides. */
  revision: string;
}
