import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Ajv, type AnySchemaObject } from 'ajv'
import { createGatewayInvitation, getVersions, listGateways, updateGateways } from '@hedgerow/contract'
import { readPrivateKey, readRelease, signText, type Release } from '@hedgerow/releases'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { buildImage } from '../../scripts/bundles/image.ts'
import { PRODUCTS, type ProductName } from '../../scripts/bundles/products.ts'
import { admit } from '../harness/approval.ts'
import { startAgent } from '../harness/agent.ts'
import { startBrokenWay } from '../harness/broken-way.ts'
import { startChild } from '../harness/child-process.ts'
import { startConnectProxy } from '../harness/connect-proxy.ts'
import { copyRoot, type CopiedRoot } from '../harness/copied-root.ts'
import { freeTcpPort, freeUdpPort } from '../harness/free-ports.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { makeNextHub } from '../harness/next-hub.ts'
import { skipWithout } from '../harness/privileges.ts'
import { waitFor } from '../harness/wait-for.ts'

/** `npm run release` for this machine's platform, without the compression, and its results are started for real. */
const ROOT = join(import.meta.dirname, '../..')
const RELEASE = join(ROOT, 'scripts/bundles/release.ts')
const platform = `linux-${process.arch}`
const folder = mkdtempSync(join(tmpdir(), 'hedgerow-bundles-'))
const [keys, made, again] = ['keys', 'made', 'again'].map((name) => join(folder, name)) as [string, string, string]
const { resolve } = createRequire(import.meta.url)
const SCHEMAS = join(dirname(resolve('@cyclonedx/cyclonedx-library/package.json')), 'res/schema')
let release: Release

/** Longer than the busiest machine takes. */
const PATIENCE_MS = 120_000

const command = (...args: string[]): string =>
  execFileSync(process.execPath, [RELEASE, ...args], { cwd: ROOT, encoding: 'utf8' })
const options = ['--compression', 'none', '--forms', 'archive', '--platforms', platform, '--keys', keys]
const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
/** The folder of an unpacked product. */
const unpacked = (product: string): string => join(folder, `${product}-${release.version}-${platform}`)

/** CycloneDX's own schema, without the formats of strings. */
const isBillOfMaterials = (() => {
  // Its files name one another by file, so they must not say that they are at addresses.
  const schema = (name: string) =>
    ({
      ...(JSON.parse(readFileSync(join(SCHEMAS, `${name}.SNAPSHOT.schema.json`), 'utf8')) as AnySchemaObject),
      $id: `${name}.SNAPSHOT.schema.json`,
    }) satisfies AnySchemaObject
  const schemas = new Ajv({ strict: false, validateFormats: false, schemas: ['spdx', 'jsf-0.82'].map(schema) })
  return schemas.compile(schema('bom-1.6'))
})()

