import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startRelay, type Relay } from '../../testing/relay.ts'
import { openDevice, type Device } from '../device.ts'

let folder: string
let relay: Relay
let life: AsyncDisposableStack
const path = process.env['PATH']

beforeEach(async () => {
  life = new AsyncDisposableStack()
  folder = await mkdtemp(join(tmpdir(), 'disarm-input-'))
  life.defer(() => rm(folder, { recursive: true }))
  process.env['PATH'] = `${folder}:${path}`
  life.defer(() => void (process.env['PATH'] = path))
  relay = await startRelay()
  life.defer(relay.stop)
})
afterEach(() => life.disposeAsync())

/** A `gpiomon` that waits for the file `edge` and ends, as the real one does at an edge. */
async function fakeGpiomon(
  version: string,
  waiting = `while [ ! -e ${folder}/edge ]; do sleep 0.05; done; rm ${folder}/edge`,
) {
  const file = join(folder, 'gpiomon')
  await writeFile(
    file,
    `#!/bin/sh
[ "$1" = --version ] && echo '${version}' && exit
echo "$*" >> ${folder}/said
${waiting}
`,
  )
  await chmod(file, 0o755)
}

async function open(disarmInput: object): Promise<Device> {
  const filePath = join(folder, 'gateway.yaml')
  const on = { url: relay.onUrl }
  const deterrents = {
    sprinkler: {
      driver: 'http',
      on,
      off: { url: relay.offUrl },
      seconds: 600,
      coolDownSeconds: 0,
      secondsAnHour: 3_600,
    },
  }
  await writeFile(filePath, JSON.stringify({ deterrents, disarmInput }))
  return openDevice({ dataDir: folder, filePath, log: pino({ level: 'silent' }) }, life)
}

const said = async () => (await readFile(join(folder, 'said'), 'utf8').catch(() => '')).trim().split('\n')
const ME = { kind: 'person', name: 'Ann', via: 'device' } as const

test.each([
  ['gpiomon (libgpiod) v1.6.3', '--active-low --bias=pull-up --rising-edge --num-events=1 --silent gpiochip0 27'],
  ['gpiomon (libgpiod) v2.2.1', '--active-low --bias=pull-up --edges=rising --num-events=1 --quiet -c gpiochip0 27'],
])('%s: an edge stops what is on and disarms, and the next edge too', async (version, args) => {
  await fakeGpiomon(version)
  const { deterrents } = await open({ line: 27, activeLow: true, bias: 'pull-up' })
  await expect.poll(() => deterrents.list().map(({ state }) => state)).toEqual(['ready'])
  for (const time of [1, 2]) {
    await deterrents.arm(ME)
    expect(await deterrents.fire({ deterrent: 'sprinkler', by: ME })).toHaveProperty('firing')
    await expect.poll(said).toEqual(Array.from({ length: time }, () => args))
    await writeFile(join(folder, 'edge'), '')
    await expect.poll(deterrents.isArmed).toBe(false)
    await expect.poll(relay.isOn).toBe(false)
    await expect.poll(() => deterrents.list().map(({ state }) => state)).toEqual(['ready'])
    await expect
      .poll(async () => (await deterrents.ledger({ limit: 10 })).find(({ kind }) => kind === 'disarmed')?.by)
      .toEqual({ kind: 'person', name: 'disarm input', via: 'device' })
  }
})

test('a line that is not available is a problem, in the words of gpiomon, and disarms nothing', async () => {
  await fakeGpiomon(
    'gpiomon (libgpiod) v2.2.1',
    'echo "gpiomon: unable to request lines: Device or resource busy" >&2; exit 1',
  )
  const { deterrents, parts } = await open({ line: 27 })
  await expect
    .poll(() => parts().problems)
    .toContain('The disarm input does not work: gpiomon: unable to request lines: Device or resource busy')
  expect(deterrents.isArmed()).toBe(true)
})
