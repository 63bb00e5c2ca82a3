/** `release.sh` with small versions of a hub, which only answer that they are ready, or do not. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { freeTcpPort } from '../harness/free-ports.ts'

const SCRIPT = join(import.meta.dirname, '../../scripts/release.sh')
let folder: string
let port: number

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-hub-versions-'))
  port = await freeTcpPort()
  mkdirSync(join(folder, 'opt'))
  const start = `cd ${folder}/opt/current; nohup bin/node bin/serve.mjs >/dev/null 2>&1 & echo $! >${folder}/pid`
  const conf = {
    HEDGEROW_START: start,
    HEDGEROW_STOP: `kill -9 $(cat ${folder}/pid) 2>/dev/null; true`,
    HEDGEROW_HUB: `${folder}/opt/current/bin/hedgerow-hub`,
    HEDGEROW_READY: `http://127.0.0.1:${port}/readyz`,
    HEDGEROW_READY_SECONDS: '2',
    HEDGEROW_BACKUPS: `${folder}/copies`,
  }
  const lines = Object.entries(conf).map(([name, value]) => `${name}='${value}'`)
  writeFileSync(join(folder, 'opt/release.conf'), `${lines.join('\n')}\n`)
})
afterEach(() => {
  spawnSync('sh', ['-c', `kill -9 $(cat ${folder}/pid)`])
  rmSync(folder, { recursive: true })
})

function archive(version: string, { works = true } = {}): string {
  const made = join(folder, 'made', version)
  mkdirSync(join(made, 'bin'), { recursive: true })
  writeFileSync(join(made, 'version.json'), JSON.stringify({ version, number: 1 }))
  writeFileSync(join(made, 'bin/hedgerow-hub'), '#!/bin/sh\n[ "$1" = backup ] && mkdir "$2"; exit 0\n', { mode: 0o755 })
  symlinkSync(process.execPath, join(made, 'bin/node'))
  const listen = `import { createServer } from 'node:http'
    createServer((_, response) => response.end()).listen(${port})`
  writeFileSync(join(made, 'bin/serve.mjs'), works ? listen : '')
  execFileSync('tar', ['-cf', `${made}.tar`, '-C', join(folder, 'made'), version])
  return `${made}.tar`
}
function release(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('sh', [SCRIPT, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HEDGEROW_ROOT: join(folder, 'opt') },
  })
  return { code: status, output: stdout + stderr }
}
const current = () => readlinkSync(join(folder, 'opt/current'))

it('goes back after an upgrade that failed, to the version before, which is still there', () => {
  expect(release('install', archive('1'))).toMatchObject({ code: 0 })
  expect(release('upgrade', archive('2'))).toMatchObject({ code: 0 })
  expect(release('upgrade', archive('3', { works: false }))).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      /Version 3 does not answer on .*: returning to version 2\.[^]*Version 2 is running\./,
    ),
  })
  expect(current()).toBe('releases/2')
  expect(release('back')).toMatchObject({ code: 0, output: expect.stringContaining('Version 1 is running.') })
  expect(current()).toBe('releases/1')
  // One way back only.
  expect(release('back')).toMatchObject({ code: 1, output: expect.stringContaining('no version to go back to') })
})

it('goes back one version after upgrades that succeeded', () => {
  release('install', archive('1'))
  release('upgrade', archive('2'))
  expect(release('upgrade', archive('3'))).toMatchObject({ code: 0 })
  expect(existsSync(join(folder, 'opt/former'))).toBe(false)
  expect(release('back')).toMatchObject({ output: expect.stringContaining('Version 2 is running.') })
  expect(release('back')).toMatchObject({ code: 1 })
})