beforeAll(() => {
  command('keys', keys)
  command(...options, '--into', made)
  const [rootKeys, seen] = [[readFileSync(join(keys, 'root.pub'), 'utf8').trim()], { keys: 1, release: 1 }]
  const files = {
    keys: readFileSync(join(made, 'keys.json'), 'utf8'),
    release: readFileSync(join(made, 'release.json'), 'utf8'),
  }
  const answer = readRelease(files, { rootKeys, seen, now: Date.now() })
  if (!answer.ok) throw new Error(answer.message)
  release = answer.release
  for (const { name } of release.files) execFileSync('tar', ['-xf', join(made, name), '-C', folder])
}, 240_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a release', () => {
  it('is signed, and names each archive with its size and hash', () => {
    expect(release.files.map(({ product }) => product)).toEqual(['hedgerow-hub', 'hedgerow-gateway'])
    for (const { name, size, sha256 } of release.files) {
      const bytes = readFileSync(join(made, name))
      expect([bytes.length, sha256Of(bytes)]).toEqual([size, sha256])
    }
  })

  it('is checked by openssl with the lines of the page', ({ skip }) => {
    if (spawnSync('openssl', ['version']).error) skip('openssl is not installed')
    const page = readFileSync(join(ROOT, 'docs/operations/release.md'), 'utf8')
    const lines = [...page.matchAll(/^ {4}((?:openssl|sha256sum) .*)$/gm)].map(([, line]) => line!)
    expect(lines).toHaveLength(3)
    execFileSync('sh', ['-ec', lines.join('\n')], { cwd: made, stdio: 'pipe' })
    const changed = readFileSync(join(made, 'SHA256SUMS'), 'utf8').replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
    const other = mkdtempSync(join(folder, 'other-'))
    for (const name of ['root.pem', 'release.pem', 'release.pem.sig', 'SHA256SUMS.sig'])
      copyFileSync(join(made, name), join(other, name))
    writeFileSync(join(other, 'SHA256SUMS'), changed)
    expect(spawnSync('sh', ['-ec', lines[1]!], { cwd: other }).status).not.toBe(0)
  })

  it('has ONNX Runtime separately, in a folder above the versions of a gateway', () => {
    const name = `hedgerow-model-runtime-${release.version}-${platform}`
    execFileSync('tar', ['-xf', join(made, `${name}.tar`), '--strip-components=1', '-C', folder])
    const load = `const { createRequire } = require('node:module')
      console.log(typeof createRequire(process.argv[1])('onnxruntime-node').InferenceSession.create)`
    const code = join(unpacked('hedgerow-gateway'), 'lib/apps/gateway/src/main.js')
    const node = join(unpacked('hedgerow-gateway'), 'bin/node')
    expect(execFileSync(node, ['-e', load, code], { encoding: 'utf8' })).toBe('function\n')
    const libraries = readdirSync(join(folder, 'node_modules/onnxruntime-node/bin/napi-v6'), { recursive: true })
    expect((libraries as string[]).filter((file) => /darwin|win32/.test(file))).toEqual([])
    expect(existsSync(join(folder, 'node_modules/hedgerow-model-runtime/sbom.cdx.json'))).toBe(true)
  })

  it('has a detection model with its licence and its origin, which a gateway adds without a network', () => {
    const archive = join(made, 'hedgerow-model-ssdlite-coco.tar.gz')
    expect(readFileSync(join(made, 'SHA256SUMS'), 'utf8')).toContain(
      `${sha256Of(readFileSync(archive))}  hedgerow-model-ssdlite-coco.tar.gz\n`,
    )
    const names = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n')
    expect(names.map((name) => basename(name)).toSorted()).toEqual(
      ['LICENSE', 'hedgerow-model-ssdlite-coco', 'manifest.json', 'model.onnx', 'provenance.json'].toSorted(),
    )
    const add = ['model', 'add', 'ssdlite-coco', '--accept-licence', 'Apache-2.0', '--data', join(folder, 'device')]
    const program = join(unpacked('hedgerow-gateway'), 'bin/hedgerow-gateway')
    const { stdout } = spawnSync(program, [...add, '--from', archive], { encoding: 'utf8', env: { PATH: '/bin' } })
    expect(stdout).toContain('ssdlite-coco is added')
  })

  it('has the same bytes when it is built again', () => {
    command(...options, '--into', again, '--products', 'hedgerow-hub,hedgerow-gateway,hedgerow-model-ssdlite-coco')
    const built = readdirSync(again).filter((name) => /\.tar(\.gz)?$/.test(name))
    expect(built).toHaveLength(3)
    for (const name of built)
      expect(readFileSync(join(again, name)).equals(readFileSync(join(made, name))), name).toBe(true)
  })

  it.each([
    ['of this version but of other sources', { number: 7 }, 'raise the version'],
    ['that is not older', { version: '0.0.1', number: 4e9 }, 'would not be newer'],
  ])('is not made where there is one %s', (_, other, why) => {
    const into = mkdtempSync(join(folder, 'other-'))
    const key = readPrivateKey(readFileSync(join(keys, 'release.key'), 'utf8'))
    const text = signText('hedgerow release v1', JSON.stringify({ ...release, ...other }), [key])
    writeFileSync(join(into, 'release.json'), text)
    const { status, stderr } = spawnSync(process.execPath, [RELEASE, ...options, '--into', into], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([2, expect.stringContaining(why)])
    expect(readdirSync(into)).toEqual(['release.json'])
  })

  it.each(['hedgerow-hub', 'hedgerow-gateway'])('lists the parts of %s and their licences', (product) => {
    const bill = JSON.parse(readFileSync(join(unpacked(product), 'sbom.cdx.json'), 'utf8')) as {
      components: {
        'bom-ref': string
        name: string
        hashes: { content: string }[]
        licenses: { expression: string }[]
      }[]
    }
    const names = bill.components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['zod', 'sharp', `node-${platform}`]))
    // What browsers get, typefaces too.
    expect(names).toEqual(expect.arrayContaining(['react', '@mantine/core', '@fontsource-variable/geist']))
    expect(new Set(bill.components.map((part) => part['bom-ref'])).size).toBe(names.length)
    expect([isBillOfMaterials(bill), isBillOfMaterials.errors]).toEqual([true, null])
    for (const { name, hashes, licenses } of bill.components) {
      expect(hashes[0]?.content, name).toMatch(/^[0-9a-f]{128}$/)
      expect(licenses[0]?.expression, name).not.toBe('unknown')
    }
    const texts = readFileSync(join(unpacked(product), 'THIRD-PARTY.txt'), 'utf8')
    for (const name of names) expect(texts).toContain(`${name} `)
    for (const text of texts.split(`\n${'-'.repeat(80)}\n`)) expect(text.trim().length, text).toBeGreaterThan(500)
    // Only what this platform runs, and no sources.
    const files = readdirSync(join(unpacked(product), 'lib'), { recursive: true }) as string[]
    expect(files.filter((file) => /darwin|win32|musl/.test(file) || /^(apps|packages)\/.*\.ts$/.test(file))).toEqual([])
  })

  it('runs with no other Node: a gateway joins a hub, and each command names itself', async () => {
    const programs = {
      hub: join(unpacked('hedgerow-hub'), 'bin/hedgerow-hub'),
      gateway: join(unpacked('hedgerow-gateway'), 'bin/hedgerow-gateway'),
    }
    const system = { PATH: '/usr/bin:/bin' }
    const hub = await startHub({ command: [programs.hub], env: system })
    const dataDir = mkdtempSync(join(folder, 'device-'))
    const agent = await startAgent(dataDir, {
      command: [programs.gateway],
      args: ['--hub', hub.url, '--name', 'orchard'],
      env: system,
    })
    try {
      await admit(hub)
      const page = await fetch(`${hub.url}/login`)
      const devicePage = await fetch(`${agent.url}/device/sign-in`)
      for (const { status, headers } of [page, devicePage])
        expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      const status = execFileSync(programs.gateway, ['status', '--data', dataDir], { env: system, encoding: 'utf8' })
      expect(status).toMatch(/Runs since: \d[^]*Update: It runs from an unpacked archive: /)
    } finally {
      await agent.stop()
      await hub.stop()
    }
    for (const program of Object.values(programs)) {
      const name = program.split('/').at(-1)!
      expect(execFileSync(program, ['--help'], { env: system, encoding: 'utf8' })).toContain(`Usage: ${name} `)
      expect(execFileSync(program, ['--version'], { env: system, encoding: 'utf8' })).toBe(`${release.version}\n`)
    }
    expect(existsSync(join(dataDir, 'gateway.yaml'))).toBe(false)
  })
})

