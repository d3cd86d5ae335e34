import { describe, expect, test } from '@jest/globals';
import { formatOf, isCutOff } from '../../domain/images/image-format.ts';
import { IMAGE_JOB_STATUSES } from '../../domain/images/image-service.ts';
import { withJobDefaults } from '../../domain/images/job-defaults.ts';
import { mayFollow, statusesBefore } from '../../domain/images/job-status.ts';
import { publicKeyLine, readPublicKey } from '../../domain/images/public-key.ts';
import { PUBLIC_KEY, smallTar, smallTarGz } from './fixtures.ts';

describe('a status', () => {
  test.each([
    ['creating', ['fetching_image', 'error']],
    ['fetching_image', ['fetching_image', 'waiting_on_user', 'error']],
    ['waiting_on_user', ['fetching_image', 'waiting_on_user', 'packaging_artifacts', 'error']],
    ['packaging_artifacts', ['packaging_artifacts', 'success', 'error']],
    ['success', []],
    ['error', []],
    ['fetching_recipe', []],
  ] as const)('%s is followed by %j', (from, following) => {
    const found = IMAGE_JOB_STATUSES.filter((to) => mayFollow(from, to));
    expect(found.sort()).toEqual([...following].sort());
  });

  test('comes after what it may follow', () => {
    expect(statusesBefore('success')).toEqual(['packaging_artifacts']);
    expect(statusesBefore('creating')).toEqual([]);
  });
});

describe('the defaults of a job', () => {
  const id = '0a000000-0000-4000-8000-000000000000';
  const asked = {
    job_type: 'customize' as const,
    image_root_archive_name: 'out',
    artifact_id: id,
    public_key_id: id,
  };

  test.each([
    ['x86_64', true, undefined, 'vmlinuz', true],
    ['x86_64', false, undefined, 'vmlinuz', false],
    ['x86_64', true, false, 'vmlinuz', false],
    ['x86_64', false, true, 'vmlinuz', true],
    ['aarch64', false, false, 'Image', true],
    ['aarch64', true, undefined, 'Image', true],
  ] as const)('on %s, dkms of the site %s, of the job %s', (arch, site, own, kernel, dkms) => {
    const wanted = own === undefined ? asked : { ...asked, require_dkms: own };
    expect(withJobDefaults(wanted, arch, site)).toEqual({
      ...asked,
      enable_debug: false,
      build_env_size: 60,
      job_mem_size: 8,
      kernel_file_name: kernel,
      initrd_file_name: 'initrd',
      kernel_parameters_file_name: 'kernel-parameters',
      require_dkms: dkms,
      shell: { name: 'customize', jail: false },
    });
  });

  test('ids are kept in one spelling: jobs of one key are a set', () => {
    const found = withJobDefaults(
      { ...asked, artifact_id: id.toUpperCase(), public_key_id: id.toUpperCase() },
      'x86_64',
    );
    expect([found.artifact_id, found.public_key_id]).toEqual([id, id]);
  });

  test('what was said stays', () => {
    const said = { ...asked, build_env_size: 1, kernel_file_name: 'k', ssh_containers: [{ name: 'mine', jail: true }] };
    const found = withJobDefaults(said, 'aarch64');
    expect([found.build_env_size, found.kernel_file_name, found.shell]).toEqual([1, 'k', { name: 'mine', jail: true }]);
  });
});

describe('the format of a file', () => {
  const squashfs = Buffer.concat([Buffer.from('hsqs'), Buffer.alloc(600)]);
  const brokenSum = smallTar();
  brokenSum[0] = 0x21;
  const posix = smallTar();
  posix.write('ustar\x0000', 257);
  test.each([
    ['a tar', smallTar(), 'tar'],
    ['a tar that gzip packed', smallTarGz(), 'tar.gz'],
    ['a squashfs', squashfs, 'squashfs'],
    ['a squashfs of the other byte order', Buffer.from('sqsh'), null],
    ['a tar whose header is damaged', brokenSum, null],
    ['the header of another kind of tar without its sum', posix, null],
    ['a script', Buffer.from('#!/bin/sh\n'), null],
    ['a zip', Buffer.from('PK\u0003\u0004'), null],
    ['nothing', Buffer.of(), null],
    ['a header that is cut off', smallTar().subarray(0, 300), null],
  ])('%s', (_what, bytes, format) => {
    expect(formatOf(bytes.subarray(0, 512))).toBe(format);
  });
});

