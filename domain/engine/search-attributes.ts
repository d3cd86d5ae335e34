/** Search attributes of session workflows, all of type Keyword; registered wherever a Temporal server is set up. */
export const SEARCH_ATTRIBUTES = ['MusterConfiguration', 'MusterTarget', 'MusterStatus', 'MusterBatch'] as const;