describe('a hub from an archive', () => {
  const installed = join(folder, 'opt')
  const next = join(folder, 'next')
  const stop = `kill $(cat ${folder}/pid); while kill -0 $(cat ${folder}/pid) 2>/dev/null; do sleep 0.1; done`
  let port: number

  beforeAll(() => {
    makeNextHub({ made, keys, into: next, version: '9.0.0', withPackage: false })
    writeFileSync(join(folder, 'hub.env'), `HUB_UPDATES_URL="${pathToFileURL(next).href}"\n`)
  })
  afterAll(endHub)

  function endHub(): void {
    const file = join(folder, 'pid')
    if (existsSync(file)) spawnSync('kill', ['-KILL', readFileSync(file, 'utf8').trim()])
    rmSync(file, { force: true })
  }

  /** A folder for versions, with settings and nothing else. An earlier try may have left more, and a running hub. */
  async function makeRoot(): Promise<void> {
    endHub()
    for (const name of ['opt', 'data', 'copies']) rmSync(join(folder, name), { recursive: true, force: true })
    mkdirSync(installed)
    port = await freeTcpPort()
    const start = `nohup ${installed}/current/bin/hedgerow-hub >>${folder}/log 2>&1 & echo $! >${folder}/pid`
    const conf = [
      `export HUB_DATA_DIR=${folder}/data HUB_HOST=127.0.0.1 HUB_PORT=${port} HUB_HTTPS_PORT=off`,
      `export HUB_VPN_PORT=${await freeUdpPort()} HUB_ADMIN_PASSWORD='a hedge between two fields'`,
      `HEDGEROW_START='${start}'`,
      `HEDGEROW_STOP='${stop}'`,
      `HEDGEROW_READY=http://127.0.0.1:${port}/readyz`,
      `HEDGEROW_BACKUPS=${folder}/copies HEDGEROW_SETTINGS=${folder}/hub.env`,
    ]
    writeFileSync(join(installed, 'release.conf'), conf.join('\n'))
  }

  const script = join(installed, 'current/scripts/release.sh')
  async function run(path: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
    const child = await startChild('sh', [path, ...args], { env: { HEDGEROW_ROOT: installed } })
    const { code } = await child.ended
    return { code, output: child.output() }
  }
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  const current = () => readlinkSync(join(installed, 'current'))

  it('is installed beside others, updates itself by one command with a backup, and goes back by one', async () => {
    await makeRoot()
    const archive = join(made, release.files.find(({ product }) => product === 'hedgerow-hub')!.name)
    const first = await run(join(unpacked('hedgerow-hub'), 'scripts/release.sh'), 'install', archive)
    expect(first, first.output).toMatchObject({ code: 0 })
    spawnSync('sh', ['-c', `. ${installed}/release.conf; sh -c "$HEDGEROW_START"`], { stdio: 'ignore' })
    await waitFor(isReady, { for: 'the hub of the archive' })

    const updated = await run(script, 'update')
    expect(updated.output).toContain('Version 9.0.0 is running.')
    expect([updated.code, current(), await isReady()]).toEqual([0, 'releases/9.0.0', true])
    expect(readdirSync(join(folder, 'copies'))).toEqual([expect.stringMatching(/^before-9\.0\.0-/)])
    // Not in the hub's folder, where the hub may make traps for root.
    expect(readdirSync(installed)).toContain('updates-seen.json')
    expect((await run(script, 'update')).output).toContain('Version 9.0.0 is the newest.')

    expect((await run(script, 'back')).output).toContain(`Version ${release.version} is running.`)
    expect([current(), await isReady()]).toEqual([`releases/${release.version}`, true])
  })

  it.each([
    ['before it switches', `HEDGEROW_STOP='${stop}; kill -KILL $PPID'`],
    ['after it switched', `HEDGEROW_START='kill -KILL $PPID'`],
  ])('finishes at the next run an update that was killed %s', async (_, line) => {
    // An earlier try may have left the next version.
    if (current() !== `releases/${release.version}`) await run(script, 'back')
    const conf = join(installed, 'release.conf')
    const before = readFileSync(conf)
    writeFileSync(conf, `${before.toString()}\n${line}\n`)
    const killed = await run(script, 'update')
    writeFileSync(conf, before)
    expect([killed.code, await isReady().catch(() => false)]).toEqual([null, false])
    const { output } = await run(script, 'update')
    expect(output).toMatch(/was interrupted[^]*Version 9\.0\.0 is running[^]*Version 9\.0\.0 is the newest/)
    expect([current(), await isReady()]).toEqual(['releases/9.0.0', true])
    expect((await run(script, 'back')).output).toContain(`Version ${release.version} is running.`)
  })

  it('has a script of plain shell', () => {
    for (const shell of ['dash', 'sh'])
      expect(spawnSync(shell, ['-n', join(ROOT, 'scripts/release.sh')]).status ?? 0).toBe(0)
  })

  it('stays as it is when the release is not signed by its own keys', async () => {
    const list = join(next, 'release.json')
    writeFileSync(list, readFileSync(list, 'utf8').replace('9.0.0', '9.0.1'))
    const { code, output } = await run(script, 'update', next)
    expect([code, output]).toEqual([1, expect.stringContaining('Nothing was changed')])
    expect([current(), await isReady()]).toEqual([`releases/${release.version}`, true])
    expect(readdirSync(join(installed, 'releases')).toSorted()).toEqual([release.version, '9.0.0'])
  })
})

