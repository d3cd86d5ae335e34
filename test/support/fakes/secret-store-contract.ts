import { expect, test } from '@jest/globals';
import type { SecretStore } from '../../../domain/secrets/ports.ts';

/** What every store of secrets does, whatever keeps the values. Each call of `makeStore` answers an empty one. */
export function secretStoreContract(makeStore: () => Promise<SecretStore> | SecretStore): void {
  test('a secret that was never set is null', async () => {
    expect(await (await makeStore()).get('none')).toBeNull();
  });

  test('values are kept as they are, key by key', async () => {
    const store = await makeStore();
    const values = { username: 'ada', password: ' pä$$\n"word"\t\u{1F511} ', empty: '' };
    for (const [key, value] of Object.entries(values)) await store.put('vcs', key, value);
    await store.put('other', 'username', 'bob');
    expect(await store.get('vcs')).toEqual(values);
  });

  test('a value set again is replaced, the others stay', async () => {
    const store = await makeStore();
    await store.putAll('vcs', { username: 'ada', password: 'old' });
    await store.put('vcs', 'password', 'new');
    expect(await store.get('vcs')).toEqual({ username: 'ada', password: 'new' });
  });

  test('a whole secret set again loses the keys it no longer has', async () => {
    const store = await makeStore();
    await store.putAll('vcs', { username: 'ada', token: 'x' });
    await store.putAll('vcs', { username: 'bob' });
    expect(await store.get('vcs')).toEqual({ username: 'bob' });
  });

  test('a removed secret is gone, and removing it again is no error', async () => {
    const store = await makeStore();
    await store.putAll('vcs', { username: 'ada' });
    await store.putAll('stays', { a: '1' });
    await store.delete('vcs');
    await store.delete('vcs');
    expect(await store.get('vcs')).toBeNull();
    expect(await store.get('stays')).toEqual({ a: '1' });
  });

  test('a removed value is gone, the others stay, and with the last one the secret is gone', async () => {
    const store = await makeStore();
    await store.putAll('vcs', { username: 'ada', password: 'word' });
    await store.deleteKey('vcs', 'password');
    await store.deleteKey('vcs', 'password');
    await store.deleteKey('none', 'password');
    expect(await store.get('vcs')).toEqual({ username: 'ada' });
    await store.deleteKey('vcs', 'username');
    expect([await store.get('vcs'), await store.list()]).toEqual([null, []]);
  });

  test('the list names secrets and keys in order and shows no value', async () => {
    const store = await makeStore();
    await store.putAll('b', { y: 'hidden-1', x: 'hidden-2' });
    await store.putAll('a', { z: 'hidden-3' });
    const list = await store.list();
    expect(list).toEqual([
      { name: 'a', keys: ['z'] },
      { name: 'b', keys: ['x', 'y'] },
    ]);
    expect(JSON.stringify(list)).not.toContain('hidden');
  });

  test('what was answered can be changed without changing what is kept', async () => {
    const store = await makeStore();
    await store.putAll('vcs', { username: 'ada' });
    const answer = await store.get('vcs');
    if (answer !== null) answer.username = 'eve';
    expect(await store.get('vcs')).toEqual({ username: 'ada' });
  });
}