describe('a file ends too early', () => {
  const squashfs = (length: bigint) => {
    const bytes = Buffer.alloc(600);
    bytes.write('hsqs');
    bytes.writeBigUInt64LE(length, 40);
    return bytes;
  };
  const isShort = (format: 'tar' | 'tar.gz' | 'squashfs', bytes: Buffer) =>
    isCutOff(format, { start: bytes.subarray(0, 512), end: bytes.subarray(-512), size: bytes.length });

  test.each([
    ['a tar', 'tar', smallTar(), false],
    ['a tar without its end', 'tar', smallTar().subarray(0, 1_024), true],
    ['a tar that ends in the middle of a block', 'tar', smallTar().subarray(0, 1_900), true],
    ['a squashfs', 'squashfs', squashfs(600n), false],
    ['a squashfs with something behind it', 'squashfs', squashfs(500n), false],
    ['a squashfs without its end', 'squashfs', squashfs(601n), true],
    ['a squashfs of hardly anything', 'squashfs', squashfs(600n).subarray(0, 20), true],
    ['a gzip, of which nobody knows', 'tar.gz', smallTarGz().subarray(0, 40), false],
  ] as const)('%s', (_what, format, bytes, expected) => {
    expect(isShort(format, bytes)).toBe(expected);
  });
});

describe('a public key', () => {
  test.each([
    ['as ssh-keygen writes it', `${PUBLIC_KEY}\n`, PUBLIC_KEY],
    ['with tabs and blanks', ` ${PUBLIC_KEY.replaceAll(' ', ' \t')}\r\n`, PUBLIC_KEY],
    ['with options before it', `command="id" ${PUBLIC_KEY}`, null],
    ['with an option of one word before it', `restrict ${PUBLIC_KEY}`, null],
    ['with a known type in an option', `environment="A=ssh-ed25519 b" ${PUBLIC_KEY}`, null],
    ['of two lines', `${PUBLIC_KEY}\n${PUBLIC_KEY}`, null],
    ['of two lines by a carriage return', `${PUBLIC_KEY}\r${PUBLIC_KEY}`, null],
    ['with control characters in its comment', `${PUBLIC_KEY}\u001b[2J`, null],
    ['of another type than its bytes say', PUBLIC_KEY.replace('ssh-ed25519', 'ssh-rsa'), null],
    ['of a type that is known no more', PUBLIC_KEY.replace('ssh-ed25519', 'ssh-dss'), null],
    ['whose bytes are cut off', PUBLIC_KEY.replace(/A{4} /, ' '), null],
    ['with bytes after it', PUBLIC_KEY.replace(/ someone/, 'AAAA someone'), null],
    ['with the options first and no key', 'command="x" ssh-rsa AAAA', null],
    ['as a certificate', PUBLIC_KEY.replace('ssh-ed25519', 'ssh-ed25519-cert-v01@openssh.com'), null],
    ['without its bytes', 'ssh-ed25519', null],
    ['that is no base64', `ssh-ed25519 ${'$'.repeat(60)}`, null],
    ['of a private key', '-----BEGIN OPENSSH PRIVATE KEY-----', null],
    ['that is empty', ' ', null],
  ])('%s', (_what, text, line) => {
    expect(publicKeyLine(text)).toBe(line);
  });

  test.each([
    ['an empty text', ' ', 'is empty'],
    ['options', `restrict,command="id" ${PUBLIC_KEY}`, 'options before the type'],
    ['two keys', `${PUBLIC_KEY}\n${PUBLIC_KEY}`, 'more than one line'],
    ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nAA', 'a private key'],
    ['a certificate', PUBLIC_KEY.replace('ssh-ed25519', 'ssh-ed25519-cert-v01@openssh.com'), 'a certificate'],
    ['half a key', 'ssh-ed25519 AAAA', 'no whole key of type ssh-ed25519'],
    ['another word', 'key AAAA', 'known type of key'],
  ])('that is %s says so', (_what, text, words) => {
    expect(readPublicKey(text)).toEqual({ mistake: expect.stringContaining(words) });
  });
});