// They take a minute and Debian's mirror, so `npm test` leaves them out; `.ci/run` does not.
const isAsked = process.env['TEST_INSTALLS'] === 'on'
if (!isAsked) console.log('skipped: the images: npm run test:installs runs them')
const noImages = !isAsked || skipWithout('the images', 'root', 'command mmdebstrap', 'command podman', 'command runc')

describe.skipIf(noImages)('the image of', () => {
  const podman = (...args: string[]) => execFileSync('podman', ['--runtime=runc', ...args], { encoding: 'utf8' })

  /** Builds it, and removes it after the test. `command` starts a container of it as compose.yaml does. */
  async function imageOf(name: ProductName) {
    const product = PRODUCTS.find((one) => one.name === name)!
    const built = { product, platform, version: release.version, title: 'image', folder: unpacked(name) }
    const image = await buildImage(built, 1)
    onTestFinished(() => void podman('image', 'rm', image))
    const container = `${name}-test-${process.pid}`
    const limits = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024']
    const hardened = ['--read-only', '--read-only-tmpfs=false', '--cap-drop=all', '--security-opt=no-new-privileges']
    const run = ['run', '--rm', '--replace', `--name=${container}`, '--network=host', ...limits, ...hardened]
    const ask = `const { readFileSync, writeFileSync } = require('node:fs')
      let error; try { writeFileSync('/opt/hedgerow/x', '') } catch ({ code }) { error = code }
      const [, capabilities] = /CapBnd:\\s+(\\w+)/.exec(readFileSync('/proc/1/status', 'utf8'))
      console.log(JSON.stringify([process.getuid(), error, Number.parseInt(capabilities, 16)]))`
    return {
      container,
      command: (...options: string[]): [string, ...string[]] => ['podman', '--runtime=runc', ...run, ...options, image],
      inside: (...args: string[]) => podman('exec', container, ...args),
      isHardened: () =>
        expect(JSON.parse(podman('exec', container, '/opt/hedgerow/bin/node', '-e', ask))).toEqual([10001, 'EROFS', 0]),
      volumes: () => Object.keys((JSON.parse(podman('image', 'inspect', image)) as Image[])[0]!.Config.Volumes),
    }
  }
  type Image = { Config: { Volumes: Record<string, object> } }

  it('the hub serves as an ordinary user, without capabilities, on a read-only root', async () => {
    const { container, command, inside, isHardened, volumes } = await imageOf('hedgerow-hub')
    const variables = ['HUB_HOST', 'HUB_PORT', 'HUB_HTTPS_PORT', 'HUB_VPN_PORT', 'HUB_GATEWAY_PORTS']
    const hub = await startHub({ command: command(...variables.map((name) => `--env=${name}`)) })
    try {
      isHardened()
      expect(volumes()).toEqual(['/data'])
      expect(inside('hedgerow-hub', 'doctor')).toMatch(/^ok +database +\/data\/hub.sqlite is sound$/m)
      inside('hedgerow-hub', 'backup', '/data/before-2')
      expect((await hub.api(listGateways)).length).toBe(0)
      expect((await fetch(`${hub.url}/login`)).status).toBe(200)
      expect(podman('logs', container)).toContain('Password: ')
      podman('stop', container)
      expect((await hub.process().ended).code).toBe(0)
    } finally {
      await hub.stop()
    }
  })

  it('the gateway joins a hub in the same way, is healthy, and keeps its keys in its one volume', async () => {
    const { container, command, inside, isHardened, volumes } = await imageOf('hedgerow-gateway')
    const hub = await startHub()
    const volume = `${container}-data`
    const GATEWAY_PORT = String(await freeTcpPort())
    const start = () =>
      startAgent('/data', {
        command: command(`--volume=${volume}:/data`, '--env=GATEWAY_HOST', '--env=GATEWAY_PORT'),
        args: ['--hub', hub.url, '--name', 'Barn', '--port', GATEWAY_PORT],
        env: { GATEWAY_PORT },
      })
    const isOnline = async () => (await hub.api(listGateways)).find(({ status }) => status !== 'offline')
    try {
      const first = await start()
      const id = await admit(hub)
      isHardened()
      expect(volumes()).toEqual(['/data'])
      await waitFor(() => spawnSync('podman', ['--runtime=runc', 'healthcheck', 'run', container]).status === 0, {
        for: 'the health check',
      })
      const status = inside('hedgerow-gateway', 'status')
      expect(status).toContain('Update: It runs in a container: start the next image with the same volume.')
      await first.stop()
      expect(first.output()).toContain('"msg":"stopping"')
      const heardAt = (await hub.api(listGateways))[0]!.lastSeen
      const second = await start()
      await second.says(/tunnel up: done/, 60_000)
      const again = await waitFor(
        async () => {
          const online = await isOnline()
          return online && online.lastSeen !== heardAt ? online : undefined
        },
        { for: 'the gateway to be back' },
      )
      expect(again.id).toBe(id)
      await second.stop()
    } finally {
      await hub.stop()
      spawnSync('podman', ['rm', '--force', container])
      podman('volume', 'rm', volume)
    }
  })
})

