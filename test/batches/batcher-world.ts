/** What the vectors of cfs-flows 5.3 need of a batcher: the simulated one answers it, and so may any other. Times in seconds. */
export interface SeenSession {
  name: string;
  at: number;
  configuration: string;
  limit: string;
  hosts: string[];
  tags: Record<string, string> | undefined;
  deletedAt: number | null;
}

export interface GivenComponent {
  id: string;
  configuration?: string;
  /** Its state entries, oldest first. */
  state?: [layer: number, status: 'applied' | 'failed'][];
  enabled?: boolean;
  tags?: Record<string, string>;
  errors?: number;
  /** Its own retry policy. */
  retries?: number;
}

export interface BatcherOptions {
  batch_size: number;
  batch_window: number;
  default_batcher_retry_policy: number;
  batcher_max_backoff: number;
  batcher_disable: boolean;
  batcher_pending_timeout: number;
}

export interface BatcherWorld {
  setOptions(options: Partial<BatcherOptions>): Promise<void>;
  /** A configuration with as many layers. */
  configure(name: string, layers: number): Promise<void>;
  put(component: GivenComponent): Promise<void>;
  setEnabled(id: string, enabled: boolean): Promise<void>;
  /** A report that says that every layer is applied. */
  reach(id: string): Promise<void>;
  /** The pass at an instant. */
  pass(at: number): Promise<void>;
  /** A session that started and ended, without any report of its hosts. */
  end(session: string, succeeded: 'true' | 'false'): Promise<void>;
  /** All sessions ever made, oldest first. */
  sessions(): Promise<SeenSession[]>;
  /** Indices of layers with what is stored for them, in the order of the state, and the error count. */
  component(id: string): Promise<{ state: { layer: number; status: string; session: string }[]; errors: number }>;
}
