/** Examples of bodies of components, in the names of each version of the API. */

const COMMIT = '3f786850e387550fdab836ed7e6dc881de23001b_failed';
const URL_OF_EXAMPLES = 'https://git.example.com/site.git';

export const EXAMPLES_V3 = {
  putList: { two: [{ id: 'x1', desired_config: 'site', enabled: true }, { id: 'x2' }] },
  patches: {
    list: [{ id: 'x1', enabled: false }],
    filter: { patch: { desired_config: 'site' }, filters: { status: 'failed', tags: 'role=compute' } },
  },
  put: { new: { desired_config: 'site', enabled: true, tags: { role: 'compute' } } },
  patch: {
    desire: { desired_config: 'site', tags: { role: 'compute', old: '' } },
    report: {
      state_append: { clone_url: URL_OF_EXAMPLES, playbook: 'site.yml', commit: COMMIT, session_name: 'nightly' },
      error_count: 1,
    },
    again: { state: [], error_count: 0 },
  },
};

export const EXAMPLES_V2 = {
  putList: { two: [{ id: 'x1', desiredConfig: 'site', enabled: true }, { id: 'x2' }] },
  patches: {
    list: [{ id: 'x1', enabled: false }],
    filter: { patch: { desiredConfig: 'site' }, filters: { status: 'failed', tags: 'role=compute' } },
  },
  put: { new: { desiredConfig: 'site', enabled: true, tags: { role: 'compute' } } },
  patch: {
    desire: { desiredConfig: 'site', tags: { role: 'compute', old: '' } },
    report: {
      stateAppend: { cloneUrl: URL_OF_EXAMPLES, playbook: 'site.yml', commit: COMMIT, sessionName: 'nightly' },
      errorCount: 1,
    },
  },
};