const lacks = skipWithout('install.sh', 'root', 'command unshare', 'command curl', 'command xz')

describe.skipIf(lacks)('install.sh of a hub, on a system without systemd', () => {
  let hub: Hub
  let root: CopiedRoot
  const done = async (line: string) => {
    const { code, output } = root.shell(line)
    expect(code, output).toBe(0)
    return output
  }

  beforeAll(async () => {
    hub = await startHub({ env: { HUB_DOWNLOADS_DIR: made, HUB_HTTPS_PORT: '0' } })
    root = await copyRoot()
  })

  afterAll(async () => {
    await root?.remove()
    await hub?.stop()
  })

  /** The script in a root of its own, as /tmp/install.sh, and a shell there. */
  async function freshRoot() {
    const fresh = await copyRoot()
    onTestFinished(() => fresh.remove())
    // Of this machine.
    fresh.shell('rm -rf /opt/hedgerow-gateway /etc/hedgerow /var/lib/hedgerow-gateway')
    const { command } = await hub.api(createGatewayInvitation, { body: { label: 'barn' } })
    const shell = (line: string) => fresh.shell(line)
    expect(shell(command.replace(/\|.*/, '>/tmp/install.sh')).code).toBe(0)
    return { ...fresh, command, shell, port: Number(/localhost:(\d+)/.exec(command)![1]) }
  }

  /** A root into which the archive was fetched and unpacked, as the script does it; the script does the rest. */
  async function unpackedRoot() {
    const fresh = await freshRoot()
    const archive = fresh.bring(join(made, release.files.find(({ product }) => product === 'hedgerow-gateway')!.name))
    const version = `/opt/hedgerow-gateway/versions/${release.version}`
    const unpack = `tar -xf ${archive} -C ${version} --strip-components=1 --no-same-owner && rm ${archive}`
    const { code, output } = fresh.shell(`mkdir -p ${version} && ${unpack}`)
    expect(code, output).toBe(0)
    return fresh
  }

  it('does nothing when the script itself breaks off', async () => {
    const { shell } = await freshRoot()
    shell(
      'size=$(wc -c </tmp/install.sh); for n in $(seq 1 60); do head -c $((size * n / 61)) /tmp/install.sh | sh; done',
    )
    shell('head -c -2 /tmp/install.sh | sh')
    expect(shell('ls -d /opt/hedgerow-gateway /etc/hedgerow /var/lib/hedgerow-gateway').output).not.toMatch(/^\//m)
  })

  it('changes nothing on a full disk, and installs when there is room', async () => {
    const { shell } = await freshRoot()
    shell('mkdir /opt/hedgerow-gateway; mount -t tmpfs -o size=20m tmpfs /opt/hedgerow-gateway')
    for (const [room, why] of [
      ['20m', 'could not be fetched'],
      ['200m', 'could not be unpacked'],
    ]) {
      const { code, output } = shell(`mount -o remount,size=${room} /opt/hedgerow-gateway; sh /tmp/install.sh`)
      expect([code, output]).toEqual([1, expect.stringContaining(why!)])
      expect(shell('ls -A /opt/hedgerow-gateway /opt/hedgerow-gateway/versions').output).not.toMatch(/\.new|\d\.\d/)
    }
    shell('mount -o remount,size=900m /opt/hedgerow-gateway; mkdir /etc/hedgerow')
    shell('mount -t tmpfs -o size=8k tmpfs /etc/hedgerow; echo GATEWAY_LOG_LEVEL=debug >/etc/hedgerow/gateway.env')
    shell('head -c 4k /dev/zero >/etc/hedgerow/filler')
    const { code, output } = shell('sh /tmp/install.sh')
    expect([code, output]).toEqual([1, expect.stringContaining('not finished. It may run again.')])
    expect(shell('cat /etc/hedgerow/gateway.env').output).toBe('GATEWAY_LOG_LEVEL=debug\n')
    shell('rm /etc/hedgerow/filler; mount -o remount,size=80k /etc/hedgerow')
    expect(shell('sh /tmp/install.sh').output).toContain(`Version ${release.version} is installed`)
    expect(shell('ls -A /etc/hedgerow').output).toBe('gateway\ngateway.env\ngateway.yaml\n')
  })

  it('goes on where a download broke off', async () => {
    const { shell, start, port } = await freshRoot()
    const way = await startBrokenWay(port, [50e6, 50e6])
    onTestFinished(() => way.stop())
    shell(`sed -i 's#^HUB_URL=.*#HUB_URL=https://localhost:${way.port}#' /tmp/install.sh`)
    const script = await start('sh', ['/tmp/install.sh'])
    expect([(await script.ended).code, script.output()]).toEqual([0, expect.stringContaining('is installed')])
    const { size } = release.files.find(({ product }) => product === 'hedgerow-gateway')!
    expect(way.bytes()).toBeGreaterThan(size)
    expect(way.bytes()).toBeLessThan(size + 10e6)
  })

  it('installs through an HTTP proxy with the lines of the page', async () => {
    const { command, start, port } = await freshRoot()
    const proxy = await startConnectProxy()
    onTestFinished(() => proxy.stop())
    const page = readFileSync(join(ROOT, 'docs/operations/air-gapped.md'), 'utf8')
    const lines = /^ {4}export https_proxy=.*\n {4}curl .*\n.*$/m.exec(page)![0]
    const filled = lines
      .replace('http://proxy.example.net:3128', proxy.url)
      .replace('sha256//KEY', /sha256\/\/\S+/.exec(command)![0])
      .replace('hub.example.net:8443', `localhost:${port}`)

    const script = await start('sh', ['-ec', filled])
    expect([(await script.ended).code, script.output()]).toEqual([0, expect.stringContaining('is installed')])
    // The script, and the archive.
    expect(proxy.tunnels()).toBe(2)
  })

  it('joins with the line that the hub shows, and may run again', async () => {
    const { command, code } = await hub.api(createGatewayInvitation, { body: { label: 'barn', maxUses: 1 } })
    expect(command).toMatch(/^curl -fsSL --insecure --pinnedpubkey sha256\/\/\S+ https:\/\/localhost:\d+\/install.sh /)
    const line = `${command} --name "Rosa's \\$ barn" --location 'Row "12"'`
    expect(await done(line)).toContain(`Version ${release.version} is installed`)
    expect(await done('cat /etc/hedgerow/gateway.env')).toContain(code)
    expect(await done('stat -c "%a %U" /etc/hedgerow/gateway.env /var/lib/hedgerow-gateway')).toBe(
      '600 root\n700 hedgerow-gateway\n',
    )
    const agent = await root.start('hedgerow-gateway', ['--port', '0'])
    onTestFinished(() => agent.stop().then(() => undefined))
    const joined = await waitFor(
      async () => (await hub.api(listGateways)).find(({ status, name }) => status === 'online' && name),
      { for: 'the device to be online', timeoutMs: PATIENCE_MS },
    )
    expect(joined).toMatchObject({ name: "Rosa's $ barn", location: 'Row "12"' })
    expect(await done('hedgerow-gateway model add ssdlite-coco --accept-licence Apache-2.0')).toMatch(
      /The hub hands it out\.[^]*ssdlite-coco is added/,
    )
    expect(await done('stat -c %U /var/lib/hedgerow-gateway/models/ssdlite-coco.json')).toBe('hedgerow-gateway\n')
    await agent.stop()
    // A person's edits stay, and nothing is fetched again.
    await done(
      'echo "# ours" >>/etc/hedgerow/gateway/gateway.yaml; echo GATEWAY_LOG_LEVEL=debug >>/etc/hedgerow/gateway.env',
    )
    const again = await done(line)
    expect(again).not.toContain('Fetching')
    expect(await done('cat /etc/hedgerow/gateway.yaml /etc/hedgerow/gateway.env')).toMatch(/# ours[^]*LEVEL=debug/)
  })

  let highest = 0
  it('updates itself through the tunnel: the next version runs, and stays', async () => {
    // A second try finds what the first one left.
    highest += 1
    const next = { version: `9.9.${highest}`, number: release.number + highest }
    const name = `hedgerow-gateway-${next.version}-${platform}.tar`
    writeFileSync(join(unpacked('hedgerow-gateway'), 'version.json'), JSON.stringify(next))
    execFileSync('tar', ['-cf', join(made, name), '-C', folder, basename(unpacked('hedgerow-gateway'))])
    const archive = readFileSync(join(made, name))
    const file = { product: 'hedgerow-gateway', platform, name, size: archive.length, sha256: sha256Of(archive) }
    const key = readPrivateKey(readFileSync(join(keys, 'release.key'), 'utf8'))
    const before = readFileSync(join(made, 'release.json'))
    const signed = signText('hedgerow release v1', JSON.stringify({ ...release, ...next, files: [file] }), [key])
    writeFileSync(join(made, 'release.json'), signed)
    onTestFinished(() => writeFileSync(join(made, 'release.json'), before))
    // Instead of ten minutes.
    await done('echo HEDGEROW_PROVING_SECONDS=5 >>/etc/hedgerow/gateway.env')
    const agent = await root.start('hedgerow-gateway', ['--port', '0'])
    onTestFinished(() => agent.stop().then(() => undefined))
    const gateway = await waitFor(
      async () => (await hub.api(getVersions)).gateways.find(({ canUpdate }) => canUpdate),
      { for: 'the device to say what it runs', timeoutMs: PATIENCE_MS },
    )
    await hub.api(updateGateways, { body: { gatewayIds: [gateway.id] } })
    const isConfirmed = async () =>
      (await hub.api(getVersions)).gateways.some(
        ({ update }) => update?.state === 'done' && update.number === next.number,
      )
    await waitFor(isConfirmed, { for: 'the next version to be confirmed', timeoutMs: PATIENCE_MS })
    const updates = '/opt/hedgerow-gateway/updates'
    expect(root.shell(`readlink ${updates}/trial || readlink ${updates}/proving`).code).not.toBe(0)
    // The version before stays, as a way back.
    expect(await done(`readlink ${updates}/before`)).toMatch(/^(installed|[ab])\n$/)
    expect(await done('readlink /opt/hedgerow-gateway/updates/current')).toMatch(/^[ab]\n$/)
    expect(await done('hedgerow-gateway status')).toMatch(
      /Heartbeat acknowledged[^]*Update: The hub asks for no other version\./,
    )
  })

  it('changes nothing when the archive is not the one that the hub names', async () => {
    const fetched =
      'curl -fsSk $(cat /etc/hedgerow/gateway.env | sed -n "s/^GATEWAY_HUB_URL=.\\(.*\\).$/\\1/p")/install.sh'
    const { code, output } = root.shell(
      `${fetched} | sed 's/^VERSION=.*/VERSION=9.9.9/; s/ [0-9a-f]\\{64\\}/ ${'0'.repeat(64)}/' | sh`,
    )
    expect(output).toContain('does not have the hash that the hub sent. Nothing was changed.')
    expect(code).toBe(1)
    expect(await done('ls -A /opt/hedgerow-gateway /opt/hedgerow-gateway/versions')).not.toMatch(/9\.9\.9|\.new/)
    expect(root.shell(`${fetched} | sed "s/^HUB_PIN='./HUB_PIN='_/; s/^VERSION=.*/VERSION=9.9.9/" | sh`).code).toBe(1)
  })

  it('removes the program and keeps the keys, or removes everything', async () => {
    const { shell, start } = await unpackedRoot()
    shell('sh /tmp/install.sh')
    const agent = await start('hedgerow-gateway', ['--port', '0'])
    onTestFinished(() => agent.stop().then(() => undefined))
    const hasKeys = () => shell('ls /var/lib/hedgerow-gateway').output.includes('keys.json')
    await waitFor(hasKeys, { for: 'the keys of the device', timeoutMs: PATIENCE_MS })
    await agent.stop()
    const script =
      `curl -fsSk $(sed -n 's/^GATEWAY_HUB_URL="\\(.*\\)"/\\1/p' /etc/hedgerow/gateway.env)/install.sh ` +
      '>/install.sh'
    expect(shell(`${script} && sh /install.sh --uninstall`).code).toBe(0)
    expect(hasKeys()).toBe(true)
    expect(shell('ls /usr/local/bin/hedgerow-gateway /opt/hedgerow-gateway').code).not.toBe(0)
    expect(shell('sh /install.sh --uninstall --purge').code).toBe(0)
    expect(shell('ls -d /var/lib/hedgerow-gateway /etc/hedgerow').output).not.toMatch(/^\/(var|etc)/m)
    expect(shell('id hedgerow-gateway').code).toBe(1)
  })
})
