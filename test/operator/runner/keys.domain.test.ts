/** Names of variables from keys of resources. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Collision, convertKeys } from '../../../domain/operator/convert-keys.ts';
import { objectVariable } from '../../../domain/operator/object-variable.ts';
import { toSnake } from '../../../domain/operator/snake-case.ts';
import { unsafeValues } from '../../../domain/runs/unsafe-values.ts';

const VECTORS = `
size size                        replicaCount replica_count       maxReplicaCount max_replica_count
PascalCase _pascal_case          JSONData _json_data              parseJSONData parse_json_data
myJSON my_json                   baseURL base_url                 baseURLPath base_url_path
baseURLs base_urls               URL __url                        URLs __urls
URLPath url_path                 HTTPPort http_port               httpPort http_port
enableHTTP enable_http           HTTPURL http__url                HTTPURLIP http__url__ip
podIP pod_ip                     podIPs pod_ips                   IPAddress ip_address
clusterIPRange cluster_ip_range  IPAndIPs ip_and_i_ps             twoIPIP two_ip_ip
ZIP _z_ip                        myZIPFile my_z_ip_file           APIVersion _api_version
IPv6 ip_v6                       HTTP2Enabled http_2_enabled      ipv4Address ipv4_address
a1b2 a_1_b2                      x1y2z3 x_1_y2z3                  v2Ray3 v2_ray3
k8sVersion k8s_version           imageTag2 image_tag2             oauth2Proxy oauth2_proxy
abc123def abc123def              abc123Def abc123_def             aB ab
aBC abc                          ABc _a_bc                        ABCd _ab_cd
A _a                             ABC _abc                         with-dash with_dash
_leading _leading                __double __double                trailing_ trailing_
a__b a__b                        Mixed_caseKey _mixed_case_key    already_Snake_Case already_snake_case
app.kubernetes.io/name app.kubernetes.io/name                     naïveKey naïve_key
diskGB disk_gb                   CPUMax _cpu_max
`
  .trim()
  .split(/\s+/);
const pairs = VECTORS.flatMap((key, index) => (index % 2 === 0 ? [[key, VECTORS[index + 1] ?? '']] : []));

describe('a key in snake case', () => {
  test('the table is whole', () => expect(pairs).toHaveLength(55));

  test.each(pairs)('%s is %s', (key, name) => expect(toSnake(key)).toBe(name));

  test.each([
    ['with space', 'with_space'],
    [' sizeOf ', 'size_of'],
    ['', ''],
    ['  ', '  '],
    ['__proto__', '__proto__'],
    ['URLsafe', '_urls_afe'],
  ])('%j is %j', (key, name) => expect(toSnake(key)).toBe(name));

  test('words of small letters come back, and a name is stable once it is made', () => {
    const word = fc.stringMatching(/^[a-z]{2,8}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        const camel = words
          .map((part, index) => (index === 0 ? part : part[0]?.toUpperCase() + part.slice(1)))
          .join('');
        expect(toSnake(camel)).toBe(words.join('_'));
        expect(toSnake(words.join('_'))).toBe(words.join('_'));
      }),
    );
  });

  test('has no capital letter of ASCII, no blank and no dash, whatever the key', () => {
    fc.assert(
      fc.property(fc.string(), (key) => {
        if (key.replace(/^ +| +$/g, '') !== '') expect(toSnake(key)).not.toMatch(/[A-Z -]/);
      }),
    );
  });

  test('a key of any length is done at once', () => {
    for (const part of ['a1', 'A', 'HTTP', 'aB', '1']) expect(toSnake(part.repeat(200_000))).toBeTruthy();
  });
});

const convert = (value: unknown): { value: unknown; collisions: Collision[] } => {
  const collisions: Collision[] = [];
  return { value: convertKeys(value, (collision) => collisions.push(collision)), collisions };
};

describe('keys of a spec', () => {
  test('are converted at every depth, values never', () => {
    const spec = { podIPs: ['1.2.3.4', { nodeName: 'aB', num: 2 }], On: true, none: null, deep: [[{ aB: {} }]] };
    const expected = { pod_ips: ['1.2.3.4', { node_name: 'aB', num: 2 }], _on: true, none: null, deep: [[{ ab: {} }]] };
    expect(convert(spec)).toEqual({ value: expected, collisions: [] });
  });

  test.each([
    [{ replica_count: 1, replicaCount: 2 }, { replica_count: 1 }, 'replica_count', 'replicaCount'],
    [{ replicaCount: 2, replica_count: 1 }, { replica_count: 1 }, 'replica_count', 'replicaCount'],
    [{ 'replica-count': 3, replicaCount: 2 }, { replica_count: 2 }, 'replicaCount', 'replica-count'],
    [{ httpPort: 1, HTTPPort: 2 }, { http_port: 1 }, 'httpPort', 'HTTPPort'],
  ])('%j: one of two keys with one name is kept', (spec, expected, kept, dropped) => {
    const { value, collisions } = convert(spec);
    expect(value).toEqual(expected);
    expect(collisions).toMatchObject([{ kept, dropped }]);
  });

  test('the result does not depend on the order of keys', () => {
    const keys = fc.constantFrom('aBc', 'a-bc', 'a_bc', 'a bc', 'ABC', 'a1b2', 'httpPort', 'HTTPPort', 'http_port');
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(keys, fc.nat()), { selector: ([key]) => key }), (members) => {
        const one = convert(Object.fromEntries(members));
        expect(convert(Object.fromEntries([...members].reverse()))).toEqual(one);
        expect(Object.keys(one.value as object).length + one.collisions.length).toBe(members.length);
      }),
    );
  });

  test('a key of the prototype is a key like others', () => {
    const { value } = convert(JSON.parse('{"__proto__": {"isAdmin": true}, "constructor": 1}'));
    expect(JSON.stringify(value)).toBe('{"__proto__":{"is_admin":true},"constructor":1}');
    expect(({} as { is_admin?: boolean }).is_admin).toBeUndefined();
  });
});

describe('unsafe text', () => {
  test('is every string value, at every depth, and nothing else', () => {
    const value = { a: '{{ 1+1 }}', '{{ b }}': [1, true, null, 'x', { c: '' }] };
    expect(unsafeValues(value)).toEqual({
      a: { __ansible_unsafe: '{{ 1+1 }}' },
      '{{ b }}': [1, true, null, { __ansible_unsafe: 'x' }, { c: { __ansible_unsafe: '' } }],
    });
  });

  test('no string of any data is left unmarked', () => {
    const unmarked = (value: unknown): boolean => {
      if (typeof value === 'string') return true;
      if (typeof value !== 'object' || value === null) return false;
      const members = Object.entries(value);
      if (members.length === 1 && members[0]?.[0] === '__ansible_unsafe' && typeof members[0][1] === 'string')
        return false;
      return members.some(([, member]) => unmarked(member));
    };
    fc.assert(fc.property(fc.jsonValue(), (value) => !unmarked(unsafeValues(value))));
  });

  test('data that is nested too deeply is refused, also by the conversion of keys', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(10_000)}${']'.repeat(10_000)}`);
    expect(() => unsafeValues(deep)).toThrow(RangeError);
    expect(() => convert(deep)).toThrow(RangeError);
  });
});

test.each([
  ['cache.example.com', 'Memcached', '_cache_example_com_memcached'],
  ['cert-manager.k8s.io', 'ClusterIssuer', '_cert_manager_k8s_io_clusterissuer'],
  ['', 'Secret', '__secret'],
])('the variable of %s %s is %s', (group, kind, name) => expect(objectVariable(group, kind)).toBe(name));
